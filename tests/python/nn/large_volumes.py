# run: --capture=off
"""Convolutions of volumes that are cut into parts: float32 against float64, whose way is another."""

import terra
from terra.nn import functional as F

terra.manual_seed(1)
CASES = [  # input, weight, attributes
    ((5, 16, 9, 20, 21), (32, 16, 3, 3, 3), {"padding": 1}),
    ((1, 64, 6, 12, 12), (64, 64, 3, 3, 3), {"padding": (1, 0, 1)}),
    ((2, 96, 4, 8, 8), (96, 1, 3, 3, 3), {"padding": 1, "groups": 96}),
    ((3, 32, 8, 15, 14), (48, 8, 2, 3, 2), {"stride": (2, 1, 2), "dilation": (1, 2, 3), "groups": 4}),
    ((7, 3, 10, 24, 24), (24, 3, 3, 7, 7), {"stride": (1, 2, 2), "padding": (1, 3, 3)}),
    ((4, 128, 5, 9, 9), (64, 128, 1, 1, 1), {}),
    ((2, 8, 1, 30, 30), (16, 8, 1, 3, 3), {"padding": (0, 1, 1)}),
    ((2, 8, 1, 9, 9), (16, 8, 3, 3, 3), {"padding": 1}),
]


def run(dtype, x, w, b, how):
    x, w, b = (t.to(dtype).requires_grad_() for t in (x, w, b))
    y = F.conv3d(x, w, b, **how)
    gradients = terra.autograd.grad((y * y).sum(), (x, w, b))
    return [y.detach(), *gradients]


for size, filters, how in CASES:
    x, w, b = (terra.randn(s) for s in (size, filters, filters[:1]))
    for name, narrow, wide in zip(("output", "input", "weight", "bias"), run(terra.float32, x, w, b, how), run(terra.float64, x, w, b, how)):
        difference = ((narrow.to(terra.float64) - wide).abs().max() / wide.abs().max()).item()
        assert difference < 2e-5, (size, filters, how, name, difference)
    y = F.conv_transpose3d(terra.randn(2, filters[0], 3, 4, 5), w[: filters[0]], groups=how.get("groups", 1), stride=2, output_padding=1)
    assert y.shape[2:] == tuple((n - 1) * 2 + k + 1 for n, k in zip((3, 4, 5), filters[2:])), y.shape
print(f"{len(CASES)} passed")
