"""torch._C: the C module under PyTorch's name, and the little of PyTorch's own that programs call."""

import _terra_C
from _terra_C import *  # noqa: F401,F403


def _log_api_usage_once(event):
    """Nobody counts."""


def _cuda_getDeviceCount():
    return 0


def _get_tracing_state():
    """torch.jit.trace() runs the function as it is: nothing is being traced."""
    return None


def _get_default_device():
    from ._settings import get_default_device

    return str(get_default_device())


_TensorMeta = type(_terra_C.Tensor)


class Value:
    """A value in a graph of TorchScript, of which there are none; some programs import the name."""


class DisableTorchFunctionSubclass:
    """A context in which subclasses of Tensor are taken as plain tensors."""

    def __enter__(self):
        self._before = _terra_C._set_overrides_disabled(True)
        return self

    def __exit__(self, *exception):
        _terra_C._set_overrides_disabled(self._before)
        return False


DisableTorchFunction = DisableTorchFunctionSubclass


class _nn:
    """torch._C._nn: what libraries that wrap modules call."""

    @staticmethod
    def _parse_to(*args, **kwargs):
        """(device, dtype, non_blocking, memory_format) of the arguments of Module.to(); None for what is not given."""
        from .nn.modules._conversion import parse_to

        return parse_to(args, kwargs)


def __getattr__(name):
    return getattr(_terra_C, name)
