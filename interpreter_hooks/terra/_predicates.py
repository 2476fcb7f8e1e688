"""Questions about one tensor, as functions of the top level."""

import _terra_C as C

from ._overridable import offered
from ._typename import typename  # noqa: F401


def _method(name):
    def ask(input):
        return getattr(input, name)()

    ask.__name__ = ask.__qualname__ = name
    return offered(ask, __package__)


is_complex, is_conj, is_inference, is_neg, is_signed = map(
    _method, ("is_complex", "is_conj", "is_inference", "is_neg", "is_signed")
)


def _check_with(error_type, cond, message):
    """Raises error_type unless cond; the message is text, or a function that gives it."""
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is None:
        message = (
            "Expected cond to be True, but got False. (Could this error message be improved? If so, please report an "
            "enhancement request to PyTorch.)"
        )
    elif callable(message):
        message = str(message())
    raise error_type(message)


def _check(cond, message=None):
    _check_with(RuntimeError, cond, message)


def _check_index(cond, message=None):
    _check_with(IndexError, cond, message)


def _check_value(cond, message=None):
    _check_with(ValueError, cond, message)


def _check_type(cond, message=None):
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond, message=None):
    _check_with(NotImplementedError, cond, message)


def _check_tensor_all_with(error_type, cond, message=None):
    """Raises error_type unless each element of a bool tensor is True."""
    if not isinstance(cond, C.Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype is not C.bool:
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check_with(error_type, bool(cond.all()), message)


def _check_tensor_all(cond, message=None):
    _check_tensor_all_with(RuntimeError, cond, message)


def _check_is_size(i, message=None, *, max=None):
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


def _assert_async(input, assert_msg="Expected Tensor with single nonzero value, but got zero"):
    """At once, not later: the tensor's one element is not zero."""
    if not input:
        raise RuntimeError(assert_msg)


def is_same_size(input, other):
    return input.shape == other.shape


def get_device(input):
    """-1: the CPU has no number."""
    return input.get_device()


def is_distributed(input):
    return False


def is_storage(obj):
    from .storage import TypedStorage, UntypedStorage

    return isinstance(obj, (TypedStorage, UntypedStorage))


def is_anomaly_enabled():
    from .autograd import anomaly_mode

    return anomaly_mode._enabled


def is_anomaly_check_nan_enabled():
    from .autograd import anomaly_mode

    return anomaly_mode._checks_nan


def get_device_module(device=None):
    """The module that answers questions about a device: torch.cpu for the one that there is."""
    import importlib

    kind = "cpu" if device is None else C.device(device).type
    try:
        return importlib.import_module("." + kind, __package__)
    except ImportError:
        raise RuntimeError(f"Invalid device module '{kind}'") from None


def is_vulkan_available():
    return False


def compiled_with_cxx11_abi():
    return True


def _assert(condition, message):
    """assert as a function, which a graph can call."""
    if not isinstance(condition, C.Tensor) and C._has_torch_function((condition,)):
        from .overrides import handle_torch_function

        return handle_torch_function(_assert, (condition,), condition, message)
    if not condition:
        raise AssertionError(message)
