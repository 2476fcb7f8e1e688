"""torch._C: the C module under PyTorch's name, and the little of PyTorch's own that programs call."""

import importlib

import _terra_C
from _terra_C import *  # noqa: F401,F403

from .._missing_parts import NoInstances
from .._names import FUNCTIONS

_has_cuda = _has_xpu = _has_mps = False


def _log_api_usage_once(event):
    """Nobody counts."""


def _cuda_getDeviceCount():
    return 0


def _get_tracing_state():
    """torch.jit.trace() runs the function as it is: nothing is being traced."""
    return None


def _is_tracing():
    return False


def _get_default_device():
    from .._settings import get_default_device

    return str(get_default_device())


def _get_accelerator(check=None):
    """The device that PyTorch would compute on besides the CPU."""
    return _terra_C.device("cpu")


def _are_functorch_transforms_active():
    """Tensors in vmap, grad and the like are plain ones: no transform stands between a function and them."""
    return False


def _is_alias_of(a, b):
    """Whether two tensors share memory that is a storage of both."""
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


_TensorMeta = type(_terra_C.Tensor)


TensorBase = _TensorBase = _terra_C.Tensor


def _jit_setting(*_):
    """A switch of a compiler that is not there."""


_jit_set_profiling_executor = _jit_set_profiling_mode = _jit_set_nvfuser_enabled = _jit_set_texpr_fuser_enabled = _jit_setting
_jit_override_can_fuse_on_cpu = _jit_override_can_fuse_on_gpu = _jit_set_bailout_depth = _jit_setting
_jit_set_autocast_mode = _jit_set_num_profiled_runs = _debug_set_autodiff_subgraph_inlining = _jit_setting


class Value:
    """A value in a graph of TorchScript, of which there are none; some programs ask for the name."""


class Graph(Value):
    """A graph of TorchScript."""


# What TorchScript calls the types of its values: some programs have come to annotate with these names.
globals().update({name: NoInstances(name, (), {"__module__": "torch"}) for name in FUNCTIONS["_C"]})


class DisableTorchFunctionSubclass:
    """A context in which no argument takes over calls: subclasses of Tensor are taken as plain tensors."""

    _modes = False

    def __enter__(self):
        self._before = _terra_C._set_overrides_disabled(True, self._modes or not _terra_C._modes_are_enabled())
        return self

    def __exit__(self, *exception):
        _terra_C._set_overrides_disabled(*self._before)
        return False


class DisableTorchFunction(DisableTorchFunctionSubclass):
    """The same in which modes see no calls either."""

    _modes = True


class _Layers(type):
    """Functions that are not in _nn itself are those of torch.nn.functional, and of the op records."""

    def __getattr__(cls, name):
        from ..nn import functional

        return getattr(functional, name, None) or getattr(_terra_C._ops, name)


class _nn(metaclass=_Layers):
    """torch._C._nn: what libraries that wrap modules call."""

    @staticmethod
    def _parse_to(*args, **kwargs):
        """(device, dtype, non_blocking, memory_format) of the arguments of Module.to(); None for what is not given."""
        from ..nn.modules._conversion import parse_to

        return parse_to(args, kwargs)


def __getattr__(name):
    if name == "_AutoDispatchBelowAutograd":
        from ..library import BelowAutograd

        return BelowAutograd
    if name == "ScriptModule":
        from ..jit import ScriptModule

        return ScriptModule
    if name == "_functorch":
        return importlib.import_module("._functorch", __name__)
    return getattr(_terra_C, name)
