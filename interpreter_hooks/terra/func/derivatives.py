"""Functions that give derivatives of functions."""

import functools

import _terra_C as C

from ..utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten
from .batches import check_randomness

_depth = [0]
_made = [[]]  # the leaves that the outermost call under way has made


def _leaf(t):
    t = t.detach().requires_grad_()
    _made[0].append(t)
    return t


def _inputs(tree):
    """The tensors of a container as inputs of a graph, with their history where they have one."""

    def fresh(t):
        if not isinstance(t, C.Tensor):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(t)}")
        return t.view_as(t) if t.requires_grad else _leaf(t)

    return tree_map(fresh, tree)


class _Inside:
    """While the function runs, derivatives that it takes itself keep their history. Results of an outermost call have
    one where it leads to what the program differentiates itself: `grad(lambda x: (x * x * w).sum())(x)` is a function of
    w."""

    def __init__(self, args):
        self.records = C.is_grad_enabled()
        self.keep = _depth[0] > 0 or (
            self.records and any(isinstance(t, C.Tensor) and t.requires_grad for t in tree_leaves(args))
        )
        self.made = _made[0] if _depth[0] > 0 else []

    def settled(self, tree):
        return tree if self.keep else tree_map(self._settled_leaf, tree)

    def settled_later(self, tree, given):
        """Of a call that comes when the function has run, with more that it is given."""
        if _depth[0] > 0:
            _made[0].extend(self.made)
        return tree if _depth[0] > 0 or any(t.requires_grad for t in given) else self.settled(tree)

    def _settled_leaf(self, t):
        if not isinstance(t, C.Tensor) or (self.records and t.requires_grad and C._leads_past(t, self.made)):
            return t
        return t.detach()

    def __enter__(self):
        _made[0] = self.made
        _depth[0] += 1
        self._grad = C.enable_grad()
        self._grad.__enter__()
        return self

    def __exit__(self, *exception):
        self._grad.__exit__(*exception)
        _depth[0] -= 1
        if _depth[0] == 0:
            _made[0] = []
        return False


def check_tangent(primal, tangent):
    if primal.shape != tangent.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(primal.shape)} while the given forward gradient is of size "
            f"{list(tangent.shape)}."
        )


def _with_aux(call, result, has_aux):
    if not has_aux:
        return result, None
    if not isinstance(result, tuple) or len(result) != 2:
        raise RuntimeError(f"{call}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return result


def _places(argnums, count):
    """The numbers of the arguments that derivatives are taken of."""
    if not isinstance(argnums, (int, tuple)):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    if not numbers:
        raise RuntimeError("argnums must be non-empty")
    if len(set(numbers)) != len(numbers):
        raise RuntimeError(f"argnums elements must be unique, got {numbers}")
    for number in numbers:
        if not -count <= number < count:
            raise RuntimeError(f"Got argnum={number}, but only {count} positional inputs")
    return numbers


def _check_tensors(what, leaves):
    for leaf in leaves:
        if not isinstance(leaf, C.Tensor):
            raise RuntimeError(f"{what}, got {'unsupported type ' if 'only tensors' in what else ''}{type(leaf)}")


def _gradients(outputs, inputs, weights):
    """Of the sum of outputs times weights, zeros where nothing depends on an input."""
    pairs = [(o, w) for o, w in zip(outputs, weights) if isinstance(o, C.Tensor) and o.requires_grad]
    if not pairs:
        return [C.zeros_like(t) for t in inputs]
    found = C.grad([o for o, _ in pairs], inputs, [w for _, w in pairs], create_graph=True, allow_unused=True)
    return [C.zeros_like(t) if g is None else g for t, g in zip(inputs, found)]


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that gives (gradient, value), or (gradient, (value, aux))."""

    @functools.wraps(func)
    def both(*args, **kwargs):
        numbers = _places(argnums, len(args))
        with _Inside((args, kwargs)) as inside:
            args = list(args)
            for i in numbers:
                args[i] = _inputs(args[i])
            call = "grad_and_value(f)(*args)"
            value, aux = _with_aux(call, func(*args, **kwargs), has_aux)
            if not isinstance(value, C.Tensor):
                raise RuntimeError(f"{call}: Expected f(*args) to return a Tensor, got {type(value)}")
            if value.dim() != 0:
                raise RuntimeError(
                    f"{call}: Expected f(*args) to return a scalar Tensor, got tensor with {value.dim()} dims. Maybe you "
                    "wanted to use the vjp or jacrev APIs instead?"
                )
            leaves, spec = tree_flatten([args[i] for i in numbers])
            found = tree_unflatten(_gradients([value], leaves, [C.ones_like(value)]), spec)
        found = inside.settled(found[0] if isinstance(argnums, int) else tuple(found))
        value, aux = inside.settled(value), inside.settled(aux)
        return found, ((value, aux) if has_aux else value)

    return both


def grad(func, argnums=0, has_aux=False):
    """A function that gives the gradient of func's one number with respect to an argument."""
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def gradient(*args, **kwargs):
        found, value = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def vjp(func, *primals, has_aux=False):
    """(func(*primals), a function from a cotangent to gradients of all primals)."""
    with _Inside(primals) as inside:
        inputs = _inputs(primals)
        output, aux = _with_aux("vjp(f, *primals)", func(*inputs), has_aux)
    outputs, out_spec = tree_flatten(output)
    _check_tensors("vjp(f, *primals): expected f(*primals) to return only tensors", outputs)
    leaves, spec = tree_flatten(inputs)

    def pull(cotangents, retain_graph=True, create_graph=None):
        weights, given = tree_flatten(cotangents)
        if given != out_spec:
            raise RuntimeError(f"Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. cotangents: {given}, primal output: {out_spec}")
        found = inside.settled_later(tree_unflatten(_gradients(outputs, leaves, weights), spec), weights)
        return found if len(primals) > 1 else found[0:1]

    shown = inside.settled(output)
    return (shown, pull, inside.settled(aux)) if has_aux else (shown, pull)


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """(func(*primals), its derivative along the tangents), as the gradient of a gradient."""
    call = "jvp(f, primals, tangents)"
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{call}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    (points, point_spec), (directions, direction_spec) = tree_flatten(primals), tree_flatten(tangents)
    if point_spec != direction_spec:
        raise RuntimeError(
            f"{call}: Expected primals and tangents to have the same python structure. For example, if primals is a tuple of "
            f"3 tensors, tangents also must be. Got primals with structure {point_spec} and tangents with structure "
            f"{direction_spec}"
        )
    if not points:
        raise RuntimeError(f"{call}: Expected primals to contain at least one Tensor.")
    _check_tensors(f"{call}: Expected primals to only contain Tensors", points)
    _check_tensors(f"{call}: Expected tangents to only contain Tensors", directions)
    for point, direction in zip(points, directions):
        check_tangent(point, direction)
    with _Inside((primals, tangents)) as inside:
        inputs = _inputs(primals)
        output, aux = _with_aux(call, func(*inputs), has_aux)
        outputs, out_spec = tree_flatten(output)
        _check_tensors(f"{call}: expected f(*primals) to return only tensors", outputs)
        leaves = tree_leaves(inputs)
        weights = [_leaf(C.zeros_like(o)) for o in outputs]
        found = _gradients(outputs, leaves, weights)
        along = tree_unflatten(_gradients(found, weights, directions), out_spec)
    output, along = inside.settled(output), inside.settled(along)
    return (output, along, inside.settled(aux)) if has_aux else (output, along)


def linearize(func, *primals):
    """(func(*primals), a function from tangents to the derivative along them). The function runs once for all tangents."""
    with _Inside(primals) as inside:
        inputs = _inputs(primals)
        outputs, out_spec = tree_flatten(func(*inputs))
        leaves, spec = tree_flatten(inputs)
        weights = [_leaf(C.zeros_like(o)) for o in outputs]
        found = _gradients(outputs, leaves, weights)

    def along(*tangents):
        directions, given = tree_flatten(tangents)
        if given != spec:
            raise RuntimeError(f"Expected the tangents {given} to have the same argspec as the primals {spec}")
        for i, (direction, leaf) in enumerate(zip(directions, leaves)):
            for what in ("shape", "device", "dtype"):
                ours, theirs = getattr(direction, what), getattr(leaf, what)
                if ours != theirs:
                    raise RuntimeError(
                        f"tangent:{i} with {what} {ours} in flattened pytree doesn't match the {what} {theirs} of the "
                        "corresponding primal."
                    )
        return inside.settled_later(tree_unflatten(_gradients(found, weights, directions), out_spec), directions)

    return inside.settled(tree_unflatten(outputs, out_spec)), along


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    """A function that gives the Jacobian: for each output a tensor of the output's and then the argument's sizes."""
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")
    return _jacobian_of(func, argnums, has_aux, "vjp(f, *primals)")


def _jacobian_of(func, argnums, has_aux, call):
    @functools.wraps(func)
    def jacobian(*args, **kwargs):
        numbers = _places(argnums, len(args))
        with _Inside((args, kwargs)) as inside:
            args = list(args)
            for i in numbers:
                args[i] = _inputs(args[i])
            output, aux = _with_aux(call, func(*args, **kwargs), has_aux)
            outputs, out_spec = tree_flatten(output)
            _check_tensors(f"{call}: expected f(*primals) to return only tensors", outputs)
            leaves, spec = tree_flatten([args[i] for i in numbers])
            blocks = [_block(o, leaves) for o in outputs]
        result = []
        for block in blocks:
            parts = tree_unflatten([inside.settled(t) for t in block], spec)
            result.append(parts[0] if isinstance(argnums, int) else tuple(parts))
        result = tree_unflatten(result, out_spec)
        return (result, inside.settled(aux)) if has_aux else result

    return jacobian


def _block(output, leaves):
    """The Jacobians of one output."""
    rows = []
    for k in range(output.numel()):
        weight = C.zeros_like(output).flatten()
        weight[k] = 1.0
        rows.append(_gradients([output], leaves, [weight.view(output.shape)]))
    if not rows:
        return [C.zeros((*output.shape, *t.shape), dtype=t.dtype) for t in leaves]
    return [C.stack(column).view((*output.shape, *t.shape)) for column, t in zip(zip(*rows), leaves)]


def jacfwd(func, argnums=0, has_aux=False, *, chunk_size=None, randomness="error"):
    """The same values as jacrev, computed the same way."""
    check_randomness(randomness)
    return _jacobian_of(func, argnums, has_aux, "jvp(f, primals, tangents)")


def hessian(func, argnums=0):
    return jacfwd(jacrev(func, argnums), argnums)
