# run: --torch
"""bcomplex32: made, converted, promoted, printed, moved, compared and saved as PyTorch does; arithmetic refuses it."""

import io
import pathlib
import sys
import warnings

import torch

warnings.simplefilter("ignore")  # PyTorch calls it experimental

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes  # noqa: E402

B = torch.bcomplex32
x = torch.tensor([1 + 2j, 3 - 1j, 0.5j]).to(B)
h = torch.tensor([1.0, 2.0, -3.0], dtype=torch.bfloat16)
m = torch.tensor([True, False, True])
OTHERS = (
    torch.bool, torch.uint8, torch.int8, torch.int64, torch.half, torch.bfloat16, torch.float32, torch.float64, torch.complex32, B,
    torch.complex64, torch.complex128,
)  # fmt: skip

ITEMS = """
str(x) | repr(x[0]) | x.dtype | x.element_size() | B.itemsize | B.is_complex | B.is_floating_point | B.is_signed | x.type()
B.to_real() | torch.bfloat16.to_complex() | torch.finfo(B).max | torch.finfo(B).eps | torch.is_complex(x) | x.is_complex()
[torch.promote_types(B, d) for d in OTHERS] | [torch.promote_types(d, B) for d in OTHERS]
[torch.promote_types(torch.bfloat16, d) for d in OTHERS] | [torch.can_cast(B, d) for d in OTHERS] | [torch.can_cast(d, B) for d in OTHERS]
[torch.result_type(x, torch.ones(3).to(d)) for d in OTHERS] | [torch.result_type(x, torch.ones(()).to(d)) for d in OTHERS]
torch.result_type(x, 1) | torch.result_type(x, 1j) | torch.result_type(h, 1j) | torch.result_type(h, torch.ones((), dtype=torch.complex64))
x.tolist() | x[0].item() | torch.tensor([1j, 2], dtype=B).tolist() | torch.tensor(65520j, dtype=B).item() | complex(x[1])
[x.to(d).tolist() for d in (torch.complex32, torch.complex64, torch.complex128, B, torch.half, torch.bool)]
[torch.arange(3).to(d).to(B).tolist() for d in OTHERS] | x.real | x.imag | torch.view_as_real(x) | x.real.dtype
torch.zeros(2, dtype=B) | torch.empty(0, dtype=B) | torch.zeros_like(x) | x.view(torch.bfloat16) | x.view(torch.complex32).dtype
torch.complex(h, h) | torch.polar(h.abs(), h) | torch.view_as_complex(torch.stack([h, h], 1))
h * 1j | h + x | x + 1 | 2 - x | x + x | x - x | x * x | x * 2.5 | -x | x.clone().mul_(2) | x * torch.ones(()) | h - 1j | 1j * h
x.sum() | x.pow(2) | x.sort() | x + torch.ones(3, dtype=torch.bfloat16)
x == x | x != 1 | x.isfinite() | x.isnan() | torch.isreal(x) | x.any() | x.nonzero() | x.bool()
x + torch.ones(3) | x * torch.ones(3, dtype=torch.float64) | torch.add(x, torch.ones(3)).dtype | x.cdouble().sum()
torch.where(m, x, x) | torch.cat([x, x]) | torch.stack([x, x]).shape | x.reshape(3, 1).T | x[1:] | x.expand(2, 3)[1] | x.roll(1)
x[m] | x[torch.tensor([1, 0])] | x.masked_fill(m, 1j) | x.repeat(2) | x.clone().copy_(torch.ones(3)) | x.contiguous() | x.clone()
torch.arange(3.).to(B).real | x.resolve_conj() | x.resolve_neg() | x.type(torch.complex64) | x.type("torch.BComplex32Tensor").dtype
"""


def seeded():
    for make in (torch.randn, torch.rand):
        torch.manual_seed(3)
        yield make.__name__, make(4, dtype=B)


def with_default_bfloat16():
    torch.set_default_dtype(torch.bfloat16)
    yield from outcomes("torch.full((2,), 1j).dtype | torch.result_type(torch.ones(2, dtype=torch.int64), 1j)", globals())
    torch.set_default_dtype(torch.float32)


def gradients():
    z = torch.tensor([1 + 2j, 3j]).requires_grad_()
    z.to(B).to(torch.complex64).abs().sum().backward()
    yield "gradient through it", z.grad


def files():
    file = io.BytesIO()
    torch.save({"x": x}, file)
    file.seek(0)
    yield "from a file", torch.load(file)["x"]


check([*outcomes(ITEMS, globals()), *seeded(), *with_default_bfloat16(), *gradients(), *files()], __file__)
if "terra" in torch.__name__:
    for refused in (x.numpy, lambda: torch.utils.dlpack.to_dlpack(x)):
        try:
            refused()
            raise AssertionError("numpy and DLPack have no such elements")
        except (TypeError, BufferError) as error:
            assert "BComplex32" in str(error), error
