"""Handles by which hooks are taken off again."""

import itertools
import weakref

_next_id = itertools.count()


class RemovableHandle:
    """Names one entry of a dict of hooks, which is held weakly: a handle keeps nothing alive. A plain dict can't be; it is
    given by a function that finds it.

    `extra` dicts share the key: options of the hook kept beside it."""

    def __init__(self, hooks, *, extra=()):
        self.id = next(_next_id)
        self._hooks = _reference(hooks)
        self._extra = tuple(_reference(d) for d in extra)

    def remove(self):
        for reference in (self._hooks, *self._extra):
            hooks = reference()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.remove()


class HookDict(dict):
    """An ordered dict of hooks that can be referred to weakly. That of a tensor knows as which hook the engine calls it."""

    __slots__ = ("__weakref__", "number")


def of_object(owner, name):
    """A reference to a dict of hooks that is an attribute of `owner`, which is held weakly."""
    owner = weakref.ref(owner)
    return lambda: getattr(owner(), name, None)


def _reference(hooks):
    if callable(hooks):
        return hooks
    try:
        return weakref.ref(hooks)
    except TypeError:  # a plain dict cannot be referred to weakly
        return lambda: hooks


def unserializable_hook(f):
    """Marks a hook that files don't keep."""
    f.__torch_unserializable__ = True
    return f


def warn_if_has_hooks(tensor):
    """Says that a tensor's hooks are not kept in a file."""
    import warnings

    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the function "
                "with @torch.utils.hooks.unserializable_hook to suppress this warning",
                stacklevel=2,
            )
