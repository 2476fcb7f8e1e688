"""vmap: one function for each element of a batch."""

import functools
import typing

import _terra_C as C

from ..utils._pytree import tree_flatten, tree_map, tree_structure, tree_unflatten


_DRAWN = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness "
    "flags on vmap or perform the randomness operation out of vmap"
)


def _spread(in_dims, tree):
    """The batch dimension of each leaf of `tree`, from one number or containers of them."""
    if in_dims is None or isinstance(in_dims, int):
        return tree_map(lambda _: (in_dims,), tree)
    if isinstance(tree, dict):
        return {key: _spread(in_dims[key], value) for key, value in tree.items()}
    return type(tree)(_spread(dim, value) for dim, value in zip(in_dims, tree))


def check_randomness(randomness):
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
        )


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """A function that calls func for each index along the batch dimensions and stacks the results. Random numbers are an
    error, or each call draws its own ("different"), or all draw the same."""
    check_randomness(randomness)
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    name = getattr(func, "__name__", func)

    @functools.wraps(func)
    def mapped(*args, **kwargs):
        leaves, spec = tree_flatten(args)
        dims = _batch_dims(name, in_dims, args, leaves)
        sizes = [t.size(d) for d, t in zip(dims, leaves) if d is not None]
        if any(size != sizes[0] for size in sizes):
            raise ValueError(
                f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the "
                "mapped dimension"
            )
        if rule := _own_rule(func):
            info = VmapInfo(sizes[0], randomness)
            result, placed = rule(info, tuple(dims), *args, **kwargs)
            return tree_map(lambda t, d: t.expand(sizes[0], *t.shape) if d is None else t.movedim(d, 0), result, placed)
        results = []
        kept = C._keep_graphs(True)  # a pass in one call leaves its graph to the others
        state = None if randomness == "different" else C.default_generator.clone_state()
        try:
            for i in range(sizes[0]):
                if randomness == "same" and i > 0:
                    C.default_generator._go_to(state)
                own = [t if d is None else t.select(d, i) for d, t in zip(dims, leaves)]
                results.append(func(*tree_unflatten(own, spec), **kwargs))
                if randomness == "error" and not C.default_generator._is_at(state):
                    raise RuntimeError(_DRAWN)
        finally:
            C._keep_graphs(kept)
        return _stacked(name, results, out_dims)

    return mapped


class VmapInfo(typing.NamedTuple):
    """What a Function's own rule for batches is told."""

    batch_size: int
    randomness: str


def _own_rule(func):
    """The static method vmap(info, in_dims, *args) of a Function whose apply is mapped; None where it has none."""
    from ..autograd.function import Function

    owner = getattr(func, "__self__", None)
    of_function = isinstance(owner, type) and issubclass(owner, Function) and func.__name__ == "apply"
    return getattr(owner, "vmap", None) if of_function else None


def _batch_dims(name, in_dims, args, leaves):
    """The batch dimension of each leaf, None for those that every call gets whole."""
    call = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>)"
    if not isinstance(in_dims, (int, tuple, list)):
        raise ValueError(
            f"{call}: expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, got: "
            f"{type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a "
            "function with no inputs. The latter is unsupported."
        )
    try:
        if isinstance(in_dims, (list, tuple)) and len(in_dims) != len(args):
            raise ValueError
        placed = tree_flatten(_spread(tuple(in_dims) if isinstance(in_dims, list) else in_dims, args), is_leaf=_is_place)[0]
    except (ValueError, KeyError, TypeError, IndexError):
        raise ValueError(
            f"{call}: in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            f"{tree_structure(in_dims)} but inputs has structure {tree_structure(args)}."
        ) from None
    dims = [place[0] for place in placed]
    for d, leaf in zip(dims, leaves):
        if d is not None and not isinstance(leaf, C.Tensor):
            raise ValueError(
                f"{call}: Got in_dim={d} for an input but the input is of type {type(leaf)}. We cannot vmap over non-Tensor "
                "arguments, please use None as the respective in_dim"
            )
        if d is not None and not -leaf.dim() <= d < leaf.dim():
            raise ValueError(
                f"{call}: Got in_dim={d} for some input, but that input is a Tensor of dimensionality {leaf.dim()} so "
                f"expected in_dim to satisfy -{leaf.dim()} <= in_dim < {leaf.dim()}."
            )
    if all(d is None for d in dims):
        raise ValueError(f"{call}: at least one input has to be mapped over")
    return dims


def _is_place(value):
    return isinstance(value, tuple) and len(value) == 1 and (value[0] is None or isinstance(value[0], int))


def _stacked(name, results, out_dims):
    rows = [tree_flatten(result) for result in results]
    spec = rows[0][1]
    call = f"vmap({name}, ..., out_dims={out_dims})"
    given, given_spec = tree_flatten(out_dims, is_leaf=lambda d: d is None)
    if not all([d is None or isinstance(d, int) for d in given]):
        raise ValueError(
            f"{call}: `out_dims` must be an int, None or a python collection of ints representing where in the outputs the "
            "vmapped dimension should appear."
        )
    one = out_dims is None or isinstance(out_dims, int) or (spec.num_leaves == 1 and given_spec.num_leaves == 1)
    dims = given * spec.num_leaves if one else given
    if not one and given_spec != spec:
        raise ValueError(
            f"{call}(<inputs>): out_dims is not compatible with the structure of `outputs`. out_dims has structure "
            f"{given_spec} but outputs has structure {spec}."
        )
    stacked = []
    for d, column in zip(dims, zip(*[leaves for leaves, _ in rows])):
        is_tensor = isinstance(column[0], C.Tensor)
        if d is None and is_tensor:
            raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        if d is not None and not is_tensor:
            raise ValueError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(column[0])}. Did you mean to set "
                "out_dims= to None for output?"
            )
        stacked.append(column[0] if d is None else C.stack(column, d))
    return tree_unflatten(stacked, spec)


def stack_module_state(models):
    """(parameters, buffers) of several models of one kind, stacked by name."""
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if any(type(model) is not type(models[0]) for model in models):
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    if any(model.training != models[0].training for model in models):
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    parameters = {
        name: C.stack([dict(model.named_parameters())[name].detach() for model in models]).requires_grad_(p.requires_grad)
        for name, p in models[0].named_parameters()
    }
    buffers = {name: C.stack([dict(model.named_buffers())[name] for model in models]) for name, _ in models[0].named_buffers()}
    return parameters, buffers
