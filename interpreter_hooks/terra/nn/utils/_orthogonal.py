"""The parametrization of matrices with orthonormal columns (or rows, of a wide one)."""

import _terra_C as C

from ..modules.module import Module
from .parametrize import register_parametrization

MAPS = ("matrix_exp", "cayley", "householder")


def _is_orthonormal(Q):
    n, k = Q.shape[-2:]
    identity = C.eye(k, dtype=Q.dtype)
    return bool(C.isclose(Q.mT @ Q, identity, atol=10 * n * C.finfo(Q.dtype).eps).all())


def _orthonormalized(A):
    """The factor Q of A = QR with a positive diagonal of R."""
    reflections, tau = C.geqrf(A)
    signs = reflections.diagonal(dim1=-2, dim2=-1).sign()
    return C._linalg.householder_product(reflections, tau) * signs.unsqueeze(-2)


class _Orthogonal(Module):
    """A free matrix as an orthogonal one: by the exponential of a skew matrix, by Cayley's map of it, or as a product of
    reflections. With a base (a trivialization) the result is relative to it: base @ Q."""

    def __init__(self, weight, orthogonal_map, *, use_trivialization=True):
        super().__init__()
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X):
        wide = X.size(-2) < X.size(-1)
        as_orthogonal = self._reflected if self.orthogonal_map == "householder" else self._turned
        Q = as_orthogonal(X.mT if wide else X)
        if hasattr(self, "base"):
            Q = self.base @ Q
        return Q.mT if wide else Q

    def _turned(self, X):
        n, k = X.shape[-2:]
        lower = X.tril()
        if n != k:
            lower = C.cat([lower, C.zeros(*X.shape[:-1], n - k, dtype=X.dtype)], -1)
        skew = lower - lower.mT
        if self.orthogonal_map == "matrix_exp":
            Q = C.matrix_exp(skew)
        else:
            identity = C.eye(n, dtype=X.dtype)
            Q = C._linalg.solve(identity - 0.5 * skew, identity + 0.5 * skew)
        return Q[..., :k] if n != k else Q

    def _reflected(self, X):
        """The reflections are below the diagonal of X, and signs of the columns on it."""
        below = X.tril(-1)
        tau = 2.0 / (1.0 + (below * below).sum(-2))
        signs = X.diagonal(dim1=-2, dim2=-1).int()
        return C._linalg.householder_product(below, tau) * signs.unsqueeze(-2)

    def right_inverse(self, Q):
        """What gives Q; a Q that isn't orthogonal is made so where there is a base to take it."""
        if Q.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}.")
        wide = Q.size(-2) < Q.size(-1)
        as_free = self._start if hasattr(self, "base") else self._reflections_of
        X = as_free(Q.mT if wide else Q)
        return X.mT if wide else X

    def _reflections_of(self, Q):
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley parametrizations "
                "when use_trivialization=False."
            )
        reflections, tau = C.geqrf(Q)
        signs = reflections.diagonal(dim1=-2, dim2=-1).sign()
        signs = C.where(tau == 0, -signs, signs)  # the map reflects where there is nothing to reflect
        return C.where(C.eye(*Q.shape[-2:]) > 0, signs.unsqueeze(-2), reflections)

    def _start(self, Q):
        """Q becomes the base, and the free matrix one that changes nothing."""
        n, k = Q.shape[-2:]
        if n != k:
            Q = _orthonormalized(C.cat([Q, C.randn(*Q.shape[:-1], n - k, dtype=Q.dtype)], -1))
        else:
            Q = Q.clone() if _is_orthonormal(Q) else _orthonormalized(Q)
        self.base = Q
        return (-C.eye(n, k, dtype=Q.dtype)).expand(*Q.shape[:-2], n, k).clone()


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """A weight whose columns are orthonormal (the rows of a wide one), learnt as a free matrix."""
    weight = getattr(module, name, None)
    if not isinstance(weight, C.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.dim() < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.dim()} dimensions.")
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.size(-2) == weight.size(-1) else "householder"
    if orthogonal_map not in MAPS:
        raise ValueError(f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}')
    made = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    register_parametrization(module, name, made, unsafe=True)
    return module
