"""torch.backends.cuda: there is no CUDA; its switches are kept."""

import contextlib
import sys

from .._names import missing


class _Switches:
    """Holds whatever is set."""

    def __init__(self, **values):
        self.__dict__.update(values)


matmul = _Switches(
    allow_tf32=False, allow_fp16_reduced_precision_reduction=True, allow_bf16_reduced_precision_reduction=True,
    allow_fp16_accumulation=False,
)  # fmt: skip
cufft_plan_cache = _Switches(size=0, max_size=0)
_attention = {"flash": True, "math": True, "mem_efficient": True, "cudnn": True}


def is_built():
    return False


def flash_sdp_enabled():
    return _attention["flash"]


def math_sdp_enabled():
    return _attention["math"]


def mem_efficient_sdp_enabled():
    return _attention["mem_efficient"]


def cudnn_sdp_enabled():
    return _attention["cudnn"]


def enable_flash_sdp(enabled):
    _attention["flash"] = enabled


def enable_math_sdp(enabled):
    _attention["math"] = enabled


def enable_mem_efficient_sdp(enabled):
    _attention["mem_efficient"] = enabled


def enable_cudnn_sdp(enabled):
    _attention["cudnn"] = enabled


def is_flash_attention_available():
    return False


def preferred_linalg_library(backend=None):
    raise RuntimeError("torch.backends.cuda.preferred_linalg_library chooses a library of CUDA, and Terra runs on the CPU here.")


@contextlib.contextmanager
def sdp_kernel(enable_flash=True, enable_math=True, enable_mem_efficient=True, enable_cudnn=True):
    """Kept inside the block: there is one way to compute attention here."""
    before = dict(_attention)
    _attention.update(flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn)
    try:
        yield
    finally:
        _attention.update(before)


def __getattr__(name):
    from ..nn.attention import SDPBackend

    if name == "SDPBackend":
        return SDPBackend
    raise missing(sys.modules[__name__], name)
