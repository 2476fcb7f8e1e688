"""Linear maps."""

import _terra_C as C

from ._words import c_type

records = C._functional

__all__ = ["linear", "bilinear"]

linear = records.linear


def bilinear(input1, input2, weight, bias=None):
    """y[..., k] = sum over i, j of input1[..., i] weight[k, i, j] input2[..., j], plus bias[k]."""
    given = {"input1": input1, "input2": input2, "weight": weight} | ({} if bias is None else {"bias": bias})
    if len({t.dtype for t in given.values()}) > 1:
        dtypes = ", ".join(f"{name}: {c_type(t)}" for name, t in given.items())
        raise RuntimeError(f"All tensors must have the same dtype, got {dtypes}")
    if input1.dim() != input2.dim():
        raise RuntimeError(f"bilinear(): input dimensions do not match: got {input1.dim()} and {input2.dim()}")
    batch = input1.shape[:-1]
    for i, (m, n) in enumerate(zip(batch, input2.shape[:-1])):
        if m != n:
            raise RuntimeError(f"bilinear(): input batch dimensions do not match at dim {i}: got {m} and {n}")
    for name, t, dim in (("input1", input1, 1), ("input2", input2, 2)):
        if t.size(-1) != weight.size(dim):
            raise RuntimeError(
                f"bilinear(): {name} size does not match weight size: got {t.size(-1)} but expected {weight.size(dim)}"
            )
    if bias is not None and bias.size(0) != weight.size(0):
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias.size(0)} but expected {weight.size(0)}"
        )
    a = input1.reshape(-1, weight.size(1))
    b = input2.reshape(-1, weight.size(2))
    left = C.matmul(a, weight.transpose(0, 1).reshape(weight.size(1), -1)).view(-1, weight.size(0), weight.size(2))
    result = (left * b.unsqueeze(1)).sum(-1, dtype=left.dtype).view(*batch, weight.size(0))
    return result if bias is None else result + bias
