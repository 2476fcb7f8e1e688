"""Loops until a condition, as a function."""

import _terra_C as C

from .._names import lazily


def _goes_on(cond_fn, carried):
    going = cond_fn(*carried)
    if not isinstance(going, bool) and not (isinstance(going, C.Tensor) and going.dtype is C.bool and going.dim() == 0):
        raise RuntimeError(f"cond_fn must return a boolean scalar tensor or a boolean but got {going}")
    return going


def while_loop(cond_fn, body_fn, carried_inputs):
    """The values that body_fn(*values) has made of the first ones, over and over, by the time cond_fn(*values) is false."""
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("Expect cond_fn and body_fn to be callable.")
    if not isinstance(carried_inputs, (tuple, list)):
        raise RuntimeError(f"Expect carried_inputs to be a tuple or list, but got {type(carried_inputs)}.")
    carried = tuple(carried_inputs)
    while _goes_on(cond_fn, carried):
        made = body_fn(*carried)
        if not isinstance(made, (tuple, list)) or len(made) != len(carried):
            raise RuntimeError(f"body_fn should return as many values as are carried, {len(carried)}, but got {made}")
        carried = tuple(made)
    return carried


__getattr__ = lazily(__name__)
