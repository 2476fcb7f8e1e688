# run: --torch
"""What is said of operands that linear algebra can't take: types of exceptions and sentences, as PyTorch's."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

L = torch.linalg
A, B, V, W = torch.eye(3), torch.ones(3, 2), torch.ones(3), torch.ones(2, 3)
ZEROS, NAN, TWO = torch.zeros(3, 3), torch.full((3, 3), float("nan")), torch.stack([torch.eye(3), torch.zeros(3, 3)])
INTEGERS, HALVES = torch.ones(3, 3, dtype=torch.int64), torch.eye(3, dtype=torch.float16)
PIVOTS = torch.tensor([1, 2, 3], dtype=torch.int32)
items = []


def add(name, function):
    try:
        function()
    except Exception as error:
        lines = str(error).split("\nException raised")[0]
        items.append((name, f"{type(error).__name__} {isinstance(error, L.LinAlgError)} {lines}"))
    else:
        items.append((name, "nothing is raised"))


ONE = {
    name: getattr(L, name)
    for name in (
        "inv inv_ex det slogdet cholesky cholesky_ex qr svd svdvals eigh eigvalsh pinv matrix_rank lu lu_factor lu_factor_ex "
        "cond norm vector_norm matrix_norm matrix_exp vander polar matrix_sqrth"
    ).split()
}
OLD = "inverse logdet slogdet svd cholesky_inverse geqrf trace cov corrcoef vander lu"
ONE |= {name: getattr(torch, name) for name in OLD.split()}
ONE |= {"matrix_power": lambda t: L.matrix_power(t, 2), "a negative matrix_power": lambda t: L.matrix_power(t, -1)}
GIVEN = {
    "a number": torch.tensor(2.0), "a vector": V, "2 x 3": W, "integers": INTEGERS, "0 x 3": torch.ones(0, 3),
    "zeros": ZEROS,
    "a batch": TWO, "NaN": NAN,
}  # fmt: skip
# PyTorch's own words for these are about its insides, or it crashes.
SKIPPED = {("eigh", "NaN"), ("eigvalsh", "NaN"), ("matrix_sqrth", "NaN")}
TAKE_HALVES = {"matrix_exp", "norm", "vector_norm", "matrix_norm", "trace", "cov", "corrcoef"}
for name, function in ONE.items():
    for what, given in GIVEN.items():
        if (name, what) not in SKIPPED:
            add(f"{name} of {what}", lambda: function(given))
    if "matrix_power" not in name and name not in TAKE_HALVES:
        add(f"{name} of halves", lambda: function(HALVES))
for name in ("ldl_factor", "ldl_factor_ex"):
    for what in ("a number", "a vector", "2 x 3", "integers", "0 x 3"):
        add(f"{name} of {what}", lambda: getattr(L, name)(GIVEN[what]))
TWOS = {
    "solve": L.solve, "solve right": lambda a, b: L.solve(a, b, left=False), "solve_ex": L.solve_ex,
    "solve_ex checked": lambda a, b: L.solve_ex(a, b, check_errors=True) if a is not ZEROS and a is not TWO else None,
    "solve_triangular": lambda a, b: L.solve_triangular(a, b, upper=True), "lstsq": L.lstsq,
    "lu_solve": lambda a, b: L.lu_solve(a, torch.ones(a.shape[:-1], dtype=torch.int32), b),
    "ldl_solve": lambda a, b: L.ldl_solve(a, torch.ones(a.shape[:-1], dtype=torch.int32), b),
    "cholesky_solve": lambda a, b: torch.cholesky_solve(b, a),
    "triangular_solve": lambda a, b: torch.triangular_solve(b, a),
    "householder_product": L.householder_product, "ormqr": lambda a, b: torch.ormqr(a, torch.ones(3), b),
    "cross": L.cross,
    "torch.cross": torch.cross, "vecdot": L.vecdot, "tensorsolve": L.tensorsolve,
    "multi_dot": lambda a, b: L.multi_dot([a, b]),
    "chain_matmul": torch.chain_matmul, "cdist": torch.cdist, "lu_unpack": lambda a, b: torch.lu_unpack(a, PIVOTS),
}  # fmt: skip
PAIRS = {
    "a vector and a matrix": (V, B), "2 x 3": (W, B), "a number": (A, torch.tensor(1.0)),
    "too many rows": (A, torch.ones(4, 2)),
    "integers": (INTEGERS, B), "other integers": (A, torch.ones(3, 2, dtype=torch.int64)),
    "two dtypes": (A.double(), B),
    "zeros": (ZEROS, B), "a batch with zeros": (TWO, B),
    "batches that don't fit": (A.expand(2, 3, 3), torch.ones(5, 3, 2)),
}  # fmt: skip
# PyTorch takes some of these, or complains of something behind them.
SKIPPED = {
    ("solve_triangular", "other integers"), ("solve_triangular", "two dtypes"), ("solve_triangular", "integers"),
    ("lstsq", "a batch with zeros"), ("lstsq", "batches that don't fit"), ("tensorsolve", "a vector and a matrix"),
    ("ldl_solve", "a number"), ("householder_product", "a number"),
}  # fmt: skip
for name, function in TWOS.items():
    for what, (a, b) in PAIRS.items():
        if (name, what) not in SKIPPED:
            add(f"{name}, {what}", lambda: function(a, b))

add("inv_ex checked", lambda: L.inv_ex(ZEROS, check_errors=True))
add("cholesky_ex checked", lambda: L.cholesky_ex(TWO, check_errors=True))
add("lu_factor_ex checked", lambda: L.lu_factor_ex(ZEROS, check_errors=True))
for function in (L.lu, L.lu_factor, L.lu_factor_ex, torch.lu):
    add(f"{function.__name__} without pivoting", lambda: function(A, pivot=False))
add("lstsq driver", lambda: L.lstsq(A, B, driver="fast"))
add("svd driver", lambda: L.svd(A, driver="gesvd"))
add("svdvals driver", lambda: L.svdvals(A, driver="gesvd"))
add("qr mode", lambda: L.qr(A, "some"))
add("eigh UPLO", lambda: L.eigh(A, "X"))
add("tensorinv ind", lambda: L.tensorinv(A, 0))
add("tensorinv sizes", lambda: L.tensorinv(torch.ones(2, 3, 4)))
add("multi_dot of one", lambda: L.multi_dot([A]))
add("multi_dot of a vector between", lambda: L.multi_dot([A, V, A]))
add("chain_matmul of none", lambda: torch.chain_matmul())
for p in (3, 0, 0.5, "two"):
    add(f"matrix_norm {p}", lambda: L.matrix_norm(W, p))
    add(f"cond {p}", lambda: L.cond(A, p))
for p in (1, float("inf"), "fro", "nuc"):
    add(f"cond {p} of 2 x 3", lambda: L.cond(W, p))
add("matrix_norm of one dimension twice", lambda: L.matrix_norm(TWO, 2, (0, 0)))
add("norm of three dimensions", lambda: L.norm(TWO, 2))
add("norm along three", lambda: L.norm(TWO, 2, (0, 1, 2)))
add("norm along none", lambda: L.norm(TWO, 2, ()))
add("matrix_norm of integers", lambda: L.matrix_norm(A, dtype=torch.int32))
add("vector_norm of less", lambda: L.vector_norm(A.double(), dtype=torch.float32))
add("vector_norm of none", lambda: L.vector_norm(torch.ones(0, 3), -1, dim=0))
add("vector_norm named", lambda: L.vector_norm(A, "fro"))
add("vander N", lambda: torch.vander(V, -1))
add("linalg.vander N", lambda: L.vander(V, N=1))
add("pivots of int64", lambda: L.lu_solve(A, PIVOTS.long(), B))
add("pivots beyond", lambda: L.lu_solve(A, PIVOTS + 5, B))
add("too few pivots", lambda: L.lu_solve(A, PIVOTS[:2], B))
add("pivots of a batch", lambda: L.lu_solve(TWO, PIVOTS, B))
add("unpacked pivots beyond", lambda: torch.lu_unpack(A, PIVOTS + 5))
add("unpacked pivots of int64", lambda: torch.lu_unpack(A, PIVOTS.long()))
add("too few unpacked pivots", lambda: torch.lu_unpack(A, PIVOTS[:2]))
add("pivots of floats", lambda: L.ldl_solve(A, V, B))
add("trapezoid of bools", lambda: torch.trapezoid(A > 0))
add("trapezoid of a number", lambda: torch.trapezoid(torch.tensor(1.0)))
add("trapezoid at bools", lambda: torch.trapezoid(A, V > 0))
W8 = torch.ones(3, dtype=torch.int64)
add("cov fweights of floats", lambda: torch.cov(W, fweights=V))
add("cov aweights of integers", lambda: torch.cov(W, aweights=W8))
add("cov fweights 2-d", lambda: torch.cov(W, fweights=W8[None]))
add("cov fweights of other length", lambda: torch.cov(W, fweights=W8[:2]))
add("cov negative fweights", lambda: torch.cov(W, fweights=-W8))
add("cov negative aweights", lambda: torch.cov(W, aweights=-V))
add("cov of bools", lambda: torch.cov(W > 0))
add("cdist of negative p", lambda: torch.cdist(A, A, -1.0))
add("cdist of integers", lambda: torch.cdist(INTEGERS, INTEGERS))
add("cdist of two dtypes", lambda: torch.cdist(A, A.double()))
X, TALL, SPD = A.clone().requires_grad_(), torch.ones(4, 3, requires_grad=True), (2 * A).requires_grad_()
add("gradient of a complete qr", lambda: L.qr(TALL, "complete")[0].sum().backward())
add("gradient of an r alone", lambda: L.qr(TALL, "r")[1].sum().backward())
add("gradient of geqrf", lambda: torch.geqrf(TALL)[0].sum().backward())
add("gradient of ldl_factor", lambda: L.ldl_factor(SPD)[0].sum().backward())
add("gradient of ldl_solve", lambda: L.ldl_solve(*[t.detach() for t in L.ldl_factor(A)], X).sum().backward())
add("pca_lowrank of too many", lambda: torch.pca_lowrank(A, 4))
add("pca_lowrank niter", lambda: torch.pca_lowrank(A, niter=-1))
add("a list", lambda: L.inv([1]))
add("no power", lambda: L.matrix_power(A, 1.5))
check(items, __file__)
