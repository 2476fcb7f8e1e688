"""torch.library: functions of the program's own as ops, as torch.ops.namespace.name. Here they are Python functions by
dispatch key, with a gradient of their own."""

import functools

from . import _aten
from ._missing_parts import sentences
from ._names import lazily
from ._schemas import Schema, infer_schema

__all__ = [
    "CustomOpDef", "Library", "custom_op", "define", "get_ctx", "impl", "infer_schema", "register_autograd", "register_fake",
    "register_kernel", "triton_op", "wrap_triton",
]  # fmt: skip

_OF_GRADIENTS = ("AutogradCPU", "Autograd")
_OF_VALUES = ("CPU", "CompositeExplicitAutograd", "CompositeImplicitAutograd")
_KEYS = {"cpu": "CPU", "cuda": "CUDA", "meta": "Meta", "default": "CompositeExplicitAutograd"}  # of device types


def _keys_of(device_types):
    """The dispatch keys of a device type, of several, or of all (None)."""
    kinds = ("default",) if device_types is None else (device_types,) if isinstance(device_types, str) else device_types
    return [_KEYS.get(kind, kind) for kind in kinds]


class BelowAutograd:
    """torch._C._AutoDispatchBelowAutograd: a context in which ops pass over their functions for gradients, so that these can
    call the op itself."""

    depth = 0

    def __enter__(self):
        BelowAutograd.depth += 1
        return self

    def __exit__(self, *exception):
        BelowAutograd.depth -= 1
        return False


class Op:
    """An op by its schema, with the functions that were registered for it."""

    _overload = None  # how torch.ops knows it
    records_gradients = False  # calls without a registered backward are recorded, to refuse when a gradient is asked for

    def __init__(self, name, schema):
        self._name, self._schema = name, Schema(name, schema)
        self._kernels = {}  # dispatch key -> function
        self._node = None  # the autograd.Function of register_autograd()
        self._fake = None

    def implement(self, key, function):
        self._kernels[key] = function

    def register_fake(self, fn):
        """Kept: shapes are known by running the function."""
        self._fake = fn
        return fn

    def register_autograd(self, backward, /, *, setup_context=None):
        """backward(ctx, *gradients) gives the gradients of the arguments; setup_context(ctx, inputs, output) keeps what it
        needs, and takes keyword_only_inputs as well where the schema has such arguments."""
        from .autograd import Function

        op = self
        has_named = any(a.kwarg_only for a in self._schema.arguments)

        class Node(Function):
            @staticmethod
            def forward(ctx, *args_and_named):
                *args, named = args_and_named
                result = op._function(_OF_VALUES)(*args, **named)
                if setup_context is not None:
                    more = {"keyword_only_inputs": named} if has_named else {}
                    setup_context(ctx=ctx, inputs=tuple(args), output=result, **more)
                return tuple(result) if isinstance(result, list) else result

            @staticmethod
            def backward(ctx, *gradients):
                given = backward(ctx, *gradients)
                return *(given if isinstance(given, tuple) else (given,)), None

        Node.__name__ = "GeneratedBackwardFor_" + self._name.replace("::", "_") + "_default"
        self._node = Node

    def _function(self, keys):
        for key in keys:
            if key in self._kernels:
                return self._kernels[key]
        return None

    def _refuse_gradient(self, ctx, *gradients):
        raise RuntimeError(
            f"Trying to backward through {self._name.replace('::', '.')}.default but no autograd formula was registered. "
            "Please use register_autograd to add one."
        )

    def __call__(self, *args, **kwargs):
        if _aten.in_use and self._overload is not None:
            from ._aten import dispatch

            if dispatch.is_seen(args, kwargs):
                return dispatch.below_gradients(self._overload, args, kwargs)
        if BelowAutograd.depth == 0:
            own = self._function(_OF_GRADIENTS)
            if own is not None:
                args, named = self._schema.bound(args, kwargs)
                return own(*args, **named)
            if self._node is None and self.records_gradients:
                self.register_autograd(self._refuse_gradient)
            if self._node is not None:
                args, named = self._schema.bound(args, kwargs, fill=True)
                result = self._node.apply(*args, named)
                return list(result) if self._schema.returns == ["Tensor[]"] else result
        args, named = self._schema.bound(args, kwargs)
        function = self._function(_OF_VALUES)
        if function is None:
            raise NotImplementedError(
                f"Could not run '{self._name}' with arguments from the 'CPU' backend: there is no function for it; "
                f"those of {sorted(self._kernels)} were registered."
            )
        return function(*args, **named)

    def __repr__(self):
        return f"<{type(self).__name__}({self._name})>"


class CustomOpDef(Op):
    """A function under a name `namespace::op`, with a backward if it was registered."""

    records_gradients = True

    def __init__(self, name, function, mutates_args, schema=None):
        super().__init__(name, schema or infer_schema(function, mutates_args=mutates_args))
        self.mutates_args = mutates_args
        functools.update_wrapper(self, function)

    register_abstract = Op.register_fake

    def register_kernel(self, device_types, func=None):
        """Another function for the CPU; those for other devices are never asked for."""

        def register(function):
            for key in _keys_of(device_types):
                self.implement(key, function)
            return function

        return register if func is None else register(func)


def custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None, tags=None):
    """A decorator: the function under a name."""
    if "::" not in name:
        raise ValueError(f"custom_op: the name has the form 'namespace::op', got '{name}'")

    def make(function):
        from . import ops

        op = CustomOpDef(name, function, mutates_args, schema)
        op.register_kernel(device_types, function)
        ops.add(name, op)
        return op

    return make if fn is None else make(fn)


def triton_op(name, fn=None, /, *, mutates_args, schema=None):
    """The same, of a function that would launch Triton's kernels on devices that have them."""
    return custom_op(name, fn, mutates_args=mutates_args, schema=schema)


def wrap_triton(triton_kernel, /):
    """The kernel as it is: nobody traces its launch."""
    return triton_kernel


def _made_before(op):
    """An op of the program's, given as it is, as an overload of torch.ops, or by its name."""
    if isinstance(op, Op):
        return op
    from . import ops

    name = op if isinstance(op, str) else op.name()
    found = ops.find(name)
    if found is None:
        raise RuntimeError(f"operator {name} does not exist: torch.library.define and custom_op make ops.")
    return found


def define(qualname, schema, *, lib=None, tags=()):
    """Makes the op `namespace::name` of that schema, which `impl` and the register functions give what it does."""
    if not isinstance(qualname, str):
        raise ValueError(f"define(qualname, schema): expected qualname to be instance of str, got {type(qualname)}")
    namespace, colons, name = qualname.partition("::")
    if not colons or not namespace or not name:
        raise ValueError(
            f'Expected `qualname` to be of the form "namespace::name", but got {qualname}. The qualname passed to the '
            "torch.library APIs must consist of a namespace and a name, e.g. aten::sin"
        )
    from . import ops

    op = Op(qualname, schema)
    if ops.find(qualname) is not None:
        raise RuntimeError(
            f"Tried to register an operator ({op._schema}) with the same name and overload name multiple times. Each "
            "overload's schema should only be registered with a single call to def()."
        )
    ops.add(qualname, op)


def _registered(register, func):
    """func, registered; or a decorator that registers what it is given."""

    def decorate(function):
        register(function)
        return function

    return decorate if func is None else decorate(func)


def impl(qualname, types, func=None, *, lib=None):
    """What an op does for device types: impl("ns::op", "cpu")(function); or for a key: impl(library, "op", "CPU")."""
    if isinstance(qualname, Library):
        library, name, key = qualname, types, func or ""
        return lambda function: _registered(lambda f: library.impl(name, f, key), function)
    op = _made_before(qualname)
    return _registered(lambda f: [op.implement(key, f) for key in _keys_of(types)], func)


def register_kernel(op, device_types, func=None, /, *, lib=None):
    """The same for an op that is given by its name or as it is; None is all device types."""
    op = _made_before(op)
    return _registered(lambda f: [op.implement(key, f) for key in _keys_of(device_types)], func)


def register_fake(op, func=None, /, *, lib=None, _stacklevel=1, allow_override=False):
    """Of an op that is given by its name or as it is."""
    return _registered(_made_before(op).register_fake, func)


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    """Of an op that is given by its name or as it is."""
    _made_before(op).register_autograd(backward, setup_context=setup_context)


def get_ctx():
    """Functions of register_fake() may ask for it; nobody calls them here."""
    raise RuntimeError("get_ctx() can only be called in a function of register_fake(), and Terra knows shapes without them.")


class Library:
    """Ops of one namespace: made (DEF, or FRAGMENT for more of them) or only given functions (IMPL)."""

    KINDS = ("DEF", "IMPL", "FRAGMENT")

    def __init__(self, ns, kind, dispatch_key=""):
        if kind not in self.KINDS:
            raise ValueError(f"Unsupported kind: {kind}")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def define(self, schema, alias_analysis="", *, tags=()):
        """Makes the op of a schema that begins with its name, and gives the name."""
        if self.kind == "IMPL":
            raise RuntimeError("define() can't be called on a Library of kind IMPL: it only gives functions to ops.")
        name, bracket, rest = schema.partition("(")
        define(f"{self.ns}::{name.strip()}", bracket + rest)
        return name.strip()

    def impl(self, op_name, fn, dispatch_key="", *, with_keyset=False, allow_override=False):
        """Gives an op its function for a dispatch key: the library's own, or that of all backends."""
        name = op_name if isinstance(op_name, str) else op_name.name()
        op = _made_before(name if "::" in name else f"{self.ns}::{name}")
        op.implement(dispatch_key or self.dispatch_key or "CompositeImplicitAutograd", fn)

    def __repr__(self):
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"


globals().update(sentences("torch.library", ("opcheck", "register_torch_dispatch", "register_vmap")))

__getattr__ = lazily(__name__)
