"""lobpcg: a few of the extreme eigenvalues of a large symmetric matrix, and vectors to them."""

import _terra_C as C

EPS = {C.float32: 1.2e-07, C.float64: 2.23e-16}


def lobpcg(
    A, k=None, B=None, X=None, n=None, iK=None, niter=None, tol=None, largest=None, method=None, tracker=None, ortho_iparams=None,
    ortho_fparams=None, ortho_bparams=None,
):  # fmt: skip
    """(eigenvalues, vectors in columns) of A x = e B x: k of them, the largest ones or the smallest. The blocks of the search are
    orthonormal at each step, whichever `method` is named."""
    if A.requires_grad or (B is not None and B.requires_grad):
        raise NotImplementedError("gradients of lobpcg() are not in Terra yet: torch.linalg.eigh has them")
    if A.dim() > 2:
        parts = [
            lobpcg(a, k, None if B is None else B[i], None if X is None else X[i], n, iK, niter, tol, largest, method)
            for i, a in enumerate(A)
        ]
        return C.stack([e for e, _ in parts]), C.stack([v for _, v in parts])
    size = A.shape[-1]
    k = (1 if X is None else X.shape[-1]) if k is None else k
    n = (k if X is None else X.shape[-1]) if n is None else n
    if size < 3 * n:
        raise ValueError(
            f"LOBPCG algorithm is not applicable when the number of A rows (={size}) is smaller than 3 x the number of requested "
            f"eigenpairs (={n})"
        )
    if method not in (None, "ortho", "basic"):
        raise ValueError(f"expected method to be one of 'ortho' or 'basic', got {method!r}")
    guess = C.randn((size, n), dtype=A.dtype) if X is None else X
    search = _Search(A, B, iK, -1 if largest in (None, True) else 1, tol or EPS[A.dtype] ** 0.5, k)
    return search.run(guess, 1000 if niter is None else (niter if niter >= 0 else 1 << 30), tracker)


class _Search:
    def __init__(self, A, B, iK, sign, tol, k):  # noqa: N803
        self.A, self.B, self.iK, self.sign, self.tol, self.k = A, B, iK, sign, tol, k
        probe = C.randn((A.shape[-1], 1), dtype=A.dtype)
        self.scale = (A @ probe).norm() / probe.norm()
        self.istep = 0

    def _in_metric(self, X):  # noqa: N803
        return X if self.B is None else self.B @ X

    def _orthonormal(self, S):  # noqa: N803
        """Columns that span the same, orthonormal in the metric of B; those that add nothing are left out."""
        for _ in range(2):
            S = S / S.norm(dim=0).clamp(min=1e-30)
            values, vectors = C._linalg.eigh(S.T @ self._in_metric(S))
            kept = values > values[-1] * EPS[S.dtype] * S.shape[1]
            S = (S @ vectors)[:, kept] / values[kept].sqrt()
        return S

    def _ritz(self, S):  # noqa: N803
        """The best vectors of a space: (values, coefficients)."""
        values, vectors = C._linalg.eigh(S.T @ (self.A @ S))
        order = values.argsort() if self.sign > 0 else values.argsort(descending=True)
        return values[order], vectors[:, order]

    def run(self, X, steps, tracker):  # noqa: N803
        n = X.shape[1]
        S = self._orthonormal(X)
        E, Z = self._ritz(S)
        self.X, self.E, P = S @ Z, E, None
        for self.istep in range(1, steps + 1):
            R = self.A @ self.X - self._in_metric(self.X) * self.E
            if tracker is not None:
                tracker(self)
            if bool((R.norm(dim=0) <= self.tol * (self.scale + self.E.abs())).all()):
                break
            W = R if self.iK is None else self.iK @ R
            blocks = [self.X, W] if P is None else [self.X, W, P]
            S = self._orthonormal(C.cat(blocks, 1))
            E, Z = self._ritz(S)
            new = S @ Z[:, :n]
            P = new - self.X @ (self.X.T @ self._in_metric(new))
            self.X, self.E = new, E[:n]
        return self.E[: self.k], self.X[:, : self.k]
