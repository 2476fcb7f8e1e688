"""autocast: the context, the decorator and the questions about it. Nothing is cast, so nothing is ever enabled."""

import contextlib
import functools
import warnings

import _terra_C as C

_DTYPES = {"cpu": C.bfloat16, "cuda": C.float16}


class autocast(contextlib.ContextDecorator):
    """A context in which nothing is cast."""

    def __init__(self, device_type="cpu", dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device = self.device_type = device_type
        self.fast_dtype = _DTYPES.get(device_type, C.bfloat16) if dtype is None else dtype
        self._enabled = False
        if enabled and device_type == "cuda":
            warnings.warn(
                "User provided device_type of 'cuda', but CUDA is not available. Disabling", UserWarning, stacklevel=2
            )

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False


def custom_fwd(fwd=None, *, device_type, cast_inputs=None):
    """Marks the forward of an autograd Function. Where nothing is cast it is that forward."""
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)
    return fwd


def custom_bwd(bwd=None, *, device_type):
    """Marks the backward of an autograd Function. Where nothing is cast it is that backward."""
    return functools.partial(custom_bwd, device_type=device_type) if bwd is None else bwd


def is_autocast_available(device_type):
    """False: there is no device for which anything would be cast."""
    return False


def is_autocast_enabled(device_type="cuda"):
    return False


def is_autocast_cpu_enabled():
    return False


def is_autocast_cache_enabled():
    return True


def get_autocast_dtype(device_type):
    return _DTYPES.get(device_type, C.bfloat16)


def get_autocast_cpu_dtype():
    return C.bfloat16


def get_autocast_gpu_dtype():
    return C.float16


def set_autocast_enabled(device_type, enabled=None):
    if device_type if enabled is None else enabled:
        raise RuntimeError("Terra casts nothing by itself: autocast can't be enabled. Convert with .to(torch.bfloat16).")


def set_autocast_cache_enabled(enabled):
    """There is no cache."""


def clear_autocast_cache():
    """There is no cache."""


def autocast_increment_nesting():
    return 1


def autocast_decrement_nesting():
    return 0
