"""Questions about one tensor, as functions of the top level."""

import _terra_C as C

from ._typename import typename  # noqa: F401


def _method(name):
    def ask(input):
        return getattr(input, name)()

    ask.__name__ = ask.__qualname__ = name
    return ask


is_complex, is_conj, is_inference, is_neg, is_signed = map(
    _method, ("is_complex", "is_conj", "is_inference", "is_neg", "is_signed")
)


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
    from .autograd import anomaly

    return anomaly._enabled


def is_anomaly_check_nan_enabled():
    from .autograd import anomaly

    return anomaly._checks_nan


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
    if not condition:
        raise AssertionError(message)
