"""Linear maps."""

import _terra_C as C

records = C._functional

__all__ = ["linear", "bilinear"]

linear = records.linear


def bilinear(input1, input2, weight, bias=None):
    """y[..., k] = sum over i, j of input1[..., i] weight[k, i, j] input2[..., j], plus bias[k]."""
    if input1.shape[:-1] != input2.shape[:-1]:
        raise RuntimeError(
            f"bilinear(): input batch dimensions do not match: got {list(input1.shape[:-1])} and {list(input2.shape[:-1])}"
        )
    batch = input1.shape[:-1]
    a = input1.reshape(-1, weight.size(1))
    b = input2.reshape(-1, weight.size(2))
    left = C.matmul(a, weight.transpose(0, 1).reshape(weight.size(1), -1)).view(-1, weight.size(0), weight.size(2))
    result = (left * b.unsqueeze(1)).sum(-1, dtype=left.dtype).view(*batch, weight.size(0))
    return result if bias is None else result + bias
