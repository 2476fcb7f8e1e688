"""torch.overrides: how subclasses of Tensor, other classes, and modes take over functions by __torch_function__."""

import collections.abc
import contextlib
import functools
import types
import warnings

import _terra_C as C
from _terra_C import (  # noqa: F401
    _disabled_torch_function_impl, _get_function_stack_at, _has_torch_function as has_torch_function,
    _has_torch_function_unary as has_torch_function_unary, _has_torch_function_variadic as has_torch_function_variadic,
    _is_torch_function_mode_enabled, _len_torch_function_stack, _pop_torch_function_stack, _push_on_torch_function_stack,
)  # fmt: skip

from ._C import DisableTorchFunction, DisableTorchFunctionSubclass  # noqa: F401
from ._missing_parts import sentences
from ._names import lazily

__all__ = [
    "get_ignored_functions", "get_overridable_functions", "get_testing_overrides", "handle_torch_function", "has_torch_function",
    "resolve_name", "is_tensor_like", "is_tensor_method_or_property", "wrap_torch_function", "enable_reentrant_dispatch",
    "redispatch_function",
]  # fmt: skip


# ---- functions of a program that can be taken over -------------------------------------------------------------------
def _get_overloaded_args(relevant_args, get_type_fn=type):
    """The arguments whose class takes over calls: one of each class, subclasses first."""
    found = []
    if not C._is_torch_function_enabled():
        return found
    for value in relevant_args:
        kind = get_type_fn(value)
        hook = getattr(kind, "__torch_function__", None)
        if hook is None or hook is _disabled_torch_function_impl or any(get_type_fn(other) is kind for other in found):
            continue
        at = next((i for i, other in enumerate(found) if issubclass(kind, get_type_fn(other))), len(found))
        found.insert(at, value)
    return found


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """Asks the innermost mode, then the overriding arguments in turn, for the result of the function."""
    overriding = _get_overloaded_args(relevant_args)
    kinds = tuple(map(type, overriding))
    if _is_torch_function_mode_enabled():
        with _pop_mode_temporarily() as mode:
            result = mode.__torch_function__(public_api, kinds, args, kwargs)
        if result is not NotImplemented:
            return result
    for value in overriding:
        hook = value.__torch_function__
        if getattr(hook, "__self__", None) is value:
            warnings.warn(
                "Defining your `__torch_function__ as a plain method is deprecated and will be an error in future, please define "
                "it as a classmethod.",
                DeprecationWarning,
                stacklevel=2,
            )
        result = hook(public_api, kinds, args, kwargs)
        if result is not NotImplemented:
            return result
    name = f"{public_api.__module__}.{public_api.__name__}"
    message = f"no implementation found for '{name}' on types that implement __torch_function__: {list(kinds)}"
    if _is_torch_function_mode_enabled():
        message += f" nor in mode {_get_current_function_mode()}"
    raise TypeError(message)


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


def redispatch_function(func, types, args, kwargs):
    """Calls the function without asking anybody about that very call; about those inside of it everybody is asked."""
    return C._skip_one_hop_torch_function(func, types, args, kwargs or {})


# ---- modes ---------------------------------------------------------------------------------------------------------
class TorchFunctionMode:
    """A context whose __torch_function__ sees every function before tensors are asked. What it calls itself is seen by the
    modes around it."""

    def __init__(self):
        """Nothing is kept before a mode is entered."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        _push_mode(self)
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        _pop_mode()

    @classmethod
    def push(cls, *args, **kwargs):
        warnings.warn("`Mode.push()` is no longer necessary and can be replaced with just `with Mode()`", stacklevel=2)
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """Sees every function, and calls it."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _push_mode(mode):
    _push_on_torch_function_stack(mode)


def _pop_mode():
    return _pop_torch_function_stack()


def _get_current_function_mode():
    count = _len_torch_function_stack()
    return _get_function_stack_at(count - 1) if count else None


def _get_current_function_mode_stack():
    return [_get_function_stack_at(i) for i in range(_len_torch_function_stack())]


@contextlib.contextmanager
def _pop_mode_temporarily():
    mode = _pop_mode()
    try:
        yield mode
    finally:
        _push_mode(mode)


@contextlib.contextmanager
def enable_reentrant_dispatch():
    """Calls inside of a __torch_function__ are asked about in any case."""
    yield


# ---- which functions there are ---------------------------------------------------------------------------------------
_IGNORED = {
    "torch": (
        "typename", "is_tensor", "is_storage", "set_default_tensor_type", "set_default_device", "get_default_device",
        "set_rng_state", "get_rng_state", "manual_seed", "initial_seed", "seed", "save", "load", "set_printoptions",
        "get_default_dtype", "get_num_interop_threads", "get_num_threads", "is_anomaly_enabled", "is_anomaly_check_nan_enabled",
        "is_grad_enabled", "set_flush_denormal", "set_num_interop_threads", "set_num_threads", "as_tensor", "from_numpy",
        "tensor", "device", "dtype", "finfo", "iinfo", "memory_format", "set_grad_enabled", "no_grad", "enable_grad",
        "inference_mode", "is_inference_mode_enabled", "layout", "arange", "as_strided", "bartlett_window", "blackman_window",
        "broadcast_shapes", "can_cast", "compile", "empty", "empty_permuted", "empty_strided", "eye", "from_file", "full", "fill",
        "hamming_window", "hann_window", "kaiser_window", "linspace", "logspace", "normal", "ones", "promote_types", "rand",
        "rand_like", "randn", "randn_like", "randint", "randint_like", "randperm", "range", "result_type", "scalar_tensor",
        "sparse_coo_tensor", "sparse_csr_tensor", "sparse_csc_tensor", "tril_indices", "triu_indices", "vander", "zeros",
        "set_autocast_enabled", "is_autocast_enabled", "set_autocast_dtype", "get_autocast_dtype", "clear_autocast_cache",
        "are_deterministic_algorithms_enabled", "use_deterministic_algorithms", "set_deterministic_debug_mode",
        "get_deterministic_debug_mode", "set_float32_matmul_precision", "get_float32_matmul_precision", "is_warn_always_enabled",
        "set_warn_always", "vmap", "cond", "frombuffer", "asarray",
    ),
    "torch.fft": ("fftfreq", "rfftfreq"),
    "torch.nn.functional": (
        "upsample", "upsample_bilinear", "upsample_nearest", "sigmoid", "hardsigmoid", "tanh", "hardswish",
    ),
    "torch.nn.init": (
        "calculate_gain", "uniform", "normal", "constant", "eye", "dirac", "xavier_uniform", "xavier_normal", "kaiming_uniform",
        "kaiming_normal", "orthogonal", "sparse",
    ),
    "torch.Tensor": (
        "__delitem__", "__dir__", "__getattribute__", "__init__", "__iter__", "__init_subclass__", "__delattr__", "__setattr__",
        "__torch_function__", "__torch_dispatch__", "__new__", "__class__", "__subclasshook__", "__hash__", "as_subclass", "eig",
        "lstsq", "qr", "reinforce", "new", "new_tensor", "new_empty", "new_empty_strided", "new_zeros", "new_ones", "new_full",
        "_make_subclass", "solve", "symeig", "stride", "unflatten", "to_sparse_coo", "to_sparse_csr", "to_sparse_csc",
    ),
}  # fmt: skip


def _namespaces():
    """(name, namespace) of all functions that can be taken over."""
    import importlib

    package = importlib.import_module(__name__.rpartition(".")[0])
    of = lambda name: importlib.import_module(f"{package.__spec__.name}.{name}")  # noqa: E731
    names = ("functional", "nn.functional", "nn.init", "linalg", "fft", "special")
    found = [("torch", package), *((f"torch.{name}", of(name)) for name in names)]
    return [*found[:4], ("torch.Tensor", C.Tensor), *found[4:]]


def get_ignored_functions():
    """Functions of which nobody is asked, or only modes."""
    found = set()
    for place, namespace in _namespaces():
        for name in _IGNORED.get(place, ()):
            function = getattr(namespace, name, None)
            if isinstance(function, collections.abc.Hashable) and function is not None:
                found.add(function)
    return found


def _is_listed(name, namespace):
    if namespace is C.Tensor:
        return name != "__weakref__" and getattr(object, name, None) is not getattr(C.Tensor, name)
    return not name.startswith("__")


def _is_public(name, namespace):
    return namespace is C.Tensor or (name[0].islower() and not name.endswith("_"))


@functools.cache
def _get_overridable_functions():
    """({namespace: functions}, {function: name})"""
    overridable, index = collections.defaultdict(list), {}
    ignored = get_ignored_functions()
    for place, namespace in _namespaces():
        for name in sorted(dir(namespace)):
            function = getattr(namespace, name, None)
            if not _is_listed(name, namespace) or function is None or isinstance(function, types.ModuleType):
                continue
            if not callable(function) and hasattr(function, "__get__"):
                index[function.__get__] = f"{place}.{name}.__get__"
                index[function.__set__] = f"{place}.{name}.__set__"
                overridable[function].append(function.__get__)
            elif callable(function) and isinstance(function, collections.abc.Hashable):
                index[function] = f"{place}.{name}"
                if _is_public(name, namespace) and function not in ignored:
                    overridable[namespace].append(function)
    return overridable, index


def get_overridable_functions():
    """{namespace: the functions in it that can be taken over}"""
    return _get_overridable_functions()[0]


def resolve_name(f):
    """What a function given to __torch_function__ is called, "torch.Tensor.add"; None for one that isn't there."""
    return _get_overridable_functions()[1].get(f)


@functools.cache
def _get_tensor_methods():
    return set(get_overridable_functions()[C.Tensor])


def is_tensor_method_or_property(func):
    return func in _get_tensor_methods() or func.__name__ == "__get__"


globals().update(sentences("torch.overrides", ("get_testing_overrides",)))

__getattr__ = lazily(__name__)
