"""Old forms of linear algebra: functions whose results depend on flags, and those that PyTorch has removed."""

import _terra_C as C


def lu(input, pivot=True, get_infos=False, out=None):
    """LU and pivots of A = P L U, and with get_infos what went wrong in which matrix."""
    factors = C._linalg.lu_factor_ex(input, pivot=pivot)
    results = tuple(factors) if get_infos else (factors.LU, factors.pivots)
    if out is None:
        return results
    if len(out) != len(results):
        raise TypeError(f"expected tuple of {len(results)} elements but got {len(out)}")
    for target, result in zip(out, results):
        C.clone(result, out=target)
    return out


def chain_matmul(*matrices, out=None):
    """The product of matrices, in the order that takes the fewest multiplications."""
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    for matrix in matrices:
        if matrix.dim() != 2:
            raise RuntimeError(f"Tensor dimension is {matrix.dim()}, expected 2 instead.")
    if len(matrices) == 1:
        return C.clone(matrices[0], out=out)
    return C._linalg.multi_dot(list(matrices), out=out)


def _removed(name, instead):
    """A function that says what to call in its place."""

    def function(*args, **kwargs):
        raise RuntimeError(f"This function was deprecated since version 1.9 and is now removed. Call {instead}.")

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Raises: torch.{name} was removed from PyTorch."
    return function


lstsq = _removed("lstsq", "torch.linalg.lstsq(A, B), whose arguments stand the other way round")
symeig = _removed("symeig", "torch.linalg.eigh(A, UPLO='U'), or torch.linalg.eigvalsh for the eigenvalues alone")
eig = _removed("eig", "torch.linalg.eig(A), whose results are complex")
