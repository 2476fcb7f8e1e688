# run: --torch
"""Orthogonal polynomials, Bessel functions and Airy's: values, dtypes and gradients as PyTorch's."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes  # noqa: E402

S = torch.special
D = torch.float64
KINDS = ("chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w")
POLYNOMIALS = (
    *KINDS, *("shifted_" + kind for kind in KINDS), "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l",
    "legendre_polynomial_p",
)  # fmt: skip
BESSEL = (
    "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "modified_bessel_i0", "modified_bessel_i1", "modified_bessel_k0",
    "modified_bessel_k1", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "airy_ai", "spherical_bessel_j0",
)  # fmt: skip
X = torch.tensor([0.5, -0.3, 2.0, 1.0, -1.0, 0.0, -5.0, 1.25], dtype=D)
WIDE = torch.tensor([0.5, 2.0, 1.0, 0.0, 5.0, 24.0, 30.0, 90.0, 0.001, float("nan")], dtype=D)
items = []
for name in POLYNOMIALS:
    function = getattr(S, name)
    items += [(f"{name} {n}", function(X, n)) for n in (0, 1, 2, 5, 6, -1)]
    items.append((f"{name} of float32", function(X.float(), torch.arange(8.0))))
    items.append((f"{name} of ints", [function(torch.tensor([2, 3]), torch.tensor([3, 1])), function(3, X), function(X, 2.7)]))
    items.append((f"{name} has no gradient", function(X.clone().requires_grad_(), 2).requires_grad))
for name in BESSEL:
    function = getattr(S, name)
    items.append((name, function(WIDE)))
    items.append((f"{name} of negative numbers", function(-WIDE[[0, 1, 2, 4]])))
    items.append((f"{name} of float32 and ints", [function(WIDE[:7].float()), function(torch.tensor([1, 2]))]))
    x = WIDE[[0, 1, 2, 4]].clone().requires_grad_()
    result = function(x)
    items.append((f"{name} gradient", torch.autograd.grad(result.sum(), x) if result.requires_grad else "none"))
items += outcomes(
    """
S.bessel_j1(torch.zeros(1, requires_grad=True)) | S.airy_ai(torch.ones(3), out=torch.empty(0))
""",
    {"S": S, "torch": torch},
)
check(items, __file__)
