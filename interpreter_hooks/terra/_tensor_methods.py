"""Methods of Tensor that are written in Python, added to the type when the package is imported."""

import _terra_C as C

from ._functions import allclose, cross, equal, nan_to_num, trace


def get_device(self):
    """-1: a tensor of the CPU has no device number."""
    return -1


def pin_memory(self, device=None):
    """The tensor itself: without a GPU there is no transfer that pinned memory would speed up."""
    return self


def is_distributed(self):
    return False


def share_memory_(self):
    """Moves the elements into memory that other processes see too; they get the tensor by fork or through a queue."""
    from .multiprocessing._shared import share

    return share(self)


def is_shared(self):
    from .multiprocessing._shared import is_shared as ask

    return ask(self)


def stft(self, n_fft, *arguments, **options):
    from ._spectral import stft as spectrum

    return spectrum(self, n_fft, *arguments, **options)


def istft(self, n_fft, *arguments, **options):
    from ._spectral import istft as signal

    return signal(self, n_fft, *arguments, **options)


METHODS = {
    "allclose": allclose, "cross": cross, "equal": equal, "get_device": get_device, "is_distributed": is_distributed,
    "is_shared": is_shared, "istft": istft, "nan_to_num": nan_to_num, "pin_memory": pin_memory,
    "share_memory_": share_memory_, "stft": stft, "trace": trace,
}  # fmt: skip
for _name, _function in METHODS.items():
    setattr(C.Tensor, _name, _function)
