"""Module: the base class of everything with parameters.

ModuleBase, a C type, keeps the attributes (`_parameters`, `_buffers`, `_modules` and the instance's own dict) and calls
forward; the rest is here, one file per concern."""

import sys

import _terra_C as C

from ..._names import missing
from ._conversion import Conversion
from ._hooks import (
    Hooks,
    _global_dict,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from ._registration import Registration
from ._registration import indent as _addindent  # noqa: F401
from ._state_dict import EXTRA_STATE as _EXTRA_STATE_KEY_SUFFIX  # noqa: F401
from ._state_dict import StateDict, _IncompatibleKeys
from ._traversal import Traversal

__all__ = [
    "Module",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]


class _SignatureOfCalls:
    """inspect.signature(module): what is given is handed on to forward. A class has the signature of its __init__."""

    def __get__(self, module, owner=None):
        import inspect

        if module is None:
            raise AttributeError("__signature__")
        kinds = inspect.Parameter
        return inspect.Signature([kinds("args", kinds.VAR_POSITIONAL), kinds("kwargs", kinds.VAR_KEYWORD)])


class Module(C.ModuleBase, Registration, Traversal, StateDict, Conversion, Hooks):
    """A piece of a network: parameters, buffers and smaller pieces, and a forward that uses them."""

    dump_patches = False
    call_super_init = False  # whether __init__() hands its arguments on to the next class of the line
    __signature__ = _SignatureOfCalls()

    def forward(self, *args, **kwargs):
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __setstate__(self, state):
        self.__dict__.update(state)


_forward_unimplemented = Module.forward
_KINDS_OF_GLOBAL_HOOKS = {
    "_global_backward_hooks": "backward", "_global_backward_pre_hooks": "backward_pre", "_global_forward_hooks": "forward",
    "_global_forward_pre_hooks": "forward_pre",
}  # fmt: skip


def __getattr__(name):
    """The hooks of all modules by key, which copies of PyTorch's Module.__call__ look through."""
    if name in _KINDS_OF_GLOBAL_HOOKS:
        return _global_dict(_KINDS_OF_GLOBAL_HOOKS[name])
    raise missing(sys.modules[__name__], name)
