# run: --torch --capture=off
# run: --torch --capture=stress
"""Floats of 16 bits: an element is computed in float32 and rounded once, with a gradient or without, wherever it lies; products
of bfloat16 are sums in float32 that are rounded once."""

import torch
import torch.nn.functional as F

EDGES = [0.0, -0.0, 1.0, -1.0, 3.0, -3.0, 0.1, -2.5, 7.0, float("inf"), -float("inf"), float("nan"), 65504.0, 1e-7, -6e-8, 300.0]
FUNCTIONS = {
    "exp": torch.exp, "relu": torch.relu, "gelu": F.gelu, "silu": F.silu, "hardswish": F.hardswish, "softshrink": F.softshrink,
    "neg": torch.neg, "sum of two": lambda x: x + x, "number": lambda x: x * 0.3 + 0.1, "from a number": lambda x: 1 - x,
    "alpha": lambda x: torch.add(x, x, alpha=0.7), "clamp": lambda x: x.clamp(-1, 1), "less": lambda x: x < 0.1,
    "isnan": torch.isnan, "addcmul": lambda x: torch.addcmul(x, x, x, value=0.1), "maximum": lambda x: torch.maximum(x, -x),
    "row": lambda x: x * x[..., :1] if x.dim() else x, "nan_to_num": lambda x: x.nan_to_num(1.5), "pow": lambda x: 2.0**x,
}
SINGLE = {"number", "alpha", "addcmul", "nan_to_num", "maximum", "row", "silu"}  # of several steps, or of others' limits


def same(a, b):
    assert a.dtype == b.dtype and a.shape == b.shape, (a.dtype, b.dtype, a.shape, b.shape)
    return torch.equal(a.isnan(), b.isnan()) and torch.equal(a.nan_to_num(7.0), b.nan_to_num(7.0))


for dtype in (torch.bfloat16, torch.float16):
    base = torch.tensor([EDGES[i % 16] * (1 + i // 16 % 5) for i in range(1600)]).to(dtype)
    views = {
        "dense": base, "every second": base[::2], "columns": base.reshape(40, 40).t(), "empty": base[:0], "one": base[3],
        "spread": base[5:6].expand(9), "inner": base.reshape(4, 20, 20)[1:3, 3:, ::3],
    }
    for name, function in FUNCTIONS.items():
        for where, x in views.items():
            plain = function(x)
            recorded = function(x.clone().requires_grad_()).detach()
            assert same(plain, recorded), (dtype, name, where)
            if name not in SINGLE:
                wide = function(x.float())
                assert same(plain, wide if wide.dtype == torch.bool else wide.to(dtype)), (dtype, name, where)
    x = base.clone()
    y = x[::2]
    y.mul_(x[1::2]).add_(0.25)
    assert same(x[::2], (base[::2] * base[1::2]) + 0.25) and same(x[1::2], base[1::2])
    assert same(torch.add(base, base, out=torch.empty(0, dtype=dtype)), base + base)
    assert (base + base.float()).dtype == torch.float32 and (base + torch.arange(1600)).dtype == dtype


def wave(*shape):
    n = torch.Size(shape).numel()
    return (torch.sin(torch.arange(n) * 0.7391) * (1 + torch.arange(n) % 3)).reshape(shape)


def near(got, want):
    """Within a rounding of the result, and what sums in another order differ by."""
    assert got.dtype == torch.bfloat16 and got.shape == want.shape
    difference = (got.double() - want).abs()
    return bool((difference <= want.abs() / 200 + want.abs().max() * 1e-5).all()) if want.numel() else True


H = torch.bfloat16
for m, n, k in ((3, 4, 5), (130, 140, 90), (1, 1200, 1024), (1200, 1, 1024), (5, 0, 3), (0, 5, 3), (40, 50, 0)):
    a, b, bias = wave(m, k).to(H), wave(k, n).to(H), wave(n).to(H)
    exact = a.double() @ b.double()
    for left in (a, a.t().contiguous().t(), wave(m, k + 3).to(H)[:, 3:].copy_(a)):
        for right in (b, b.t().contiguous().t()):
            assert near(left @ right, exact), (m, n, k)
            assert near(F.linear(left, right.t(), bias), exact + bias.double())
            assert near(torch.addmm(bias, left, right, beta=0.5, alpha=0.25), 0.5 * bias.double() + 0.25 * exact)
    x, w = a.clone().requires_grad_(), b.clone().requires_grad_()
    weights = wave(m, n).to(H)
    gx, gw = torch.autograd.grad((x @ w * weights).sum(), (x, w))
    assert near(gx, weights.double() @ b.double().t()) and near(gw, a.double().t() @ weights.double())
assert near(wave(3, 60, 90).to(H) @ wave(3, 90, 80).to(H), wave(3, 60, 90).to(H).double() @ wave(3, 90, 80).to(H).double())
with torch.autocast("cpu", dtype=H):
    layer = torch.nn.Linear(96, 160)
    out = layer(wave(128, 96))
    out.float().square().mean().backward()
assert out.dtype == H and layer.weight.grad.dtype == torch.float32 and bool(layer.weight.grad.isfinite().all())
for wide in (torch.float32, torch.float16):
    try:
        torch.zeros(2, 2, dtype=H) @ torch.zeros(2, 2, dtype=wide)
    except RuntimeError as error:
        assert "same dtype" in str(error), error
    else:
        raise AssertionError("a product of two dtypes")
