# run: --torch
"""complex32: made, converted, promoted, printed and computed with as PyTorch does; where PyTorch's CPU refuses (sums, products
of matrices), results are complex64's rounded."""

import pathlib
import sys
import tempfile

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes  # noqa: E402

C = torch.complex32
x = torch.tensor([1 + 2j, 3 - 1j, 0.5j]).to(C)
h = torch.tensor([1.0, 2.0, -3.0], dtype=torch.half)
OTHERS = (
    torch.bool, torch.uint8, torch.int8, torch.int64, torch.half, torch.bfloat16, torch.float32, torch.float64, C, torch.complex64,
    torch.complex128,
)  # fmt: skip

ITEMS = """
str(x) | repr(x[0]) | x.dtype | x.element_size() | C.itemsize | C.is_complex | C.is_floating_point | C.is_signed | torch.chalf is C
C.to_real() | torch.half.to_complex() | torch.finfo(C).max | torch.is_complex(x) | x.is_complex() | torch.complex32
[torch.promote_types(C, d) for d in OTHERS] | [torch.can_cast(C, d) for d in OTHERS] | [torch.can_cast(d, C) for d in OTHERS]
[torch.result_type(x, torch.ones(3).to(d)) for d in OTHERS] | [torch.result_type(x, torch.ones(()).to(d)) for d in OTHERS]
torch.result_type(x, 1) | torch.result_type(x, 1j) | torch.result_type(h, 1j) | torch.result_type(h, torch.ones((), dtype=torch.complex64))
x.tolist() | x[0].item() | torch.tensor([1j, 2], dtype=C).tolist() | torch.tensor(65520j, dtype=C).item() | complex(x[1])
[x.to(d).tolist() for d in (torch.complex64, torch.complex128, C)] | x.real | x.imag | torch.view_as_real(x) | x.real.dtype
[torch.arange(3).to(d).to(C).tolist() for d in OTHERS] | h.chalf() | torch.arange(3).chalf().dtype | x.type()
torch.zeros(2, dtype=C) | torch.ones(2, dtype=C) | torch.full((2,), 1 + 1j, dtype=C) | torch.empty(0, dtype=C) | torch.zeros_like(x)
torch.complex(h, h) | torch.polar(h.abs(), h) | torch.view_as_complex(torch.stack([h, h], 1)) | h * 1j | h + x | x + 1 | 2 - x
x + x | x - x | x * x | x * 2.5 | -x | x.conj() | abs(x) | x.sgn() | torch.add(x, x, alpha=2) | x == x | x != 1
x + torch.ones(3) | x * torch.ones(3, dtype=torch.float64) | x + torch.ones(3, dtype=torch.bfloat16) | x * torch.ones(()) | x.isfinite()
torch.where(x == x, x, 0 * x) | torch.cat([x, x]) | torch.stack([x, x]).shape | x.reshape(3, 1).T | x[1:] | x.clone().fill_(2j)
x.clone().mul_(2) | x.clone().copy_(torch.ones(3)) | x.isnan() | torch.isreal(x) | torch.allclose(x, x)
x.cdouble().sum() | x.to(torch.half) | torch.arange(3.).to(C).real | x.bool()
torch.nn.functional.pad(x, (1, 1)) | x.expand(2, 3)[1] | x.index_select(0, torch.tensor([2, 0])) | x[[True, False, True]] | x.roll(1)
"""


def seeded():
    for make in (torch.randn, torch.rand):
        torch.manual_seed(3)
        yield make.__name__, make(4, dtype=C)


def gradients():
    z = x.clone().requires_grad_()
    (z * z.conj()).real.sum().backward()
    yield "gradient", z.grad
    z = h.clone().requires_grad_()
    torch.view_as_real(z * (1 + 2j)).sum().backward()
    yield "gradient of a real one", z.grad


def files():
    with tempfile.NamedTemporaryFile() as file:
        torch.save({"x": x}, file.name)
        yield "from a file", torch.load(file.name)["x"]


check([*outcomes(ITEMS, globals()), *seeded(), *gradients(), *files()], __file__)
if "terra" in torch.__name__:
    wide = x.cfloat()
    assert x.flip(0).equal(wide.flip(0).to(C)) and x.square().dtype == C
    try:
        x.numpy()
    except TypeError as error:
        assert "unsupported ScalarType ComplexHalf" in str(error)
    for made, wanted in ((x.sum(), wide.sum()), (x.exp(), wide.exp()), (x @ x, wide @ wide), (x / 3, wide / 3), (x.mean(), wide.mean())):
        assert made.dtype == C and made.equal(wanted.to(C)), (made, wanted)
