# run: --torch --capture=off
"""What must hold of factors, inverses and spectra whatever the matrix: of many sizes, of batches that threads share, of
every layout of the operand."""

import torch

L = torch.linalg
TOLERANCE = {torch.float32: 2e-4, torch.float64: 1e-11}
passed = 0


def holds(what, left, right):
    global passed
    scale = max(1.0, right.abs().max().item() if right.numel() else 1.0)
    error = (left - right).abs().max().item() if right.numel() else 0.0
    assert left.shape == right.shape and left.dtype == right.dtype, (what, left.shape, right.shape, left.dtype)
    assert error <= TOLERANCE[right.dtype] * scale, f"{what}: off by {error} of {scale}"
    passed += 1


def same(what, one, other):
    """Bit for bit."""
    global passed
    for a, b in zip(one, other):
        assert a.shape == b.shape and a.stride() == b.stride() and a.equal(b), what
    passed += 1


def identity_like(t):
    return torch.eye(t.shape[-1], dtype=t.dtype).expand(*t.shape[:-2], t.shape[-1], t.shape[-1])


def layouts(t):
    """The same elements, lying otherwise."""
    room = torch.zeros(*t.shape[:-1], 2 * t.shape[-1] + 1, dtype=t.dtype)
    room[..., 1::2] = t
    yield "by columns", t.mT.contiguous().mT
    yield "with gaps", room[..., 1::2]
    if t.dim() > 2:
        yield "batch inside", t.movedim(0, -1).contiguous().movedim(-1, 0)


def square(t):
    n = t.shape[-1]
    name = f"{list(t.shape)} {t.dtype}"
    one, spd = identity_like(t), t @ t.mT + torch.eye(n, dtype=t.dtype) * 0.5
    sides = torch.randn(*t.shape[:-1], 3, dtype=t.dtype)
    holds(f"inv {name}", L.inv(spd) @ spd, one)
    holds(f"solve {name}", spd @ L.solve(spd, sides), sides)
    holds(f"solve right {name}", L.solve(spd, sides.mT, left=False) @ spd, sides.mT)
    P, lower, upper = L.lu(t)
    holds(f"lu {name}", P @ lower @ upper, t)
    holds(f"permutation {name}", P @ P.mT, one)
    factor = L.cholesky(spd)
    holds(f"cholesky {name}", factor @ factor.mT, spd)
    holds(f"cholesky_solve {name}", spd @ torch.cholesky_solve(sides, factor), sides)
    holds(f"cholesky_inverse {name}", spd @ torch.cholesky_inverse(factor), one)
    holds(f"lu_solve {name}", spd @ L.lu_solve(*L.lu_factor(spd), sides), sides)
    holds(f"lu_solve adjoint {name}", L.lu_solve(*L.lu_factor(t + n * one), sides, adjoint=True), L.solve((t + n * one).mT, sides))
    holds(f"ldl_solve {name}", spd @ L.ldl_solve(*L.ldl_factor(spd), sides), sides)
    values, vectors = L.eigh(t + t.mT)
    holds(f"eigh {name}", vectors * values[..., None, :] @ vectors.mT, t + t.mT)
    holds(f"eigvalsh {name}", L.eigvalsh(t + t.mT, UPLO="U"), values)
    root = L.matrix_sqrth(spd)
    holds(f"matrix_sqrth {name}", root @ root, spd)
    sign, log = L.slogdet(spd)
    holds(f"slogdet {name}", log, 2 * factor.diagonal(dim1=-2, dim2=-1).log().sum(-1))
    small = t / max(n, 1)
    holds(f"det {name}", L.det(small + one), sign * L.slogdet(small + one)[0] * L.slogdet(small + one)[1].exp())
    holds(f"matrix_exp {name}", torch.matrix_exp(small) @ torch.matrix_exp(-small), one)
    holds(f"matrix_power {name}", L.matrix_power(small + one, 5) @ L.matrix_power(small + one, -5), one)
    for layout, other in layouts(t):
        for function in (L.inv, L.lu, L.lu_factor, L.qr, L.svd, L.matrix_exp, L.det, L.pinv, L.svdvals, torch.geqrf):
            got, want = function(other), function(t)
            pairs = ([got], [want]) if isinstance(got, torch.Tensor) else (got, want)
            same(f"{function.__name__} {layout} {name}", *pairs)


def rectangle(t):
    m, n = t.shape[-2:]
    name = f"{list(t.shape)} {t.dtype}"
    for mode in ("reduced", "complete"):
        Q, R = L.qr(t, mode)
        holds(f"qr {mode} {name}", Q @ R, t)
        holds(f"Q {mode} {name}", Q.mT @ Q, identity_like(Q))
        holds(f"R {mode} {name}", R.tril(-1), torch.zeros_like(R))
    U, S, Vh = L.svd(t, full_matrices=False)
    holds(f"svd {name}", U * S[..., None, :] @ Vh, t)
    U, S, Vh = L.svd(t)
    holds(f"svd U {name}", U.mT @ U, identity_like(U))
    holds(f"svd V {name}", Vh @ Vh.mT, identity_like(Vh))
    holds(f"svdvals {name}", L.svdvals(t), S)
    pseudo = L.pinv(t)
    holds(f"pinv {name}", t @ pseudo @ t, t)
    holds(f"pinv of pinv {name}", (t @ pseudo).mT, t @ pseudo)
    P, lower, upper = L.lu(t)
    holds(f"lu {name}", P @ lower @ upper, t)
    sides = torch.randn(*t.shape[:-1], 2, dtype=t.dtype)
    for driver in ("gels", "gelsy", "gelsd", "gelss"):
        holds(f"lstsq {driver} {name}", L.lstsq(t, sides, driver=driver).solution, pseudo @ sides)
    a, tau = torch.geqrf(t)
    if m >= n:
        U, H = L.polar(t)
        holds(f"polar {name}", U @ H, t)
        holds(f"U of polar {name}", U.mT @ U, identity_like(H))
        holds(f"H of polar {name}", H, L.matrix_sqrth(t.mT @ t))
        holds(f"householder_product {name}", L.householder_product(a, tau), L.qr(t).Q)
    holds(f"ormqr {name}", torch.ormqr(a[..., : min(m, n)], tau, sides), L.qr(t, "complete").Q @ sides)
    assert (L.matrix_rank(t) == min(m, n)).all()
    holds(f"norm {name}", L.matrix_norm(t, 2), S[..., 0])


torch.manual_seed(3)
for dtype in TOLERANCE:
    for sizes in ((1, 1), (2, 2), (5, 5), (33, 33), (130, 130), (3, 4, 4), (2, 3, 6, 6), (300, 5, 5)):
        square(torch.randn(sizes, dtype=dtype) + 2 * torch.eye(sizes[-1], dtype=dtype))
    for sizes in ((3, 1), (1, 3), (7, 4), (4, 7), (140, 35), (35, 140), (2, 6, 3), (150, 3, 6)):
        m, n = sizes[-2:]
        rectangle(torch.randn(sizes, dtype=dtype) + 3 * torch.eye(m, n, dtype=dtype))
# A batch gives what its matrices give one by one.
many = torch.randn(64, 9, 9)
for function in (L.inv, L.det, L.matrix_exp, L.svdvals, lambda t: L.qr(t)[0], lambda t: L.eigh(t)[1]):
    same("a batch", [function(many).contiguous()], [torch.stack([function(t) for t in many])])
print(f"{passed} passed")
