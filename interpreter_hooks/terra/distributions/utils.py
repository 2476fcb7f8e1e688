"""What distributions share: broadcasting of parameters, probabilities and logits, factors of matrices."""

import math

import _terra_C as C

from ..nn import functional as F

euler_constant = 0.57721566490153286060

__all__ = ["broadcast_all", "logits_to_probs", "clamp_probs", "probs_to_logits", "lazy_property", "tril_matrix_to_vec", "vec_to_tril_matrix"]


def broadcast_all(*values):
    """Tensors and numbers as tensors of one shape; numbers take the dtype of the first tensor."""
    for value in values:
        if not isinstance(value, (C.Tensor, int, float)):
            raise ValueError("Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__.")
    dtype = None
    for value in values:
        if isinstance(value, C.Tensor) and dtype is None:
            dtype = value.dtype
    if dtype is None:
        dtype = C.get_default_dtype()
    return C.broadcast_tensors([v if isinstance(v, C.Tensor) else C.tensor(v, dtype=dtype) for v in values])


def standard_normal(shape, dtype, device=None):
    return C.normal(C.zeros(shape, dtype=dtype), C.ones(shape, dtype=dtype))


def sum_rightmost(value, dim):
    """The sum over the last `dim` dimensions."""
    return value if dim == 0 else value.reshape(value.shape[:-dim] + (-1,)).sum(-1)


_standard_normal, _sum_rightmost = standard_normal, sum_rightmost  # by these names libraries of distributions use them


def logits_to_probs(logits, is_binary=False):
    return C.sigmoid(logits) if is_binary else F.softmax(logits, -1)


def clamp_probs(probs):
    eps = C.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs, is_binary=False):
    clamped = clamp_probs(probs)
    if is_binary:
        return C.log(clamped) - C.log1p(-clamped)
    return C.log(clamped)


class lazy_property:
    """A property that is computed at its first use and kept in the instance from then on."""

    def __init__(self, wrapped):
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__
        self.__name__ = wrapped.__name__

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        with C.enable_grad():
            value = self.wrapped(instance)
        instance.__dict__[self.__name__] = value
        return value


def tril_matrix_to_vec(mat, diag=0):
    """The elements of the lower triangle, up to diagonal `diag`, row by row."""
    n = mat.shape[-1]
    if diag < -n or diag >= n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    return C.cat([mat[..., i, : max(0, i + diag + 1)] for i in range(n)], -1)


def vec_to_tril_matrix(vec, diag=0):
    """A lower triangular matrix, up to diagonal `diag`, filled row by row."""
    count = vec.shape[-1]
    n = (-(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * count + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    if round(n) - n > C.finfo(vec.dtype).eps or abs(round(n) - n) > 1e-6:
        raise ValueError(f"The size of last dimension is {count} which cannot be expressed as the lower triangular part of a square D x D matrix.")
    n, rows, start = round(n), [], 0
    for i in range(n):
        width = min(n, max(0, i + diag + 1))
        rows.append(F.pad(vec[..., start : start + width], (0, n - width)))
        start = start + width
    return C.stack(rows, -2)


def cholesky(matrix):
    """The lower factor of a positive definite matrix."""
    return C._linalg.cholesky(matrix)


def solve_lower(factor, right):
    """The x with factor @ x = right for a lower triangular factor; `right` is a batch of vectors."""
    return C._linalg.solve_triangular(factor, right.unsqueeze(-1), upper=False).squeeze(-1)


def inverse_lower(factor):
    """The inverse of a lower triangular matrix."""
    return C._linalg.solve_triangular(factor, C.eye(factor.shape[-1], dtype=factor.dtype), upper=False)


def log_diagonal(factor):
    """Half the log determinant of factor @ factor.mT."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
