"""Old forms of linear algebra: functions whose results depend on flags, and those that PyTorch has removed."""

import _terra_C as C

from ._warnings import warn_once


def lu(input, pivot=True, get_infos=False, out=None):
    """LU and pivots of A = P L U, and with get_infos what went wrong in which matrix."""
    warn_once(
        "torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex and will be removed in a "
        "future PyTorch release.\nLU, pivots = torch.lu(A, compute_pivots)\nshould be replaced with\nLU, pivots = "
        "torch.linalg.lu_factor(A, compute_pivots)\nand\nLU, pivots, info = torch.lu(A, compute_pivots, get_infos=True)\n"
        "should be replaced with\nLU, pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots)"
    )
    factors = C._linalg.lu_factor_ex(input, pivot=pivot)
    results = factors if get_infos else (factors.LU, factors.pivots)
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
    warn_once(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot "
        "instead, which accepts a list of two or more tensors rather than multiple parameters."
    )
    for matrix in matrices:
        if matrix.dim() != 2:
            raise RuntimeError(f"Tensor dimension is {matrix.dim()}, expected 2 instead.")
    if len(matrices) == 1:
        return C.clone(matrices[0], out=out)
    return C._linalg.multi_dot(list(matrices), out=out)


def _basis(A, q, niter, M):
    """Orthonormal columns that span nearly what the largest singular values of A - M do (Halko and others, 2009)."""

    def times(t):
        return A @ t if M is None else A @ t - M @ t

    def transposed_times(t):
        return A.mT @ t if M is None else A.mT @ t - M.mT @ t

    Q = C._linalg.qr(times(C.randn(A.shape[-1], q, dtype=A.dtype))).Q
    for _ in range(niter):
        Q = C._linalg.qr(transposed_times(Q)).Q
        Q = C._linalg.qr(times(Q)).Q
    return Q, transposed_times(Q).mT


def svd_lowrank(A, q=6, niter=2, M=None):
    """U, S and V of the q largest singular values of A, or of A - M, nearly: by products with random vectors."""
    wide = A.shape[-2] < A.shape[-1]
    if M is not None:
        M = M.broadcast_to(A.shape)
    if wide:
        A, M = A.mT, None if M is None else M.mT
    Q, inner = _basis(A, q, niter, M)
    U, S, Vh = C._linalg.svd(inner, full_matrices=False)
    U, V = Q @ U, Vh.mT
    return (V, S, U) if wide else (U, S, V)


def pca_lowrank(A, q=None, center=True, niter=2):
    """The principal components of the rows of A, nearly: svd_lowrank of A, less the means of its columns if `center`."""
    m, n = A.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if not niter >= 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if not A.is_floating_point():
        raise ValueError(f"input must be floating point tensor, but got {A.dtype}")
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter)


def _removed(name, instead):
    """A function that says what to call in its place."""

    def function(*args, **kwargs):
        raise RuntimeError(f"This function was deprecated since version 1.9 and is now removed. Call {instead}.")

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Raises: torch.{name} was removed from PyTorch."
    return function


lstsq = _removed("lstsq", "torch.linalg.lstsq(A, B), whose arguments stand the other way round")
solve = _removed("solve", "torch.linalg.solve(A, B), whose arguments stand the other way round, or torch.linalg.lu_factor and lu_solve")
symeig = _removed("symeig", "torch.linalg.eigh(A, UPLO='U'), or torch.linalg.eigvalsh for the eigenvalues alone")
eig = _removed("eig", "torch.linalg.eig(A), whose results are complex")
