# run: --torch
"""Results of terra.linalg and its old forms: values, dtypes, sizes, strides, names of tuples and nodes, as PyTorch's.
Factors that are unique up to signs are compared by their absolute values."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _matrices import A, B, BATCH, D, SIDES, SPD, SYMMETRIC, TALL, WIDE, batch, matrix, positive, symmetric  # noqa: E402
from _oracle import check  # noqa: E402

L = torch.linalg
INF = float("inf")
T = torch.tensor
items = []


def parts(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def add(name, result, signs=True, strides=True):
    """Values (without signs: absolute ones), strides and the name of the tuple."""
    shown = []
    for t in parts(result):
        values = t if signs or not t.is_floating_point() else t.abs()
        values = torch.where(values.abs() < 1e-9, 0.0, values) if values.is_floating_point() else values
        steps = [step for step, size in zip(t.stride(), t.shape) if size > 1]
        shown.append([values, steps if strides and t.numel() > 1 else "-"])
    items.append((name, [type(result).__name__, *shown]))


def variants(name, function, square=True, **how):
    """Of one matrix, a batch, a transposed one, float32, empty ones."""
    add(name, function(A if square else TALL), **how)
    add(name + " batch", function(BATCH if square else batch(2, 3, 4, seed=8)), **how)
    add(name + " transposed", function(A.mT if square else TALL.mT), **how)
    add(name + " sliced", function(matrix(4, 8, 5)[:, ::2] if square else matrix(6, 6, 5)[::2, 1:]), **how)
    add(name + " float32", function((A if square else TALL).float()), **how)
    for sizes in ((0, 0), (2, 0, 0), (0, 3, 3)) if square else ((0, 3), (3, 0), (2, 0, 3), (0, 3, 2)):
        add(f"{name} {sizes}", function(torch.ones(sizes)), strides=False)


# ---- inverses and solutions -----------------------------------------------------------------------------------------
variants("inv", L.inv)
variants("inv_ex", L.inv_ex)
variants("inverse", torch.inverse)
add("inv_ex of zeros", L.inv_ex(torch.zeros(2, 3, 3)))
for name, function in {"solve": L.solve, "solve_ex": L.solve_ex}.items():
    add(name, function(A, B))
    add(name + " batches", function(BATCH, SIDES))
    add(name + " broadcast", function(BATCH[:, None], batch(3, 4, 2, seed=9)))
    add(name + " of a vector", function(A, B[:, 0]))
    add(name + " of vectors", function(BATCH, SIDES[..., 0]), strides=False)
    add(name + " right", function(A, B.mT, left=False))
    add(name + " right, batches", function(BATCH, SIDES.mT, left=False))
    add(name + " empty", function(torch.ones(0, 0), torch.ones(0, 2)), strides=False)
    add(name + " no columns", function(A, torch.ones(4, 0, dtype=D)), strides=False)
for upper in (True, False):
    for left in (True, False):
        for unit in (True, False):
            side = SIDES if left else SIDES.mT
            found = L.solve_triangular(BATCH, side, upper=upper, left=left, unitriangular=unit)
            add(f"solve_triangular {upper} {left} {unit}", found)
add("solve_triangular broadcast", L.solve_triangular(A, SIDES, upper=True))
add("triangular_solve", torch.triangular_solve(B, A))
add("triangular_solve lower, transposed", B.triangular_solve(A, upper=False, transpose=True, unitriangular=True))
add("tensorinv", L.tensorinv(matrix(4, 4).reshape(2, 2, 4)))
add("tensorinv ind", L.tensorinv(matrix(4, 4).reshape(4, 2, 2), ind=1))
add("tensorsolve", L.tensorsolve(matrix(4, 4).reshape(2, 2, 4), matrix(2, 2)))
add("tensorsolve dims", L.tensorsolve(matrix(4, 4).reshape(2, 4, 2), matrix(2, 2), dims=(1,)), strides=False)
for driver in (None, "gels", "gelsy", "gelsd", "gelss"):
    add(f"lstsq tall {driver}", L.lstsq(TALL, matrix(5, 2), driver=driver))
    add(f"lstsq wide {driver}", L.lstsq(WIDE, matrix(3, 2), driver=driver))
    add(f"lstsq batch {driver}", L.lstsq(batch(2, 5, 3), batch(2, 5, 2, seed=3), driver=driver))
    add(f"lstsq vector {driver}", L.lstsq(TALL, matrix(5, 1)[:, 0], driver=driver), strides=False)
DEFICIENT = torch.cat([TALL, TALL[:, :1]], 1)
add("lstsq of lower rank", L.lstsq(DEFICIENT, matrix(5, 2), driver="gelsd"))
add("lstsq of lower rank, gelsy", L.lstsq(DEFICIENT, matrix(5, 2)))
add("lstsq rcond", L.lstsq(TALL, matrix(5, 2), rcond=0.5, driver="gelss"))

# ---- factors --------------------------------------------------------------------------------------------------------
variants("lu", L.lu)
variants("lu tall", L.lu, square=False)
variants("lu_factor_ex tall", L.lu_factor_ex, square=False)
for given, name in ((A, "one"), (BATCH, "batch")):
    LU, pivots = L.lu_factor(given)
    side = B if name == "one" else SIDES
    add(f"lu_factor {name}", L.lu_factor(given))
    add(f"lu_solve {name}", L.lu_solve(LU, pivots, side))
    add(f"lu_solve {name} adjoint", L.lu_solve(LU, pivots, side, adjoint=True))
    add(f"lu_solve {name} right", L.lu_solve(LU, pivots, side.mT, left=False))
    add(f"lu_solve {name} right adjoint", L.lu_solve(LU, pivots, side.mT, left=False, adjoint=True))
    add(f"torch.lu_solve {name}", torch.lu_solve(side, LU, pivots))
    add(f"lu_unpack {name}", torch.lu_unpack(LU, pivots))
    add(f"lu_unpack {name} without pivots", torch.lu_unpack(LU, pivots, unpack_pivots=False))
    add(f"lu_unpack {name} without data", torch.lu_unpack(LU, pivots, unpack_data=False))
    add(f"torch.lu {name}", torch.lu(given))
    add(f"Tensor.lu {name} infos", given.lu(get_infos=True))
add("lu_solve broadcast", L.lu_solve(*L.lu_factor(A), SIDES))
variants("cholesky", lambda t: L.cholesky(positive(t)))
variants("cholesky upper", lambda t: L.cholesky(positive(t), upper=True))
add("cholesky reads one triangle", L.cholesky(SPD.tril()))
add("cholesky upper reads one triangle", L.cholesky(SPD.triu(), upper=True))
add("cholesky_ex", L.cholesky_ex(SPD))
add("cholesky_ex info", L.cholesky_ex(torch.stack([SPD, -SPD])).info)
add("cholesky_solve", torch.cholesky_solve(B, L.cholesky(SPD)))
add("cholesky_solve upper", SIDES.cholesky_solve(L.cholesky(SPD, upper=True), upper=True))
add("cholesky_inverse", torch.cholesky_inverse(L.cholesky(SPD)))
add("cholesky_inverse upper", L.cholesky(positive(BATCH), upper=True).cholesky_inverse(upper=True))
add("ldl_solve", L.ldl_solve(*L.ldl_factor(SYMMETRIC), B))
add("ldl_solve batch", L.ldl_solve(*L.ldl_factor(symmetric(BATCH)), SIDES))
add("ldl_factor_ex info", L.ldl_factor_ex(SYMMETRIC).info)
for mode in ("reduced", "complete", "r"):
    signs = {"signs": False}
    variants(f"qr {mode}", lambda t, mode=mode: L.qr(t, mode), **signs)
    variants(f"qr {mode} tall", lambda t, mode=mode: [L.qr(t, mode)[1]], square=False, **signs)
add("householder_product", L.householder_product(TALL, matrix(1, 3)[0]))
add("householder_product of fewer", L.householder_product(batch(2, 4, 3), matrix(2, 2)))
add("orgqr", torch.orgqr(TALL, matrix(1, 3)[0]))
for left in (True, False):
    for transpose in (True, False):
        other = matrix(5, 2) if left else matrix(2, 5)
        add(f"ormqr {left} {transpose}", torch.ormqr(TALL, matrix(1, 3)[0], other, left, transpose))

# ---- values and vectors ---------------------------------------------------------------------------------------------
for full in (True, False):
    variants(f"svd {full}", lambda t, full=full: L.svd(t, full), signs=False)
variants("svd tall", lambda t: L.svd(t, False), square=False, signs=False)
variants("svdvals", L.svdvals, square=False)
add("torch.svd", torch.svd(TALL), signs=False)
add("torch.svd values alone", torch.svd(TALL, compute_uv=False))
variants("eigh", lambda t: L.eigh(symmetric(t)), signs=False)
add("eigh upper", L.eigh(SYMMETRIC.triu(), UPLO="U"), signs=False)
add("eigh lower", L.eigh(SYMMETRIC.tril(), UPLO="l"), signs=False)
variants("eigvalsh", lambda t: L.eigvalsh(symmetric(t)))
variants("pinv", L.pinv)
variants("pinv tall", L.pinv, square=False)
variants("pinv hermitian", lambda t: L.pinv(symmetric(t), hermitian=True))
add("pinv rcond", L.pinv(A, 0.3))
add("pinv atol", L.pinv(A, atol=0.5))
add("pinv of bounds", L.pinv(BATCH, atol=T([0.1, 0.9], dtype=D), rtol=T([0.0, 0.2], dtype=D)))
add("pinv of lower rank", L.pinv(DEFICIENT))
add("pinverse", DEFICIENT.float().pinverse(0.001))
RANKS = {"square": A, "lower": DEFICIENT, "batch": BATCH, "none": torch.zeros(3, 3), "empty": torch.ones(2, 0, 3)}
for name, given in RANKS.items():
    add(f"matrix_rank {name}", L.matrix_rank(given))
add("matrix_rank tol", L.matrix_rank(A, 0.5))
add("matrix_rank tensor tol", L.matrix_rank(A, T([0.1, 0.5, 5.0])))
add("matrix_rank atol, rtol", L.matrix_rank(A, atol=0.1, rtol=0.3))
add("matrix_rank hermitian", L.matrix_rank(SYMMETRIC, hermitian=True))

LOW = matrix(6, 3) @ matrix(3, 5, 1)
for name, given in {"tall": LOW, "wide": LOW.mT, "batch": batch(2, 6, 3) @ batch(2, 3, 5)}.items():
    torch.manual_seed(1)
    U, S, V = torch.svd_lowrank(given, 3)
    add(f"svd_lowrank {name}", [S, U * S[..., None, :] @ V.mT], strides=False)
    add(f"pca_lowrank {name}", torch.pca_lowrank(given, 2)[1], strides=False)
    add(f"svd_lowrank less means {name}", torch.svd_lowrank(given, 2, M=given.mean(-2, keepdim=True))[1], strides=False)
    items.append((f"the next number {name}", torch.rand(1)))
variants("matrix_sqrth", lambda t: L.matrix_sqrth(positive(t)))
add("matrix_sqrth reads one triangle", L.matrix_sqrth(SPD.tril()))
add("matrix_sqrth of less", L.matrix_sqrth(-SPD))
variants("polar", L.polar)
add("polar tall", L.polar(TALL))
add("polar tall batch", L.polar(batch(2, 4, 3)))
add("polar of none", L.polar(torch.ones(3, 0)), strides=False)

# ---- numbers and powers of matrices ---------------------------------------------------------------------------------
DETERMINANTS = {"det": L.det, "slogdet": L.slogdet, "torch.det": torch.det, "torch.slogdet": torch.slogdet}
for name, function in DETERMINANTS.items():
    variants(name, function)
    add(name + " of zeros", function(torch.zeros(2, 2)))
variants("logdet", lambda t: torch.logdet(positive(t)))
add("logdet of less", torch.logdet(T([[-1.0]])))
variants("matrix_exp", L.matrix_exp)
add("matrix_exp of bfloat16", torch.matrix_exp(T([[0.5, 1.0], [0.0, 0.25]], dtype=torch.bfloat16)).float())
add("matrix_exp of large", torch.matrix_exp(20 * A))
add("matrix_exp of small", (A * 1e-8).matrix_exp())
for n in (-3, -1, 0, 1, 2, 5, 8):
    add(f"matrix_power {n}", L.matrix_power(BATCH, n), strides=False)
add("multi_dot", L.multi_dot([B.mT, A, A, B]))
add("multi_dot of vectors", L.multi_dot([B[:, 0], A, A, B[:, 1]]))
add("multi_dot from a vector", L.multi_dot([B[:, 0], A]))
add("multi_dot to a vector", L.multi_dot([A, B[:, 0]]))
add("chain_matmul", torch.chain_matmul(B.mT, A, B))
add("chain_matmul of one", torch.chain_matmul(A))
add("linalg.matmul", L.matmul(A, B))

# ---- norms ----------------------------------------------------------------------------------------------------------
for ord in (0, 1, -1, 2, -2, 0.5, 3, -3.5, INF, -INF):
    add(f"vector_norm {ord}", L.vector_norm(BATCH, ord))
    add(f"vector_norm {ord} dim", L.vector_norm(BATCH, ord, dim=(0, -1), keepdim=True))
    add(f"norm of a vector {ord}", L.norm(A[0], ord))
    add(f"norm along one {ord}", L.norm(BATCH, ord, dim=1))
    add(f"vector_norm of a number {ord}", L.vector_norm(T(-2.0), ord))
    add(f"vector_norm of none {ord}", L.vector_norm(torch.ones(0, 3), ord, dim=1))
for ord in (1, -1, 2, -2, INF, -INF, "fro", "nuc"):
    add(f"matrix_norm {ord}", L.matrix_norm(BATCH, ord))
    add(f"matrix_norm {ord} dim", L.matrix_norm(batch(2, 3, 4), ord, dim=(2, 0), keepdim=True))
    add(f"norm of a matrix {ord}", L.norm(WIDE, ord))
    add(f"norm in a plane {ord}", L.norm(batch(2, 3, 4), ord, dim=(0, 1)))
    add(f"cond {ord}", L.cond(BATCH, ord))
    add(f"cond {ord} of zeros", L.cond(torch.zeros(2, 2), ord))
    add(f"cond {ord} of none", L.cond(torch.ones(2, 0, 0), ord))
for ord in (1, 2, INF, "fro", "nuc"):
    add(f"matrix_norm {ord} of none", L.matrix_norm(torch.ones(2, 0, 3), ord) if ord in ("fro", "nuc", 2) else T(0.0))
add("norm of all", L.norm(BATCH))
add("norm of all along two", L.norm(BATCH, dim=(0, 2)))
add("norm dtype", L.norm(A.float(), dtype=D))
add("norm of halves", L.norm(torch.ones(3, dtype=torch.float16) * 300))
add("cond", L.cond(WIDE))
add("torch.norm nuc", torch.norm(A, "nuc"))
add("torch.norm nuc dim", torch.norm(BATCH, "nuc", dim=(1, 2)))

# ---- vectors --------------------------------------------------------------------------------------------------------
ROWS = matrix(2, 3)
add("cross", L.cross(ROWS, ROWS.flip(1)))
add("cross broadcast", L.cross(ROWS[:1], ROWS.flip(1)))
add("cross dim", L.cross(ROWS.mT, ROWS.flip(1).mT, dim=0))
add("torch.cross", torch.cross(ROWS, ROWS.flip(1)))
add("Tensor.cross of first", matrix(3, 3).cross(matrix(3, 3, 1)))
add("cross of integers", torch.cross(T([1, 2, 3]), T([4, 5, 7])))
add("vecdot", L.vecdot(BATCH, BATCH.flip(0)))
add("vecdot dim", L.vecdot(A, B[:, :1], dim=0))
add("diagonal", L.diagonal(BATCH, offset=1))
add("diagonal dims", L.diagonal(batch(2, 3, 4), dim1=0, dim2=1))
add("linalg.vander", L.vander(T([1.0, 2.0, 3.0])))
add("linalg.vander N", L.vander(T([[1, 2], [3, 4]]), N=4))
add("linalg.vander of a number", L.vander(T(3.0), N=2))
add("vander", torch.vander(T([1, 2, 3])))
add("vander increasing", torch.vander(T([1.5, 2.0]), 4, increasing=True))
add("vander of none", torch.vander(T([1.5, 2.0]), 0))
add("trace", torch.trace(WIDE))
add("trace of integers", T([[1, 2], [3, 4]]).trace())
for p in (0.0, 0.5, 1.0, 2.0, 3.0, INF):
    add(f"cdist {p}", torch.cdist(A, TALL[:, :1].mT.expand(2, 5)[:, :4], p))
    add(f"cdist {p} batches", torch.cdist(batch(2, 1, 3, 4), batch(3, 2, 4), p))
add("cdist of many", torch.cdist(matrix(30, 3), matrix(2, 3)))
add("cdist of none", torch.cdist(torch.ones(0, 3), torch.ones(2, 3)), strides=False)
add("trapezoid", torch.trapezoid(A))
add("trapezoid dx", torch.trapezoid(A, dx=0.5, dim=0))
add("trapezoid x", torch.trapezoid(A, B[:, 0]))
add("trapezoid x along 0", torch.trapezoid(A, x=B[:, 0], dim=0))
add("trapezoid of both", torch.trapezoid(A, A.mT))
add("trapezoid of one", torch.trapezoid(torch.ones(1)))
add("trapezoid of integers", torch.trapezoid(T([1, 2, 4])))
add("trapz", torch.trapz(A, B[:, 0]))
add("cumulative_trapezoid", torch.cumulative_trapezoid(A, dx=2))
add("cumulative_trapezoid x", torch.cumulative_trapezoid(A, B[:, 0], dim=0))
add("cov", torch.cov(A))
add("cov of a vector", A[0].cov(correction=0))
add("cov of a number", torch.cov(T(3.0)))
add("cov of integers", torch.cov(T([[1, 2, 3], [4, 5, 7]])))
add("cov fweights", torch.cov(A, fweights=T([1, 2, 0, 3])))
add("cov aweights", torch.cov(A, aweights=B[:, 0].abs()))
add("cov of both", torch.cov(A, correction=2, fweights=T([1, 2, 4, 3]), aweights=B[:, 0].abs()))
add("corrcoef", torch.corrcoef(A))
add("corrcoef of a vector", torch.corrcoef(A[0]))

# ---- out= and names of nodes ----------------------------------------------------------------------------------------
out = torch.empty(0, dtype=D)
items.append(("inv out", [L.inv(A, out=out) is out, out]))
outs = torch.empty(4, 4, dtype=D), torch.empty(4, dtype=torch.int32)
items.append(("lu_factor out", [all(a is b for a, b in zip(L.lu_factor(A, out=outs), outs)), *outs]))
X, S = A.clone().requires_grad_(), SPD.clone().requires_grad_()
NODES = {
    "inv": lambda: L.inv(X), "solve": lambda: L.solve(X, B),
    "solve_triangular": lambda: L.solve_triangular(X, B, upper=True),
    "lstsq": lambda: L.lstsq(X, B)[0], "qr": lambda: L.qr(X), "svd": lambda: L.svd(X), "svdvals": lambda: L.svdvals(X),
    "eigh": lambda: L.eigh(S), "eigvalsh": lambda: L.eigvalsh(S), "cholesky": lambda: L.cholesky(S),
    "det": lambda: L.det(X),
    "slogdet": lambda: L.slogdet(X), "pinv": lambda: L.pinv(X), "matrix_exp": lambda: L.matrix_exp(X),
    "lu": lambda: L.lu(X),
    "lu_factor": lambda: L.lu_factor(X), "lu_solve": lambda: L.lu_solve(*L.lu_factor(A), X),
    "householder_product": lambda: L.householder_product(X, B[:, 0]),
    "cholesky_solve": lambda: torch.cholesky_solve(X, A),
    "cholesky_inverse": lambda: torch.cholesky_inverse(S), "geqrf": lambda: torch.geqrf(X),
    "vector_norm": lambda: L.vector_norm(X, 3),
    "matrix_sqrth": lambda: L.matrix_sqrth(S), "polar": lambda: L.polar(X), "ldl_factor": lambda: L.ldl_factor(S),
    "cross": lambda: torch.cross(X[:, :3], A[:, :3]), "trace": lambda: X.trace(),
    "triangular_solve": lambda: torch.triangular_solve(B, X), "ormqr": lambda: torch.ormqr(X, B[:, 0], B),
    "cdist": lambda: torch.cdist(X, X),
}  # fmt: skip
for name, function in NODES.items():
    items.append((f"{name} nodes", [t.grad_fn.name() if t.grad_fn else None for t in parts(function())]))
check(items, __file__)
