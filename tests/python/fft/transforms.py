# run: --torch
"""torch.fft: values, dtypes, sentences and gradients, as PyTorch's."""

import pathlib
import sys
import warnings

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

warnings.simplefilter("ignore")
F = torch.fft


def waves(*size):
    return torch.complex(wave(*size), wave(*size).flip(-1) * 0.7)


ONE_DIM = {"fft": F.fft, "ifft": F.ifft, "rfft": F.rfft, "irfft": F.irfft, "hfft": F.hfft, "ihfft": F.ihfft}
SEVERAL = {
    "fft2": F.fft2, "ifft2": F.ifft2, "rfft2": F.rfft2, "irfft2": F.irfft2, "hfft2": F.hfft2, "ihfft2": F.ihfft2, "fftn": F.fftn,
    "ifftn": F.ifftn, "rfftn": F.rfftn, "irfftn": F.irfftn, "hfftn": F.hfftn, "ihfftn": F.ihfftn,
}  # fmt: skip
REAL = ("rfft", "ihfft")
LENGTHS = [1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 30, 31, 37, 64, 74, 97, 100, 121]
NORMS = [None, "backward", "forward", "ortho"]


def said(function):
    try:
        return function()
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}"


def operand(name, *size):
    return wave(*size) if name.startswith(REAL) else waves(*size)


def summary(t):
    """Long results by a few numbers that every element has a part in."""
    if t.numel() <= 12:
        return t
    parts = torch.view_as_real(t.resolve_conj()).flatten() if t.is_complex() else t.flatten()
    weights = torch.cos(torch.arange(parts.numel(), dtype=torch.float64) * 0.37).to(parts.dtype)
    return [str(t.dtype), list(t.shape), t.flatten()[:3], (parts * weights).sum(), (parts * parts).sum(), parts.abs().max()]


def loss_of(result):
    parts = torch.view_as_real(result.resolve_conj()) if result.is_complex() else result
    return (parts * torch.sin(torch.arange(1, parts.numel() + 1, dtype=parts.dtype)).reshape(parts.shape)).sum()


def values():
    for name, function in ONE_DIM.items():
        for n in LENGTHS:
            yield f"{name} {n}", said(lambda: summary(function(operand(name, n))))
            yield f"{name} {n} single", said(lambda: summary(function(operand(name, n).to(torch.float32 if name in REAL else torch.complex64))))
        for norm in NORMS:
            yield f"{name} norm {norm}", function(operand(name, 6), norm=norm)
        for n in (1, 3, 6, 9, 10):
            yield f"{name} n={n}", function(operand(name, 6), n=n)
        for dim in (0, 1, -1):
            yield f"{name} dim={dim}", summary(function(operand(name, 3, 4, 5), dim=dim))
        yield f"{name} axis", summary(function(operand(name, 3, 4, 5), axis=1))
        yield f"{name} transposed", summary(function(operand(name, 4, 6).t()))
        yield f"{name} of integers", said(lambda: function(torch.arange(5)))
        yield f"{name} of bools", said(lambda: function(torch.tensor([True, False, True])))
        yield f"{name} of real numbers", said(lambda: function(wave(5)))
        yield f"{name} of halves", said(lambda: function(wave(5).half()))
        yield f"{name} of none", said(lambda: function(torch.zeros(2, 0)))
        yield f"{name} of no rows", function(operand(name, 0, 4))
        yield f"{name} no dimensions", said(lambda: function(torch.tensor(1.0)))
    for name, function in SEVERAL.items():
        x = operand(name, 3, 4, 5)
        yield name, summary(function(x))
        for norm in NORMS:
            yield f"{name} norm {norm}", summary(function(x, norm=norm))
        for s, dim in (((2, 6), (0, 1)), ((4, 3), (-1, 0)), ((-1, 8), (1, 2))):
            yield f"{name} s={s} dim={dim}", said(lambda: summary(function(x, s=s, dim=dim)))
        yield f"{name} dims", summary(function(x, dim=(2, 0)))
        yield f"{name} axes", summary(function(x, axis=(2, 0)))
        yield f"{name} of a number", said(lambda: function(torch.tensor(1.0)))


def gradients():
    for name, function in {**ONE_DIM, **SEVERAL}.items():
        several = name in SEVERAL
        for arguments in ({}, {"norm": "ortho"}, {"s": (2, 5), "dim": (1, 0)} if several else {"n": 4}, {} if several else {"n": 7}):
            size = (2, 3, 4) if several else (2, 5)
            x = operand(name, *size).requires_grad_()
            result = function(x, **arguments)
            (first,) = torch.autograd.grad(loss_of(result), x, create_graph=True)
            (second,) = torch.autograd.grad(loss_of(function(x * x, **arguments) * 1.0), x)
            yield f"gradient {name} {arguments}", [summary(first), summary(second)]
    x = wave(6).requires_grad_()
    spectrum = F.rfft(x)
    (first,) = torch.autograd.grad(spectrum.abs().pow(2).sum(), x, create_graph=True)
    yield "second order", torch.autograd.grad((first * wave(6)).pow(2).sum(), x)[0]


ERRORS = """F.fft(x, norm='abc')|F.fft(x, n=0)|F.fft(x, dim=1)|F.fft(torch.zeros(0))|F.rfft(z)|F.ihfft(z)|F.fft(x.half())|F.fft(x.bfloat16())
F.fft(torch.tensor(1.0))|F.fftn(x, s=(1, 2), dim=(0,))|F.fftn(x.view(2, 4), dim=(0, 0))|F.fftn(x, s=(1, 2))|F.fft2(x)|F.irfft(z, n=0)|F.irfft(z[:1])
F.rfftn(torch.tensor(1.0))|F.irfftn(torch.tensor(1.0))|F.hfftn(torch.tensor(1.0))|F.ihfftn(torch.tensor(1.0))|F.fft(x, n=-1)|F.fft(x, n=-2)
F.fft(3)|F.fftfreq(4, dtype=torch.int64)|F.rfft2(z.view(2, 4))|F.fft(x, out=torch.zeros(8))|F.fftn(x, dim=0)|F.fftn(x, dim=())
F.fft2(x.view(2, 4), s=3)|F.fft(input=x)|F.fftfreq(0)|F.fftfreq(5)|F.fftfreq(6, 0.5)|F.rfftfreq(5)|F.rfftfreq(6, d=2.0, dtype=torch.float64)
F.fftshift(torch.arange(5))|F.fftshift(torch.arange(12).view(3, 4))|F.fftshift(torch.arange(12).view(3, 4), dim=1)|F.ifftshift(torch.arange(5))
F.ifftshift(torch.arange(12).view(3, 4), dim=(0,))|F.fft(x, out=torch.zeros(8, dtype=torch.complex64))|F.fftn(x.view(2, 4), s=(-1, 3))
F.fftshift(torch.arange(12).view(3, 4), axis=0)|F.ifftshift(torch.arange(12).view(3, 4), axis=(0, 1))"""


def sentences():
    x, z = wave(8).float(), waves(8).to(torch.complex64)
    for line in ERRORS.split("\n"):
        for text in line.split("|"):
            yield text, said(lambda: eval(text, globals(), {"x": x, "z": z}))


check([*values(), *gradients(), *sentences()], __file__)
