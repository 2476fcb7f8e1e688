"""Switches of the whole process: precision, determinism, the default device and type."""

import _terra_C as C

from ._warnings import warn_once

_PRECISIONS = ("highest", "high", "medium")
_state = {"precision": "highest", "deterministic": False, "warn_only": False, "interop": 1, "warn_always": False}


def set_float32_matmul_precision(precision):
    """Kept and given back: products of float32 are computed in float32 at each of the settings."""
    if precision not in _PRECISIONS:
        raise RuntimeError(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current setting is {_state['precision']}"
        )
    _state["precision"] = precision


def get_float32_matmul_precision():
    return _state["precision"]


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Kept and given back: every op of the CPU gives the same bits for the same inputs and number of threads anyway."""
    _state["deterministic"] = bool(mode)
    _state["warn_only"] = bool(mode) and bool(warn_only)


def are_deterministic_algorithms_enabled():
    return _state["deterministic"]


def is_deterministic_algorithms_warn_only_enabled():
    return _state["warn_only"]


_DEBUG_MODES = {"default": 0, "warn": 1, "error": 2}


def set_deterministic_debug_mode(debug_mode):
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    level = _DEBUG_MODES.get(debug_mode, debug_mode)
    if level not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected `default`, `warn`, or `error`, but got {debug_mode}")
    use_deterministic_algorithms(level > 0, warn_only=level == 1)


def get_deterministic_debug_mode():
    return 0 if not _state["deterministic"] else 1 if _state["warn_only"] else 2


def set_default_device(device):
    """Where this thread makes tensors that are told no device: the CPU, which None means, or the meta device."""
    C._set_default_device(device)


def get_default_device():
    return C._get_default_device()


def set_default_tensor_type(t):
    """Sets the default dtype from a type such as torch.DoubleTensor, or its name."""
    warn_once(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
        "torch.set_default_device() as alternatives."
    )
    from ._legacy import TYPES

    name = t if isinstance(t, str) else f"torch.{getattr(t, '__name__', t)}"
    if ".cuda." in name or "cuda" in getattr(t, "__module__", ""):
        raise TypeError(f"type {name} not available. Terra runs on the CPU here.")
    kind = TYPES.get(name.removeprefix("torch."))
    if kind is None:
        raise TypeError(f"invalid type object: {name} is no tensor type")
    if not kind.dtype.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    C.set_default_dtype(kind.dtype)


def set_num_interop_threads(threads):
    """Kept and given back: ops run one after the other, each on set_num_threads() threads."""
    if threads <= 0:
        raise RuntimeError("Expected positive number of interop threads")
    _state["interop"] = int(threads)


def get_num_interop_threads():
    return _state["interop"]


def set_flush_denormal(mode):
    """False: the engine computes with denormal numbers as they are."""
    return False


def set_warn_always(b):
    _state["warn_always"] = bool(b)


def is_warn_always_enabled():
    return _state["warn_always"]


_conversions = {"overwrite": False, "swap": False}


def set_overwrite_module_params_on_conversion(value):
    """True: each conversion gives a module new parameters. Else parameters stay the same objects where they can."""
    _conversions["overwrite"] = value


def get_overwrite_module_params_on_conversion():
    return _conversions["overwrite"]


def set_swap_module_params_on_conversion(value):
    """True: parameters stay the same objects on their device even where the other setting says they need not."""
    _conversions["swap"] = value


def get_swap_module_params_on_conversion():
    return _conversions["swap"]
