"""torch.utils._python_dispatch: modes that see the ops of PyTorch's dispatcher, those of gradients too."""

import contextlib

import _terra_C as C

from .._names import lazily

__all__ = ["TorchDispatchMode"]


class TorchDispatchMode:
    """A context whose __torch_dispatch__ gets each op in place of the engine. What it calls itself is seen by the modes around
    it."""

    def __init__(self, _dispatch_key=None):
        """Nothing is kept before a mode is entered."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        raise NotImplementedError

    def __enter__(self):
        _push_mode(self)
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        _pop_mode()
        return False

    @classmethod
    def push(cls, *args, **kwargs):
        return cls(*args, **kwargs)


class BaseTorchDispatchMode(TorchDispatchMode):
    """Sees every op, and calls it."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _push_mode(mode):
    from .._aten import dispatch

    dispatch.push(mode)


def _pop_mode():
    from .._aten import dispatch

    return dispatch.pop()


@contextlib.contextmanager
def _pop_mode_temporarily():
    mode = _pop_mode()
    try:
        yield mode
    finally:
        _push_mode(mode)


@contextlib.contextmanager
def _disable_current_modes():
    """A context in which no mode is asked."""
    from .._aten import dispatch

    before, dispatch.state.modes = dispatch.state.modes, []
    try:
        with dispatch.Asking():
            yield before
    finally:
        dispatch.state.modes = before


def _get_current_dispatch_mode_stack():
    from .._aten import dispatch

    return list(dispatch.state.modes)


def _get_current_dispatch_mode():
    return next(reversed(_get_current_dispatch_mode_stack()), None)


def is_traceable_wrapper_subclass(t):
    """Whether a tensor is a wrapper that can say which tensors it is made of."""
    kind = t if isinstance(t, type) else type(t)
    return (
        kind is not C.Tensor
        and issubclass(kind, C.Tensor)
        and hasattr(kind, "__tensor_flatten__")
        and hasattr(kind, "__tensor_unflatten__")
    )


def return_and_correct_aliasing(func, args, kwargs, out):
    """The result of an op of wrappers: one that writes gives the argument that it wrote to."""
    return args[0] if func._opname.endswith("_") and not func._opname.endswith("__") else out


__getattr__ = lazily(__name__)
