"""Scans with a function of one's own."""

import _terra_C as C

from .._names import lazily
from ..utils import _pytree


def associative_scan(combine_fn, xs, dim, reverse=False, combine_mode="pointwise"):
    """What combine_fn makes of the first element along `dim`, of the first two, the first three, and so on.

    xs is a tensor, or containers with tensors of one size there. Each of the log2(n) calls takes all elements at once."""
    if not callable(combine_fn):
        raise ValueError(f"Combine_fn must be a callable, but got {combine_fn}")
    if combine_mode not in ("pointwise", "generic"):
        raise ValueError(f"Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}")
    leaves, spec = _pytree.tree_flatten(xs)
    if not leaves:
        raise ValueError("Expected at least 1 xs leaf")
    leaves = [leaf.movedim(dim, 0) for leaf in leaves]
    if reverse:
        leaves = [leaf.flip(0) for leaf in leaves]
    size, distance = leaves[0].shape[0], 1
    while distance < size:
        before = spec.unflatten([leaf[: size - distance] for leaf in leaves])
        after = spec.unflatten([leaf[distance:] for leaf in leaves])
        combined = _pytree.tree_leaves(combine_fn(before, after))
        leaves = [C.cat([leaf[:distance], value]) for leaf, value in zip(leaves, combined)]
        distance *= 2
    if reverse:
        leaves = [leaf.flip(0) for leaf in leaves]
    return spec.unflatten([leaf.movedim(0, dim) for leaf in leaves])


__getattr__ = lazily(__name__)
