# run: --torch
"""gradcheck, assert_close and make_tensor know complex numbers; the gradients of the transforms and of products agree with
differences of the function."""

import torch
from torch.autograd import gradcheck
from torch.testing import assert_close, make_tensor


def fails(function):
    try:
        function()
    except (AssertionError, RuntimeError):
        return True
    return False


class Wrong(torch.autograd.Function):
    """z z, with a gradient that lacks the conjugate."""

    @staticmethod
    def forward(ctx, z):
        ctx.save_for_backward(z)
        return z * z

    @staticmethod
    def backward(ctx, grad):
        (z,) = ctx.saved_tensors
        return grad * 2 * z


torch.manual_seed(0)
z = torch.randn(3, 4, dtype=torch.complex128, requires_grad=True)
w = torch.randn(4, 2, dtype=torch.complex128, requires_grad=True)
x = torch.randn(3, 5, dtype=torch.float64, requires_grad=True)
fft = torch.fft
FUNCTIONS = [
    (lambda z: z * z, (z,)), (lambda z, w: z @ w, (z, w)), (lambda z: z.abs().sum(), (z,)), (lambda z: torch.fft.ifft2(z), (z,)),
    (lambda x: fft.rfft(x, n=7), (x,)), (lambda z: fft.irfft(z, n=5), (z,)), (lambda z: fft.hfft(z), (z,)),
    (lambda x: fft.ihfft(x, norm="ortho"), (x,)), (lambda x: fft.rfftn(x, s=(4, 4)), (x,)), (lambda z: fft.irfftn(z), (z,)),
    (lambda x: fft.fft(x), (x,)), (lambda z: z.real * z.imag, (z,)), (lambda z: z.norm(), (z,)),
    (lambda z: (z.exp() / z.conj()).sum(0), (z,)), (lambda z: z.std(), (z,)), (lambda z: z.cumprod(1), (z,)),
    (lambda z: z.prod(), (z,)), (lambda z: torch.polar(z.abs(), z.angle()), (z,)), (lambda z: z.sgn(), (z,)),
    (lambda x: torch.stft(x, 4, window=torch.hann_window(4, dtype=x.dtype), return_complex=True), (x,)),
]  # fmt: skip
for number, (function, inputs) in enumerate(FUNCTIONS):
    assert gradcheck(function, inputs), number
assert fails(lambda: gradcheck(Wrong.apply, (z,)))
assert_close(z, z + 1e-9)
assert fails(lambda: assert_close(z, z + 1e-3j))
made = make_tensor(3, 4, dtype=torch.complex64, device="cpu", low=-1, high=1, noncontiguous=True)
assert made.dtype == torch.complex64 and made.shape == (3, 4) and not made.is_contiguous() and made.abs().max() < 1.5
print(f"{len(FUNCTIONS) + 4} passed")
