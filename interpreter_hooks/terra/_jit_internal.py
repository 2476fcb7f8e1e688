"""torch._jit_internal: the words for a compiler with which PyTorch's own modules are written."""

from typing import Any, Callable, Dict, Final, List, Optional, Tuple, Union  # noqa: F401

from .jit import _overload, _overload_method, export, ignore, is_scripting, unused  # noqa: F401


class BroadcastingListCls:
    """BroadcastingList2[int] annotates what may be an int or a list of two."""

    def __getitem__(self, types):
        return None


BroadcastingList1, BroadcastingList2, BroadcastingList3, BroadcastingList4, BroadcastingList5, BroadcastingList6 = (
    BroadcastingListCls() for _ in range(6)
)


def boolean_dispatch(arg_name, arg_index, default, if_true, if_false, module_name, func_name):
    """A function that is one of two, by a bool among its arguments."""

    def function(*args, **kwargs):
        chosen = kwargs.get(arg_name, args[arg_index] if arg_index < len(args) else default)
        return (if_true if chosen else if_false)(*args, **kwargs)

    function.__doc__ = if_true.__doc__ or if_false.__doc__
    function.__module__, function.__name__ = module_name or function.__module__, func_name or function.__name__
    return function


def _copy_to_script_wrapper(fn):
    """A mark for a compiler."""
    return fn
