"""autocast: the context, the decorator and the questions about it.

On the CPU calls convert their operands as a table of the engine says (`interpreter_hooks/bindings/autograd/autocast.cpp`). Other
devices have a switch that can be read and set, and no tensors."""

import functools
import warnings
from collections.abc import Iterable, Mapping

import _terra_C as C

from .._dtypes import HALVES

_DEVICES = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy", "vulkan",
    "mps", "meta", "hpu", "mtia", "privateuseone",
)  # fmt: skip
# device -> [enabled, dtype] of those that have a switch, the CPU aside
_elsewhere = {
    **{name: [False, C.float16] for name in ("cuda", "ipu", "xpu", "maia", "mps", "mtia", "privateuseone")},
    **{name: [False, C.bfloat16] for name in ("hpu", "xla")},
}
_cache = {"enabled": True, "nesting": 0}


def _kind(device_type):
    """'cuda' for 'cuda:0'."""
    if not isinstance(device_type, str):
        raise TypeError(f"the device type has to be a str, not {type(device_type).__name__}")
    name = device_type.partition(":")[0]
    if not device_type:
        raise RuntimeError("Device string must not be empty")
    if name not in _DEVICES:
        raise RuntimeError(
            f"Expected one of {', '.join(_DEVICES)} device type at start of device string: {device_type}"
        )
    return name


def _switch(device_type):
    name = _kind(device_type)
    if name not in _elsewhere:
        raise RuntimeError(f"unknown device type for autocast: {name}")
    return _elsewhere[name]


def is_autocast_available(device_type):
    """Whether the device has a switch."""
    name = _kind(device_type)
    return name == "cpu" or name in _elsewhere


def is_autocast_enabled(device_type="cuda"):
    return C._autocast_enabled() if device_type == "cpu" else _switch(device_type)[0]


def get_autocast_dtype(device_type):
    """What operands of products become inside."""
    return C._autocast_dtype() if device_type == "cpu" else _switch(device_type)[1]


def set_autocast_enabled(device_type, enabled=None):
    """The switch of a device; set_autocast_enabled(enabled) is that of CUDA."""
    if enabled is None:
        device_type, enabled = "cuda", device_type
    if device_type == "cpu":
        C._set_autocast(enabled, C._autocast_dtype())
    else:
        _switch(device_type)[0] = bool(enabled)


def set_autocast_dtype(device_type, dtype):
    if device_type == "cpu":
        C._set_autocast(C._autocast_enabled(), dtype)
    else:
        _switch(device_type)[1] = dtype


def is_autocast_cpu_enabled():
    return C._autocast_enabled()


def set_autocast_cpu_enabled(enabled):
    set_autocast_enabled("cpu", enabled)


def get_autocast_cpu_dtype():
    return C._autocast_dtype()


def set_autocast_cpu_dtype(dtype):
    set_autocast_dtype("cpu", dtype)


def get_autocast_gpu_dtype():
    return get_autocast_dtype("cuda")


def set_autocast_gpu_dtype(dtype):
    set_autocast_dtype("cuda", dtype)


def is_autocast_cache_enabled():
    return _cache["enabled"]


def set_autocast_cache_enabled(enabled):
    """Kept and given back: weights are converted where they are used, as often as they are used."""
    _cache["enabled"] = bool(enabled)


def clear_autocast_cache():
    """There is nothing in it."""


def autocast_increment_nesting():
    _cache["nesting"] += 1
    return _cache["nesting"]


def autocast_decrement_nesting():
    _cache["nesting"] -= 1
    return _cache["nesting"]


class autocast:
    """A context and a decorator: calls inside convert their operands, products to `dtype`, what needs it to float32."""

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if not is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self.device = device_type
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self._cache_enabled = is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        self._enabled = enabled and _can_cast(device_type, self.fast_dtype)

    def __enter__(self):
        device = self.device
        self.prev = is_autocast_enabled(device)
        self.prev_fastdtype = get_autocast_dtype(device)
        self.prev_cache_enabled = is_autocast_cache_enabled()
        _set(device, self._enabled, self.fast_dtype, self._cache_enabled)
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        _set(self.device, self.prev, self.prev_fastdtype, self.prev_cache_enabled)
        return False

    def __call__(self, func):
        if not callable(func):
            raise TypeError(
                f"autocast()(func) requires a callable, but got {type(func).__name__}. Did you mean to use autocast as a "
                "context manager? For example:\n    with torch.autocast(device_type=...):\n        output = model(input)"
            )

        @functools.wraps(func)
        def inside(*args, **kwargs):
            with self:
                return func(*args, **kwargs)

        return inside


def _can_cast(device_type, dtype):
    if device_type == "cuda":
        warnings.warn("CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=3)
        return False
    if dtype not in HALVES:
        warnings.warn(
            f"In {device_type.upper()} autocast, but the target dtype is not supported. Disabling autocast.\n"
            f"{device_type.upper()} Autocast only supports dtypes of {', '.join(map(str, HALVES))} currently.",
            stacklevel=3,
        )
        return False
    return True


def _set(device, enabled, dtype, cache_enabled):
    if device == "cpu":
        C._set_autocast(enabled, dtype)
    else:
        switch = _switch(device)
        switch[0] = enabled
        switch[1] = dtype
    if _cache["enabled"] != cache_enabled:
        _cache["enabled"] = cache_enabled


def _converted(value, dtype):
    """`value` with its floating tensors in the dtype, those of float64 as they are."""
    if isinstance(value, C.Tensor):
        return value.to(dtype) if value.is_floating_point() and value.dtype != C.float64 else value
    if isinstance(value, (str, bytes)) or hasattr(value, "__array_interface__"):
        return value
    if isinstance(value, Mapping):
        return {key: _converted(item, dtype) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_converted(item, dtype) for item in value])
    if isinstance(value, Iterable):
        return map(lambda item: _converted(item, dtype), value)
    return value


def _check_device_type(device_type):
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def custom_fwd(fwd=None, *, device_type, cast_inputs=None):
    """Decorates the forward of an autograd Function. With `cast_inputs`, inside autocast: its floating inputs in that
    dtype, and its own ops without autocast."""
    _check_device_type(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(ctx, *args, **kwargs):
        inside = is_autocast_enabled(device_type)
        ctx._dtype = get_autocast_dtype(device_type)
        ctx._fwd_used_autocast = inside and cast_inputs is None
        if cast_inputs is None or not inside:
            return fwd(ctx, *args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(ctx, *_converted(args, cast_inputs), **_converted(kwargs, cast_inputs))

    return forward


def custom_bwd(bwd=None, *, device_type):
    """Decorates the backward of such a Function: it runs in the mode of its forward."""
    _check_device_type(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(ctx, *args, **kwargs):
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(ctx, *args, **kwargs)

    return backward
