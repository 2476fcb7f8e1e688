"""vmap: one function for each element of a batch."""

import functools

import _terra_C as C

from ..utils._pytree import tree_flatten, tree_map, tree_unflatten


def _spread(in_dims, tree):
    """The batch dimension of each leaf of `tree`, from one number or containers of them."""
    if in_dims is None or isinstance(in_dims, int):
        return tree_map(lambda _: (in_dims,), tree)
    if isinstance(tree, dict):
        return {key: _spread(in_dims[key], value) for key, value in tree.items()}
    return type(tree)(_spread(dim, value) for dim, value in zip(in_dims, tree))


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that calls func for each index along the batch dimensions and stacks the results.

    Each call draws its own random numbers, whatever `randomness` says."""

    @functools.wraps(func)
    def mapped(*args, **kwargs):
        if isinstance(in_dims, (list, tuple)) and len(in_dims) != len(args):
            raise ValueError(f"vmap({getattr(func, '__name__', func)}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure of inputs.")
        leaves, spec = tree_flatten((args, kwargs))
        placed = (_spread(tuple(in_dims) if isinstance(in_dims, list) else in_dims, args), _spread(0, kwargs))
        dims = [d[0] for d in tree_flatten(placed, is_leaf=lambda v: isinstance(v, tuple) and len(v) == 1 and (v[0] is None or isinstance(v[0], int)))[0]]
        dims = [d if isinstance(t, C.Tensor) else None for d, t in zip(dims, leaves)]
        sizes = {t.size(d) for d, t in zip(dims, leaves) if d is not None}
        if not sizes:
            raise ValueError(f"vmap({getattr(func, '__name__', func)}, in_dims={in_dims}, ...)(<inputs>): Got no inputs with a batch dimension; there was nothing to map over")
        if len(sizes) > 1:
            raise ValueError(f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sorted(sizes)} for the mapped dimension")
        results = []
        for i in range(sizes.pop()):
            own = [t if d is None else t.select(d, i) for d, t in zip(dims, leaves)]
            own_args, own_kwargs = tree_unflatten(own, spec)
            results.append(func(*own_args, **own_kwargs))
        return _stacked(results, out_dims)

    return mapped


def _stacked(results, out_dims):
    rows = [tree_flatten(result) for result in results]
    spec = rows[0][1]
    count = spec.num_leaves
    if isinstance(out_dims, (tuple, list)):
        dims = list(out_dims) * (count if len(out_dims) == 1 else 1)
    else:
        dims = [out_dims] * count
    stacked = []
    for d, column in zip(dims, zip(*(leaves for leaves, _ in rows))):
        if not isinstance(column[0], C.Tensor):
            raise ValueError(f"vmap: the function must only return Tensors, got type {type(column[0])} as a return")
        stacked.append(column[0] if d is None else C.stack(column, d))
    return tree_unflatten(stacked, spec)


def stack_module_state(models):
    """(parameters, buffers) of several models of one kind, stacked by name."""
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if any(type(model) is not type(models[0]) for model in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    parameters = {
        name: C.stack([dict(model.named_parameters())[name].detach() for model in models]).requires_grad_(p.requires_grad)
        for name, p in models[0].named_parameters()
    }
    buffers = {name: C.stack([dict(model.named_buffers())[name] for model in models]) for name, _ in models[0].named_buffers()}
    return parameters, buffers
