"""terra.fft: discrete Fourier transforms, under the names of torch.fft."""

from .._overridable import offer as _offer
from ._frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from ._transforms import (
    fft, fft2, fftn, hfft, hfft2, hfftn, ifft, ifft2, ifftn, ihfft, ihfft2, ihfftn, irfft, irfft2, irfftn, rfft, rfft2,
    rfftn,
)  # fmt: skip

__all__ = [
    "fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "rfft", "irfft", "rfft2", "irfft2", "rfftn", "irfftn", "hfft",
    "ihfft", "hfft2", "ihfft2", "hfftn", "ihfftn", "fftfreq", "rfftfreq", "fftshift", "ifftshift",
]  # fmt: skip
_offer(globals())
