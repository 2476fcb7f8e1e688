"""__torch_dispatch__: a call becomes PyTorch's ops, gradients are recorded, and then modes, subclasses of Tensor and at last the
engine get each op. Loaded when the first mode is entered, or the first such subclass is called with."""

import copy
import functools
import threading
import types

import _terra_C as C

from .. import _aten
from .. import sparse as _sparse  # noqa: F401  the tape asks it for sums
from ..ops import aten
from . import arguments, composites, gradients, schemas

_aten.in_use = True


class _State(threading.local):
    """Of a thread: the modes, the outermost first; the next call goes on as if nobody saw it."""

    def __init__(self):
        self.modes = []
        self.passes = False


state = _State()


class Asking:
    """A context that says who is asked: the modes on the stack, if there are any, and subclasses."""

    def __init__(self, modes=True, subclasses=True):
        self.modes, self.subclasses = modes, subclasses

    def __enter__(self):
        self.before = C._set_dispatch(self.modes and bool(state.modes), self.subclasses)

    def __exit__(self, *exception):
        C._set_dispatch(*self.before)


def push(mode):
    state.modes.append(mode)
    C._set_dispatch(True, C._asked_of_dispatch()[1])


def pop():
    mode = state.modes.pop()
    C._set_dispatch(bool(state.modes), C._asked_of_dispatch()[1])
    return mode


# ---- from a call to ops ----------------------------------------------------------------------------------------------
def called(function, args, kwargs):
    """What the call gives; NotImplemented where the function isn't of ops and just runs."""
    if state.passes:
        state.passes = False
        return NotImplemented
    rule = _rule_of(function)
    return NotImplemented if rule is None else rule(*args, **kwargs)


def passing(function, *args, **kwargs):
    """Calls a function that goes on, although it has a rule."""
    state.passes = True
    try:
        return function(*args, **kwargs)
    finally:
        state.passes = False


_OP_TYPES = (type(C.add), type(C.Tensor.add))


@functools.cache
def _rules():
    return composites.rules()


def _named_rule(function):
    """The rule of a function that is an op, under its own name or another."""
    name = function.__name__
    if name in composites.RULES:
        return composites.RULES[name]
    name = composites.ALIASES.get(name, name)
    is_listed = name in schemas.forms() or name.removesuffix("_") in schemas.forms()
    return functools.partial(op_called, name) if is_listed or _is_op(function, name) else None


def _is_op(function, name):
    """Whether an op that isn't listed computes with this very function."""
    if not isinstance(function, _OP_TYPES) or not hasattr(aten, name):
        return False
    return function in (getattr(aten, name)._function, getattr(C.Tensor, name, None))


def _rule_of(function):
    """The function that makes ops of calls of this one; None for one that isn't of ops."""
    if isinstance(function, types.MethodWrapperType):
        attribute = getattr(function.__self__, "__name__", "")
        return composites.ATTRIBUTES.get(attribute) if function.__name__ == "__get__" else None
    rule = _rules().get(function)
    if rule is not None:
        return rule
    if isinstance(function, C.Overridable) and isinstance(function.__wrapped__, types.FunctionType):
        if function.__name__ not in composites.WRITTEN_AS_OPS:
            return None
    return _named_rule(function)


def op_called(name, *args, inplace=False, out=None, requires_grad=False, **kwargs):
    """The op of that name, in the form that takes these arguments."""
    found = arguments.chosen(name, args, kwargs)
    if found is None and args and isinstance(args[-1], bool):  # relu(x, True)
        inplace, found = args[-1], arguments.chosen(name, args[:-1], kwargs)
    if out is not None or found is None:
        return NotImplemented
    form, positional, named = found
    result = getattr(getattr(aten, name + "_" * bool(inplace)), form)(*positional, **named)
    return result.requires_grad_() if requires_grad else result


# ---- one op ----------------------------------------------------------------------------------------------------------
def tensors_in(args, kwargs):
    """The tensors among arguments, those in lists as well."""
    for value in (*args, *kwargs.values()):
        if isinstance(value, C.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from (item for item in value if isinstance(item, C.Tensor))


def is_seen(args, kwargs):
    """Whether anybody sees an op with these arguments."""
    modes, subclasses = C._asked_of_dispatch()
    return modes or (subclasses and any(C._dispatches(type(tensor)) for tensor in tensors_in(args, kwargs)))


def run(op, args, kwargs):
    """One op: its gradient is recorded, and what is below that sees it."""
    schema = schemas.schema(op._opname, op._overloadname)
    if schema is not None:
        args, kwargs = arguments.arranged(schema, arguments.named(schema, args, kwargs))
    if C.is_grad_enabled() and op._opname not in gradients.CONSTANT:
        if any(tensor.requires_grad for tensor in tensors_in(args, kwargs)):
            return gradients.recorded(op, args, kwargs)
    return below_gradients(op, args, kwargs)


def below_gradients(op, args, kwargs):
    """The innermost mode gets the op, else the arguments whose class sees ops, else the engine."""
    modes, subclasses = C._asked_of_dispatch()
    asked = {type(tensor): tensor for tensor in tensors_in(args, kwargs) if C._dispatches(type(tensor))} if subclasses else {}
    kinds = tuple(sorted(asked, key=lambda kind: -len(kind.__mro__)))
    refused = []
    if modes and state.modes:
        mode = state.modes.pop()
        try:
            with Asking():
                result = mode.__torch_dispatch__(op, kinds, args, kwargs)
        finally:
            state.modes.append(mode)
        if result is not NotImplemented:
            return result
        refused.append(f"mode object {mode!r}")
    for kind in kinds:
        result = asked[kind].__torch_dispatch__(op, kinds, args, kwargs)
        if result is not NotImplemented:
            return result
        refused.append(f"tensor subclass {kind!r}")
    if refused:
        who = "".join(f"\n  - {each}" for each in refused)
        raise TypeError(
            f"Multiple dispatch failed for 'torch._ops.{op}'; all __torch_dispatch__ handlers returned NotImplemented:\n{who}\n\n"
            "For more information, try re-running with TORCH_LOGS=not_implemented"
        )
    return by_engine(op, args, kwargs)


def by_engine(op, args, kwargs):
    """The op as the engine computes it, seen by nobody."""
    if any(C._is_wrapper(tensor) for tensor in tensors_in(args, kwargs)):
        raise RuntimeError(f"{op}: Cannot access the elements of a wrapper: its __torch_dispatch__ has to say what the op gives.")
    functions = C._set_overrides_disabled(1, True)
    try:
        with Asking(False, False):
            if C.is_grad_enabled() or not gradients.is_view(op):
                return op._function(*args, **kwargs)
            with C.enable_grad():  # the view knows its base; its history is replaced above
                return op._function(*args, **kwargs)
    finally:
        C._set_overrides_disabled(*functions)


def first_gradient(root):
    """The gradient that a pass starts with."""
    return aten.ones_like.default(root, pin_memory=False, memory_format=C.preserve_format)


# ---- tensors of subclasses -------------------------------------------------------------------------------------------
def make_subclass(cls, data, require_grad=False, **unused):
    """A tensor of the class with the elements of `data`."""
    with Asking(False, False):
        made = data.detach().as_subclass(cls)
        return made.requires_grad_() if require_grad else made


def make_wrapper_subclass(
    cls, size, strides=None, storage_offset=None, memory_format=None, dtype=None, layout=None, device=None, pin_memory=False,
    requires_grad=False, dispatch_sizes_strides_policy=None, dispatch_device=False, dispatch_layout=False, **unused,
):  # fmt: skip
    """A tensor of the class that looks like one of that size. Its elements are nobody's: __torch_dispatch__ gives meaning to it."""
    with Asking(False, False):
        if strides is None:
            like = C.empty(tuple(size), dtype=dtype, device=device)
        else:
            room = 1 + sum((n - 1) * step for n, step in zip(size, strides)) if all(size) else 0
            like = C.empty(room, dtype=dtype, device=device).as_strided(tuple(size), tuple(strides))
        made = C._wrapper_tensor(cls, like)
        return made.requires_grad_() if requires_grad else made


def copied(tensor, memo):
    """A wrapper's clone(), for copy.deepcopy()."""
    with C.no_grad():
        made = tensor.detach().clone()
    kind = type(tensor)
    if type(made) is not getattr(kind, "_kind", kind):
        raise RuntimeError(
            "The default implementation of __deepcopy__() for wrapper subclasses only works for subclass types that properly implement "
            f"clone(): that of {kind.__name__} gives a {type(made).__name__}."
        )
    memo[id(tensor)] = made
    made.__dict__.update(copy.deepcopy(tensor.__dict__, memo))
    if type(made) is not kind:
        made.__class__ = kind
    return made.requires_grad_(tensor.requires_grad) if tensor.requires_grad else made


def reduced(tensor):
    """What is pickled of a wrapper."""
    from .._files.names import wrapper_parts

    return wrapper_parts(tensor)
