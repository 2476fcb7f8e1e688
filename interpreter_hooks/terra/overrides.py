"""torch.overrides: how subclasses of Tensor, and other classes, take over functions by __torch_function__."""

import contextlib
import functools

import _terra_C as C

from ._missing_parts import sentences
from ._names import lazily
from ._C import DisableTorchFunctionSubclass

__all__ = ["TorchFunctionMode", "handle_torch_function", "has_torch_function", "is_tensor_like", "is_tensor_method_or_property", "wrap_torch_function"]


def _overriding(arguments):
    """The arguments whose class has a __torch_function__ of its own: one of each class, subclasses first."""
    found = []
    for value in arguments:
        kind = type(value)
        hook = getattr(kind, "__torch_function__", None)
        if hook is None or kind in (C.Tensor, C.Parameter) or hook is C._disabled_torch_function_impl:
            continue
        if getattr(hook, "__func__", hook) is getattr(C.Tensor.__torch_function__, "__func__", C.Tensor.__torch_function__):
            continue
        if any(type(other) is kind for other in found):
            continue
        at = next((i for i, other in enumerate(found) if issubclass(kind, type(other))), len(found))
        found.insert(at, value)
    return found


def has_torch_function(relevant_args):
    return bool(_overriding(relevant_args))


def has_torch_function_unary(value):
    return has_torch_function((value,))


def has_torch_function_variadic(*values):
    return has_torch_function(values)


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """Asks the overriding arguments in turn for the result of the function."""
    overriding = _overriding(relevant_args)
    kinds = tuple(map(type, overriding))
    for value in overriding:
        result = value.__torch_function__(public_api, kinds, args, kwargs)
        if result is not NotImplemented:
            return result
    name = f"{public_api.__module__}.{public_api.__name__}"
    raise TypeError(f"no implementation found for '{name}' on types that implement __torch_function__: {list(kinds)}")


def wrap_torch_function(dispatcher):
    """A decorator: `dispatcher` gives the arguments that may override the function."""

    def decorate(function):
        @functools.wraps(function)
        def asked(*args, **kwargs):
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(asked, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return asked

    return decorate


def is_tensor_like(inp):
    return type(inp) is C.Tensor or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func):
    name = getattr(func, "__name__", None)
    if name == "__get__":
        return True
    return name is not None and getattr(C.Tensor, name, None) is func


class TorchFunctionMode:
    """A context whose __torch_function__ would see every function: entering one raises."""

    def __init__(self):
        """Nothing is kept before a mode is entered."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        raise NotImplementedError(
            "torch.overrides.TorchFunctionMode: Terra asks subclasses of Tensor, and no modes. Subclass Tensor instead."
        )

    def __exit__(self, *exception):
        return False


BaseTorchFunctionMode = TorchFunctionMode


@contextlib.contextmanager
def enable_reentrant_dispatch():
    yield


globals().update(sentences("torch.overrides", ("get_ignored_functions", "get_overridable_functions", "get_testing_overrides", "resolve_name")))

__getattr__ = lazily(__name__)
