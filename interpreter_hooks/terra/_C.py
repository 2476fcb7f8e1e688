"""torch._C: the C module under PyTorch's name, and the little of PyTorch's own that programs call."""

import _terra_C
from _terra_C import *  # noqa: F401,F403


def _log_api_usage_once(event):
    """Nobody counts."""


def _cuda_getDeviceCount():
    return 0


class DisableTorchFunctionSubclass:
    """A context in which subclasses of Tensor are taken as plain tensors."""

    def __enter__(self):
        self._before = _terra_C._set_overrides_disabled(True)
        return self

    def __exit__(self, *exception):
        _terra_C._set_overrides_disabled(self._before)
        return False


DisableTorchFunction = DisableTorchFunctionSubclass


def __getattr__(name):
    return getattr(_terra_C, name)
