# run: --torch
# timeout: 300
"""Gradients of linear algebra as PyTorch's; first ones by differences, second ones by differences of the first."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _matrices import A, B, BATCH, D, SIDES, TALL, WIDE, batch, matrix, positive, symmetric  # noqa: E402
from _oracle import check  # noqa: E402

L = torch.linalg
INF = float("inf")


def absolute(result):
    """Vectors are unique up to their signs."""
    return [t.abs() for t in result]


# name -> (function, arguments): of free matrices, also where an op wants symmetric ones.
CASES = {
    "inv": (L.inv, A), "inv batch": (L.inv, BATCH), "solve": (L.solve, A, B), "solve batch": (L.solve, BATCH, SIDES),
    "solve broadcast": (L.solve, A, SIDES), "solve vector": (L.solve, A, B[:, 0]),
    "solve right": (lambda a, b: L.solve(a, b, left=False), A, B.mT), "det": (torch.det, A),
    "det batch": (torch.det, BATCH),
    "slogdet": (lambda a: L.slogdet(a)[1], BATCH), "logdet": (lambda a: torch.logdet(positive(a)), A),
    "cholesky": (lambda a: L.cholesky(positive(a)), A),
    "cholesky upper": (lambda a: L.cholesky(positive(a), upper=True), BATCH),
    "cholesky_solve": (lambda b, a: torch.cholesky_solve(b, L.cholesky(positive(a))), B, A),
    "cholesky_inverse": (lambda a: torch.cholesky_inverse(L.cholesky(positive(a))), A),
    "cholesky_inverse upper": (lambda a: torch.cholesky_inverse((a / 3 + 2 * torch.eye(4)).triu(), upper=True), A),
    "solve_triangular": (lambda a, b: L.solve_triangular(a, b, upper=True), A, B),
    "solve_triangular unit": (lambda a, b: L.solve_triangular(a, b, upper=False, unitriangular=True), BATCH, SIDES),
    "solve_triangular right": (lambda a, b: L.solve_triangular(a, b, upper=False, left=False), A, SIDES.mT),
    "triangular_solve": (lambda b, a: torch.triangular_solve(b, a, transpose=True)[0], B, A),
    "lu_factor": (lambda a: L.lu_factor(a)[0], A), "lu_factor tall": (lambda a: L.lu_factor(a)[0], TALL),
    "lu_factor wide": (lambda a: L.lu_factor(a)[0], batch(2, 3, 5)), "lu": (lambda a: L.lu(a)[1:], BATCH),
    "lu_solve": (lambda a, b: L.lu_solve(*L.lu_factor(a), b), A, B),
    "lu_solve adjoint": (lambda a, b: L.lu_solve(*L.lu_factor(a), b, left=False, adjoint=True), A, B.mT),
    "qr": (lambda a: absolute(L.qr(a)), A), "qr tall": (lambda a: absolute(L.qr(a)), TALL),
    "qr wide": (lambda a: absolute(L.qr(a)), WIDE),
    "qr wide, complete": (lambda a: absolute(L.qr(a, "complete")), WIDE),
    "qr batch": (lambda a: absolute(L.qr(a)), batch(2, 4, 3)),
    "householder_product": (L.householder_product, TALL, matrix(1, 3)[0]),
    "ormqr": (torch.ormqr, TALL, matrix(1, 3)[0], matrix(5, 2)), "svdvals": (L.svdvals, batch(2, 3, 4)),
    "svd": (lambda a: absolute(L.svd(a, full_matrices=False)), A),
    "svd tall": (lambda a: absolute(L.svd(a, full_matrices=False)), TALL),
    "svd wide": (lambda a: absolute(L.svd(a, full_matrices=False)), WIDE),
    "svd full": (lambda a: absolute(L.svd(a))[1:], TALL), "torch.svd": (lambda a: absolute(torch.svd(a)), TALL),
    "eigh": (lambda a: absolute(L.eigh(symmetric(a))), A),
    "eigh upper": (lambda a: absolute(L.eigh(symmetric(a), UPLO="U")), BATCH),
    "eigvalsh": (lambda a: L.eigvalsh(symmetric(a)), BATCH), "pinv": (L.pinv, TALL),
    "pinv wide": (L.pinv, batch(2, 3, 4)),
    "pinv hermitian": (lambda a: L.pinv(symmetric(a), hermitian=True), A),
    "pinv of lower rank": (lambda a, b: L.pinv(a @ b), TALL, matrix(3, 5)),
    "polar": (L.polar, A), "polar tall": (L.polar, batch(2, 4, 3)),
    "polar of its factor": (L.polar, torch.eye(3, dtype=D)),
    "matrix_sqrth": (lambda a: L.matrix_sqrth(positive(a)), BATCH),
    "lstsq": (lambda a, b: L.lstsq(a, b)[0], TALL, matrix(5, 2)),
    "lstsq wide": (lambda a, b: L.lstsq(a, b)[0], WIDE, matrix(3, 2)),
    "lstsq residuals": (lambda a, b: L.lstsq(a, b, driver="gels")[:2], TALL, matrix(5, 2)),
    "matrix_exp": (L.matrix_exp, A), "matrix_exp batch": (L.matrix_exp, batch(2, 2, 2) * 4),
    "matrix_power": (lambda a: L.matrix_power(a, 5), A),
    "matrix_power negative": (lambda a: L.matrix_power(a, -2), BATCH),
    "multi_dot": (lambda a, b: L.multi_dot([b.mT, a, a, b]), A, B),
    "vector_norm 3": (lambda a: L.vector_norm(a, 3, dim=1), A), "vector_norm -1": (lambda a: L.vector_norm(a, -1), A),
    "vector_norm inf": (lambda a: L.vector_norm(a, INF), A),
    "matrix_norm 2": (lambda a: L.matrix_norm(a, 2), batch(2, 3, 4)),
    "matrix_norm nuc": (lambda a: L.matrix_norm(a, "nuc"), WIDE),
    "matrix_norm -1": (lambda a: L.matrix_norm(a, -1), BATCH),
    "matrix_norm inf": (lambda a: L.matrix_norm(a, INF), BATCH), "norm": (L.norm, A), "cond": (L.cond, A),
    "cond 1": (lambda a: L.cond(a, 1), A),
    "cond fro": (lambda a: L.cond(a, "fro"), BATCH), "cond nuc": (lambda a: L.cond(a, "nuc"), A),
    "tensorinv": (lambda a: L.tensorinv(a.reshape(2, 2, 4)), A),
    "tensorsolve": (lambda a, b: L.tensorsolve(a.reshape(2, 2, 4), b), A, matrix(2, 2)),
    "cross": (torch.cross, matrix(2, 3), matrix(2, 3, 1)),
    "vecdot": (L.vecdot, A, A.flip(0)), "trace": (torch.trace, WIDE), "vander": (torch.vander, A[0]),
    "cov": (torch.cov, A), "corrcoef": (torch.corrcoef, A),
    "trapezoid": (torch.trapezoid, A, B[:, 0]), "cumulative_trapezoid": (torch.cumulative_trapezoid, A, B[:, 0]),
    "cdist": (torch.cdist, A, A.flip(0)),
    "cdist 1": (lambda a, b: torch.cdist(a, b, 1.0), A, A + 0.3),
    "cdist by product": (torch.cdist, matrix(30, 3), matrix(2, 3, 1)),
    "lu_unpack": (lambda a: torch.lu_unpack(a, torch.tensor([2, 2, 3, 4], dtype=torch.int32))[1:], A),
}  # fmt: skip
# PyTorch has no gradients of these (it overwrites what they need) or no second ones: compared with differences alone.
ONLY_OURS = {"cond 1", "cond fro", "polar of its factor", "vander"}
NO_SECOND = {"vector_norm inf", "cdist", "cdist 1", "cdist by product"}  # not asked of those


def weighted(results):
    """A number of all results."""
    results = list(results) if isinstance(results, (tuple, list)) else [results]
    total = 0
    for t in results:
        total = total + (t * torch.sin(torch.arange(1.0, t.numel() + 1, dtype=D)).reshape(t.shape)).sum()
    return total


def gradients(function, arguments, create_graph=False):
    return torch.autograd.grad(weighted(function(*arguments)), arguments, create_graph=create_graph)


def difference(function, arguments, directions, step=1e-6):
    """(f(x + step d) - f(x - step d)) / 2 step."""
    ends = [function([(x + s * d).detach().requires_grad_() for x, d in zip(arguments, directions)]) for s in (step, -step)]
    return (ends[0] - ends[1]).item() / (2 * step)


def probe(tensors, seed):
    return [torch.cos(torch.arange(seed, seed + t.numel(), dtype=D)).reshape(t.shape) for t in tensors]


def close(name, what, got, want, tolerance):
    assert abs(got - want) <= tolerance * max(1.0, abs(want)), f"{what} of {name}: {got} instead of {want}"


items, numeric = [], 0
for name, (function, *given) in CASES.items():
    if name in ONLY_OURS and torch.__name__ == "torch":
        continue
    arguments = [t.detach().clone().requires_grad_() for t in given]
    found = gradients(function, arguments)
    if name not in ONLY_OURS:
        items.append((name, list(found)))
    directions = probe(arguments, 1)
    along = sum((g * d).sum() for g, d in zip(found, directions)).item()
    close(name, "derivative", along, difference(lambda xs: weighted(function(*xs)).detach(), arguments, directions), 1e-6)
    numeric += 1
    if name in NO_SECOND:
        continue

    def slope(xs):
        return sum((g * d).sum() for g, d in zip(gradients(function, xs, True), directions))

    total = slope(arguments)
    seconds = torch.autograd.grad(total, arguments, allow_unused=True) if total.requires_grad else [None for _ in arguments]
    other = probe(arguments, 5)
    along = sum((g * d).sum().item() for g, d in zip(seconds, other) if g is not None)
    close(name, "second derivative", along, difference(lambda xs: slope(xs).detach(), arguments, other), 2e-5)
    if name not in ONLY_OURS:
        items.append((name + " twice", [torch.zeros_like(x) + (0 if g is None else g) for x, g in zip(arguments, seconds)]))
    numeric += 1

# PyTorch gives zeros for the gradient of the determinant of a singular matrix; its cofactors are meant.
SINGULAR = torch.tensor([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]], dtype=D, requires_grad=True)
if torch.__name__ != "torch":
    (cofactors,) = torch.autograd.grad(L.det(SINGULAR), SINGULAR)
    meant = torch.tensor([[4.0, 4.0, -4.0], [-2.0, -2.0, 2.0], [0.0, 0.0, 0.0]], dtype=D)
    assert torch.allclose(cofactors, meant, atol=1e-12), cofactors
ZERO = torch.zeros(3, 3, dtype=D, requires_grad=True)
items.append(("det of zeros", torch.autograd.grad(L.det(ZERO), ZERO)))
# One triangle is read, and the gradient is that of a symmetric matrix.
LOWER = torch.tensor([[2.0, 9.0], [0.5, 1.0]], dtype=D, requires_grad=True)
items.append(("cholesky of one triangle", torch.autograd.grad(weighted(L.cholesky(LOWER)), LOWER)))
# What a factor has in its other triangle is not read, but counts for its gradient, which has two triangles.
FACTOR = (A / 3 + 2 * torch.eye(4, dtype=D)).requires_grad_()
for upper in (False, True):
    for name, x in (("cholesky_solve", torch.cholesky_solve(B, FACTOR, upper)), ("cholesky_inverse", torch.cholesky_inverse(FACTOR, upper))):
        [first] = torch.autograd.grad(weighted(x), FACTOR, create_graph=True)
        items.append((f"{name} of a factor, upper={upper}", [first, torch.autograd.grad(weighted(first), FACTOR)]))
items.append(("matrix_sqrth of one triangle", torch.autograd.grad(weighted(L.matrix_sqrth(LOWER)), LOWER)))
for uplo in ("L", "U"):
    values, vectors = L.eigh(LOWER, UPLO=uplo)
    (first,) = torch.autograd.grad(weighted([values, vectors.abs()]), LOWER, create_graph=True)
    items.append((f"eigh of triangle {uplo}", [first, *torch.autograd.grad(weighted(first), LOWER)]))
POWERS = torch.tensor([0.0, 2.0, -1.0], dtype=D, requires_grad=True)
for ord in (0.5, 1, 2, 3, -0.5, -2):
    items.append((f"vector_norm {ord} with a zero", torch.autograd.grad(L.vector_norm(POWERS, ord), POWERS)))
items.append(("matrix_power 0", torch.autograd.grad(L.matrix_power(LOWER, 0).sum(), LOWER)))
items.append(("pinv of one triangle", L.pinv(LOWER, hermitian=True)))
items.append(("eigvalsh of one triangle", torch.autograd.grad(weighted(L.eigvalsh(LOWER)), LOWER)))
check(items, __file__)
print(f"{numeric} passed")
