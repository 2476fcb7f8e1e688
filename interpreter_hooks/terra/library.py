"""torch.library: functions of the program's own as ops. Here they are Python functions with a gradient of their own."""

import functools

from ._missing_parts import sentences
from ._names import lazily

__all__ = ["CustomOpDef", "custom_op"]


class CustomOpDef:
    """A function under a name `namespace::op`, with a backward if it was registered."""

    def __init__(self, name, function, mutates_args):
        self._name, self._function, self.mutates_args = name, function, mutates_args
        self._backward = self._setup = self._fake = None
        functools.update_wrapper(self, function)

    def register_fake(self, fn):
        """Kept: shapes are known by running the function."""
        self._fake = fn
        return fn

    register_abstract = register_fake

    def register_kernel(self, device_types, func=None):
        """Another function for the CPU; those for other devices are never asked for."""

        def register(function):
            kinds = (device_types,) if isinstance(device_types, str) else device_types
            if kinds is None or "cpu" in kinds:
                self._function = function
            return function

        return register if func is None else register(func)

    def register_autograd(self, backward, /, *, setup_context=None):
        """backward(ctx, *gradients) gives the gradients of the arguments; setup_context(ctx, inputs, output) keeps what it
        needs."""
        from .autograd import Function

        op = self

        class Op(Function):
            @staticmethod
            def forward(ctx, *args):
                result = op._function(*args)
                if setup_context is not None:
                    setup_context(ctx, args, result)
                return result

            @staticmethod
            def backward(ctx, *gradients):
                return backward(ctx, *gradients)

        self._backward = Op

    def __call__(self, *args, **kwargs):
        if self._backward is None:
            from ._C import no_grad

            with no_grad():
                return self._function(*args, **kwargs)
        import inspect

        bound = inspect.signature(self._function).bind(*args, **kwargs)
        bound.apply_defaults()
        return self._backward.apply(*bound.args, *bound.kwargs.values())

    def __repr__(self):
        return f"<CustomOpDef({self._name})>"


def custom_op(name, fn=None, /, *, mutates_args, device_types=None, schema=None, tags=None):
    """A decorator: the function under a name."""
    if "::" not in name:
        raise ValueError(f"custom_op: the name has the form 'namespace::op', got '{name}'")

    def make(function):
        from . import ops

        op = CustomOpDef(name, function, mutates_args)
        ops.add(name, op)
        return op

    return make if fn is None else make(fn)


def _made_before(op, function):
    """A CustomOpDef, given as it is or by its name."""
    if isinstance(op, str):
        from . import ops

        op = ops.find(op)
    if not isinstance(op, CustomOpDef):
        raise NotImplementedError(f"torch.library.{function}: Terra knows ops that custom_op made, not those of a Library.")
    return op


def register_fake(op, func=None, /, **_):
    """Of a CustomOpDef, or of its name."""
    op = _made_before(op, "register_fake")
    return op.register_fake if func is None else op.register_fake(func)


def register_autograd(op, backward, /, *, setup_context=None, lib=None):
    op = _made_before(op, "register_autograd")
    op.register_autograd(backward, setup_context=setup_context)


globals().update(sentences("torch.library", ("Library", "define", "impl", "opcheck", "register_kernel", "register_torch_dispatch", "register_vmap", "triton_op")))

__getattr__ = lazily(__name__)
