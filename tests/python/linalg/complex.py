# run: --torch
# timeout: 300
"""Linear algebra of complex matrices, and eigenvalues of any: results and gradients as PyTorch's, derivatives by
differences. Vectors are unique up to phases: what is compared doesn't depend on them."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _matrices import D, batch, matrix  # noqa: E402
from _oracle import check, outcomes  # noqa: E402

L = torch.linalg
INF = float("inf")


def z(*sizes, seed=0):
    """Matrices whose parts have no pattern."""
    return torch.complex(batch(*sizes, seed=seed), batch(*sizes, seed=seed + 11))


def positive(t):
    return t @ t.mH + torch.eye(t.shape[-2], dtype=t.dtype)


def hermitian(t):
    return (t + t.mH) / 2


def svd(t, **how):
    """Singular values, lengths, and products in which phases cancel."""
    u, s, vh = L.svd(t, full_matrices=False, **how)
    return s, u.abs(), vh.abs(), u @ vh


def eigh(t, uplo="L"):
    w, v = L.eigh(t, UPLO=uplo)
    return w, v.abs(), (v * torch.arange(1.0, w.shape[-1] + 1, dtype=w.dtype)) @ v.mH


def by_value(w, v):
    """Eigenvalues in an order of their own, and the lengths of the vectors' elements."""
    order = (w.real * 3 + w.imag).argsort(-1)
    return torch.gather(w, -1, order), torch.gather(v.abs(), -1, order.unsqueeze(-2).expand_as(v))


A, B, BATCH, SIDES = z(4, 4), z(4, 2, seed=1), z(2, 3, 3, seed=4), z(2, 3, 2, seed=6)
TALL, WIDE, TAU = z(5, 3, seed=2), z(3, 5, seed=3), z(1, 3, seed=8)[0]
REAL, REALS = matrix(4, 4), batch(2, 3, 3, seed=5)

# name -> (function, arguments): of free matrices, also where an op wants Hermitian ones.
CASES = {
    "eig": (lambda a: by_value(*L.eig(a)), A), "eig batch": (lambda a: by_value(*L.eig(a)), BATCH),
    "eig real": (lambda a: by_value(*L.eig(a)), REAL), "eig reals": (lambda a: by_value(*L.eig(a)), REALS),
    "eigvals": (lambda a: by_value(L.eigvals(a), a)[0], A), "eigvals real": (lambda a: by_value(L.eigvals(a), a)[0], REALS),
    "inv": (L.inv, A), "inv batch": (L.inv, BATCH), "solve": (L.solve, A, B), "solve batch": (L.solve, BATCH, SIDES),
    "solve vector": (L.solve, A, B[:, 0]), "solve right": (lambda a, b: L.solve(a, b, left=False), A, B.mT),
    "det": (L.det, A), "det batch": (torch.det, BATCH), "slogdet": (L.slogdet, BATCH), "logdet": (torch.logdet, A),
    "cholesky": (lambda a: L.cholesky(positive(a)), A),
    "cholesky upper": (lambda a: L.cholesky(positive(a), upper=True), BATCH),
    "cholesky_solve": (lambda b, a: torch.cholesky_solve(b, L.cholesky(positive(a))), B, A),
    "cholesky_solve upper": (lambda b, a: torch.cholesky_solve(b, L.cholesky(positive(a), upper=True), True), B, A),
    "cholesky_inverse": (lambda a: torch.cholesky_inverse(L.cholesky(positive(a))), A),
    "cholesky_inverse upper": (lambda a: torch.cholesky_inverse(L.cholesky(positive(a), upper=True), True), BATCH),
    "solve_triangular": (lambda a, b: L.solve_triangular(a, b, upper=True), A, B),
    "solve_triangular right": (lambda a, b: L.solve_triangular(a, b, upper=False, left=False), A, B.mT),
    "triangular_solve": (lambda b, a: torch.triangular_solve(b, a, transpose=True)[0], B, A),
    "lu_factor": (lambda a: L.lu_factor(a)[0], A), "lu_factor tall": (lambda a: L.lu_factor(a)[0], TALL),
    "lu_factor wide": (lambda a: L.lu_factor(a)[0], WIDE), "lu": (lambda a: L.lu(a)[1:], BATCH),
    "lu_solve": (lambda a, b: L.lu_solve(*L.lu_factor(a), b), A, B),
    "lu_solve right": (lambda a, b: L.lu_solve(*L.lu_factor(a), b, left=False), A, B.mT),
    "lu_solve adjoint": (lambda a, b: L.lu_solve(*L.lu_factor(a), b, adjoint=True), A, B),
    "lu_solve right adjoint": (lambda a, b: L.lu_solve(*L.lu_factor(a), b, left=False, adjoint=True), A, B.mT),
    "qr": (L.qr, A), "qr tall": (L.qr, TALL), "qr wide": (L.qr, WIDE), "qr complete": (lambda a: L.qr(a, "complete"), WIDE),
    "householder_product": (L.householder_product, TALL, TAU), "ormqr": (torch.ormqr, TALL, TAU, z(5, 2)),
    "ormqr adjoint": (lambda a, t, b: torch.ormqr(a, t, b, left=False, transpose=True), TALL, TAU, z(2, 5)),
    "svdvals": (L.svdvals, BATCH), "svd": (svd, A), "svd tall": (svd, TALL), "svd wide": (svd, WIDE),
    "torch.svd": (lambda a: (lambda u, s, v: (s, u @ v.mH, v.abs()))(*torch.svd(a)), TALL),
    "eigh": (lambda a: eigh(hermitian(a)), A), "eigh upper": (lambda a: eigh(hermitian(a), "U"), BATCH),
    "eigh of one triangle": (eigh, A), "eigvalsh": (lambda a: L.eigvalsh(hermitian(a)), BATCH),
    "pinv": (L.pinv, TALL), "pinv wide": (L.pinv, WIDE),
    "pinv hermitian": (lambda a: L.pinv(hermitian(a), hermitian=True), A),
    "pinv of one triangle": (lambda a: L.pinv(a, hermitian=True), BATCH),
    "polar": (L.polar, A), "polar tall": (L.polar, TALL), "matrix_sqrth": (lambda a: L.matrix_sqrth(positive(a)), BATCH),
    "lstsq": (lambda a, b: L.lstsq(a, b)[0], TALL, z(5, 2)), "lstsq wide": (lambda a, b: L.lstsq(a, b)[0], WIDE, z(3, 2)),
    "lstsq gels": (lambda a, b: L.lstsq(a, b, driver="gels")[:2], TALL, z(5, 2)),
    "lstsq gelsd": (lambda a, b: L.lstsq(a, b, driver="gelsd")[0], TALL, z(5, 2)),
    "lstsq gelss": (lambda a, b: L.lstsq(a, b, driver="gelss")[0], WIDE, z(3, 2)),
    "matrix_exp": (L.matrix_exp, A), "matrix_exp batch": (L.matrix_exp, BATCH * 4),
    "matrix_power": (lambda a: L.matrix_power(a, 3), A), "matrix_power -2": (lambda a: L.matrix_power(a, -2), BATCH),
    "multi_dot": (lambda a, b: L.multi_dot([b.mT, a, a, b]), A, B), "vecdot": (L.vecdot, A, A.mT * 2),
    "cross": (L.cross, BATCH, BATCH.mT * 2), "vander": (lambda a: L.vander(a, N=3), TAU),
    "vector_norm": (L.vector_norm, A), "vector_norm 3": (lambda a: L.vector_norm(a, 3, dim=1), A),
    "matrix_norm": (L.matrix_norm, A), "matrix_norm 2": (lambda a: L.matrix_norm(a, 2), BATCH),
    "matrix_norm nuc": (lambda a: L.matrix_norm(a, "nuc"), WIDE), "matrix_norm -1": (lambda a: L.matrix_norm(a, -1), BATCH),
    "matrix_norm inf": (lambda a: L.matrix_norm(a, INF), BATCH), "norm": (L.norm, A), "cond": (L.cond, A),
    "cond 1": (lambda a: L.cond(a, 1), BATCH), "cond fro": (lambda a: L.cond(a, "fro"), A),
    "tensorinv": (L.tensorinv, z(2, 2, 4).reshape(2, 2, 4)),
    "tensorsolve": (L.tensorsolve, z(2, 2, 4).reshape(2, 2, 4), z(2, 2)), "trace": (torch.trace, A),
}
ONE_TRIANGLE = {"eigh of one triangle", "pinv of one triangle"}  # one is read, and both get gradients
NOT_IN_TORCH = {"cond 1", "cond fro"}  # PyTorch overwrites what the gradient wants
WEIGHTS = torch.arange(1.0, 65.0, dtype=D)


def weighted(results):
    """A real number of all results and both of their parts."""
    total = 0
    for t in results if isinstance(results, (tuple, list)) else [results]:
        flat = t.reshape(-1)
        weights = torch.sin(WEIGHTS[: flat.numel()])
        total = total + ((flat.real * weights + flat.imag * weights.flip(0)) if flat.is_complex() else flat * weights).sum()
    return total


def gradients(function, arguments, create_graph=False):
    return torch.autograd.grad(weighted(function(*arguments)), arguments, create_graph=create_graph)


def inner(a, b):
    """The product of complex numbers as pairs."""
    return (a * b.conj()).real.sum() if a.is_complex() else (a * b).sum()


def probe(t, seed):
    wave = torch.cos(torch.arange(seed, seed + t.numel(), dtype=D)).reshape(t.shape)
    return torch.complex(wave, torch.sin(3 * wave)) if t.is_complex() else wave


def difference(function, arguments, directions, step=1e-6):
    ends = [function([(x + s * d).detach().requires_grad_() for x, d in zip(arguments, directions)]) for s in (step, -step)]
    return (ends[0] - ends[1]).item() / (2 * step)


def close(name, what, got, want, tolerance):
    assert abs(got - want) <= tolerance * max(1.0, abs(want)), f"{what} of {name}: {got} instead of {want}"


items, numeric = [], 0
for name, (function, *given) in CASES.items():
    arguments = [t.detach().clone().requires_grad_() for t in given]
    results = function(*arguments)
    items.append((name, list(results) if isinstance(results, tuple) else results))
    narrow = function(*[t.to(torch.complex64 if t.is_complex() else torch.float32) for t in given])
    items.append((name + " dtypes", [t.dtype for t in (narrow if isinstance(narrow, tuple) else [narrow])]))
    if name in NOT_IN_TORCH and torch.__name__ == "torch":
        continue
    found = gradients(function, arguments)
    if name not in NOT_IN_TORCH:
        items.append((name + " gradient", list(found)))
    if name in ONE_TRIANGLE:
        continue
    directions = [probe(t, 1) for t in arguments]
    along = sum(inner(g, d) for g, d in zip(found, directions)).item()
    close(name, "derivative", along, difference(lambda xs: weighted(function(*xs)).detach(), arguments, directions), 1e-6)
    numeric += 1

    def slope(xs):
        return sum(inner(g, d) for g, d in zip(gradients(function, xs, True), directions))

    total = slope(arguments)
    seconds = torch.autograd.grad(total, arguments, allow_unused=True) if total.requires_grad else [None for _ in arguments]
    other = [probe(t, 5) for t in arguments]
    along = sum(inner(g, d).item() for g, d in zip(seconds, other) if g is not None)
    close(name, "second derivative", along, difference(lambda xs: slope(xs).detach(), arguments, other), 3e-5)
    numeric += 1

NAMES = {
    "L": L, "torch": torch, "A": A, "E": torch.eye(3), "nan": torch.full((2, 2), float("nan")), "weighted": weighted,
    "W": A.clone().requires_grad_(), "hermitian": hermitian,
}
items += outcomes(
    """
L.eig(torch.ones(3)) | L.eigvals(torch.ones(3)) | L.eig(torch.ones(2, 3)) | L.eigvals(torch.ones(2, 3)) | L.eig(nan)
L.eig(torch.tensor([[1.0, float("inf")], [0.0, 1.0]])) | L.eig(E.long()) | L.eigvals(E.bool()) | L.eig(E.half())
type(L.eig(E)).__name__ | L.eig(E)[1].stride() | L.eig(torch.ones(2, 3, 3))[1].stride() | L.eigvals(torch.ones(0, 0))
L.eig(torch.ones(0, 3, 3)) | L.eigvals(torch.ones(2, 0, 0)) | L.eig(W)[1].grad_fn.name() | L.eigvals(W).grad_fn.name()
L.eigvals(torch.diag(torch.tensor([3.0, 1.0]))) | L.eig(torch.tensor([[0.0, 1.0], [-1.0, 0.0]]))[0].imag.abs()
weighted(L.eig(W)[1]).backward() | weighted(L.eigh(W)[1]).backward() | weighted(L.svd(W)[0]).backward()
weighted(L.svd(W)[2]).backward() | L.solve(A, E) | L.inv(torch.zeros(2, 2, dtype=A.dtype)) | L.cholesky(-A @ A.mH)
L.ldl_solve(*L.ldl_factor(hermitian(A), hermitian=True), A, hermitian=True) - L.solve(hermitian(A), A)
L.ldl_solve(*L.ldl_factor(A + A.mT), A) - L.solve(A + A.mT, A) | L.matrix_rank(A) | L.matrix_rank(A @ A.mH, hermitian=True)
L.lstsq(A, A)[2:] | L.lstsq(A, A, driver="gelsd")[3] | torch.geqrf(A) | L.lu_factor(A)[1] | L.eigvalsh(A.to(torch.complex64))
torch.pinverse(A) | L.inv_ex(A)[1] | L.cond(torch.ones(0, 0, dtype=A.dtype)) | L.svdvals(torch.ones(0, 3, dtype=A.dtype))
""",
    NAMES,
)
check(items, __file__)
print(f"{numeric} passed")
