"""Loops with a state, as a function."""

import _terra_C as C

from .._names import lazily
from ..utils import _pytree


def scan(combine_fn, init, xs, *, dim=0, reverse=False):
    """(the last state, the outputs along `dim`): combine_fn(state, x) -> (state, output) for one x after another."""
    if not callable(combine_fn):
        raise RuntimeError(f"Combine_fn must be a callable, but got {combine_fn}")
    leaves, spec = _pytree.tree_flatten(xs)
    if not leaves:
        raise RuntimeError("Expected at least one xs leaf")
    columns = [leaf.unbind(dim) for leaf in leaves]
    state, rows, form = init, [], None
    for i in reversed(range(len(columns[0]))) if reverse else range(len(columns[0])):
        state, output = combine_fn(state, spec.unflatten([column[i] for column in columns]))
        row, form = _pytree.tree_flatten(output)
        rows.append(row)
    if reverse:
        rows.reverse()
    return state, form.unflatten([C.stack(column, dim) for column in zip(*rows)])


__getattr__ = lazily(__name__)
