"""Gradients of PyTorch's ops, written in its ops, so that modes and subclasses see those of a backward pass as well.

An entry says for each operand how its gradient follows from g, that of the result (of several results: the list of theirs, None
where none arrived), and c, the call: its arguments by name, its result `out`, its results `outs` as far as SAVED says so. An op
without an entry is differentiated by the engine, and nobody sees how."""

import math
import types

import _terra_C as C

from ..autograd.function import Function, FunctionCtx
from ..ops import aten
from . import arguments, schemas

# Results have no gradient.
CONSTANT = frozenset((
    "detach", "zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like", "new_zeros", "new_ones",
    "new_empty", "new_full", "argmax", "argmin", "argsort", "eq", "ne", "lt", "le", "gt", "ge", "equal", "allclose", "isnan",
    "isinf", "nonzero", "sign", "_local_scalar_dense", "logical_not", "logical_and", "logical_or", "logical_xor", "bernoulli",
    "bernoulli_", "multinomial", "floor_divide", "all", "any",
))  # fmt: skip


# ---- pieces ----------------------------------------------------------------------------------------------------------
def _fitted(g, tensor):
    """A gradient summed up to the shape of the operand, which was broadcast, in its dtype."""
    shape, lead = list(tensor.shape), g.dim() - tensor.dim()
    dims = [*range(lead), *(d + lead for d, n in enumerate(shape) if n == 1 and g.shape[d + lead] != 1)]
    if not shape and lead > 0:
        g, lead = aten.sum.default(g), 0
    elif dims:
        g = aten.sum.dim_IntList(g, dims, True)
    if lead > 0:
        g = aten.view.default(g, shape)
    return g if g.dtype == tensor.dtype else aten._to_copy.default(g, dtype=tensor.dtype)


def _scaled(g, factor):
    return g if type(factor) in (int, float) and factor == 1 else aten.mul.Tensor(g, factor)


def _zero(g):
    return aten.scalar_tensor.default(0, dtype=g.dtype, layout=C.strided, device=g.device)


def _zeros_like(g, tensor):
    return aten.new_zeros.default(g, list(tensor.shape))


def _within(g, c):
    """g where the bounds of clamp() let the element through."""
    for bound, compared in ((c.min, aten.ge), (c.max, aten.le)):
        if bound is not None:
            kept = compared.Tensor if isinstance(bound, C.Tensor) else compared.Scalar
            g = aten.where.self(kept(c.self, bound), g, _zero(g))
    return g


def _converted_back(g, c):
    if g.dtype == c.self.dtype:
        return g
    return aten._to_copy.default(g, dtype=c.self.dtype, layout=C.strided, device=c.self.device)


def _by_columns(matrix):
    return matrix.dim() == 2 and matrix.stride() == (1, matrix.size(0)) and 1 not in matrix.shape


def _first_of_product(g, other, first):
    if _by_columns(first):
        return aten.t.default(aten.mm.default(other, aten.t.default(g)))
    return aten.mm.default(g, aten.t.default(other))


def _second_of_product(g, first, second):
    if _by_columns(second):
        return aten.t.default(aten.mm.default(aten.t.default(g), first))
    return aten.mm.default(aten.t.default(first), g)


def _turned(x):
    return aten.transpose.int(x, 1, 2)


def _for_each(g, c):
    return aten.expand.default(aten.unsqueeze.default(g, 0), [c.batch1.shape[0], *g.shape])


def _shaped(g, shape):
    """g in another shape, copied if it has to be."""
    from .composites import reshape

    return reshape(g, list(shape))


def _spread(g, c):
    """The gradient of a reduction, over all elements that were reduced."""
    dims = _dims(c)
    if dims is not None and not c.keepdim:
        for d in sorted(dims):
            g = aten.unsqueeze.default(g, d)
    return aten.expand.default(g, list(c.self.shape))


def _dims(c):
    dims = getattr(c, "dim", None)
    if dims is None or dims == []:
        return None
    return [d % max(c.self.dim(), 1) for d in ([dims] if isinstance(dims, int) else dims)]


def _count(c):
    dims = _dims(c)
    return c.self.numel() if dims is None else math.prod(c.self.shape[d] for d in dims)


def _permuted_back(g, c):
    places = [d % len(c.dims) for d in c.dims]
    return aten.permute.default(g, [places.index(i) for i in range(len(places))])


def _squeezed_back(g, c):
    dims = _dims(c) if hasattr(c, "dim") else range(c.self.dim())
    for d in dims:
        if c.self.shape[d] == 1:
            g = aten.unsqueeze.default(g, d)
    return g


def _power(g, c):
    if c.exponent == 0:
        return aten.zeros_like.default(c.self)
    exponent = c.exponent if isinstance(c.exponent, complex) else float(c.exponent)
    return aten.mul.Tensor(g, aten.mul.Scalar(aten.pow.Tensor_Scalar(c.self, exponent - 1), exponent))


def _joined_back(g, c):
    dim, start, parts = c.dim % g.dim(), 0, []
    for tensor in c.tensors:
        parts.append(aten.slice.Tensor(g, dim, start, start + tensor.shape[dim]))
        start += tensor.shape[dim]
    return parts


def _zeros_for(gradients, c):
    return [
        aten.zeros.default(list(shape), dtype=dtype, layout=C.strided, device=c.self.device) if g is None else g
        for g, (shape, dtype) in zip(gradients, c.like)
    ]


def _split_back(g, c):
    return aten.cat.default(_zeros_for(g, c), c.dim)


def _unbound_back(g, c):
    return aten.stack.default(_zeros_for(g, c), c.dim)


def _several(op, names):
    """Entries of an op whose backward gives the gradients of several operands at once: `op(g, c, mask)`."""

    def part(i):
        def gradient(g, c):
            if not hasattr(c, "together"):
                c.together = op(g, c, [name in c.needed for name in names])
            return c.together[i]

        return gradient

    return {name: part(i) for i, name in enumerate(names)}


def _convolution(g, c, mask):
    sizes = None if c.bias is None else list(c.bias.shape)
    return aten.convolution_backward.default(
        g, c.input, c.weight, sizes, c.stride, c.padding, c.dilation, c.transposed, c.output_padding, c.groups, mask
    )


def _layer_norm(g, c, mask):
    return aten.native_layer_norm_backward.default(g[0], c.input, c.normalized_shape, c.outs[1], c.outs[2], c.weight, c.bias, mask)


def _batch_norm(g, c, mask):
    return aten.native_batch_norm_backward.default(
        g[0], c.input, c.weight, c.running_mean, c.running_var, c.outs[1], c.outs[2], c.training, c.eps, mask
    )


def _group_norm(g, c, mask):
    return aten.native_group_norm_backward.default(g[0], c.input, c.outs[1], c.outs[2], c.weight, c.N, c.C, c.HxW, c.group, mask)


def _attention(g, c, mask):
    named = {name: getattr(c, name) for name in ("attn_mask", "scale") if getattr(c, name) is not None}
    return aten._scaled_dot_product_flash_attention_for_cpu_backward.default(
        g[0], c.query, c.key, c.value, c.outs[0], c.outs[1], c.dropout_p, c.is_causal, **named
    )


def _of_pair(first, second):
    """Entries of an op on two operands that are broadcast."""
    return {"self": lambda g, c: _fitted(first(g, c), c.self), "other": lambda g, c: _fitted(second(g, c), c.other)}


# ---- the ops ---------------------------------------------------------------------------------------------------------
FORMULAS = {
    "add": _of_pair(lambda g, c: g, lambda g, c: _scaled(g, c.alpha)),
    "sub": _of_pair(lambda g, c: g, lambda g, c: _scaled(aten.neg.default(g), c.alpha)),
    "rsub": {"self": lambda g, c: aten.neg.default(g)},
    "mul": _of_pair(lambda g, c: aten.mul.Tensor(g, c.other), lambda g, c: aten.mul.Tensor(g, c.self)),
    "mul.Scalar": {"self": lambda g, c: aten.mul.Scalar(g, c.other)},
    "div.Scalar": {"self": lambda g, c: aten.div.Scalar(g, c.other)},
    "div": _of_pair(
        lambda g, c: aten.div.Tensor(g, c.other),
        lambda g, c: aten.mul.Tensor(aten.neg.default(g), aten.div.Tensor(aten.div.Tensor(c.self, c.other), c.other)),
    ),
    "pow.Tensor_Scalar": {"self": _power},
    "neg": {"self": lambda g, c: aten.neg.default(g)},
    "abs": {"self": lambda g, c: aten.mul.Tensor(g, aten.sgn.default(c.self))},
    "exp": {"self": lambda g, c: aten.mul.Tensor(g, c.out)},
    "log": {"self": lambda g, c: aten.div.Tensor(g, c.self)},
    "sqrt": {"self": lambda g, c: aten.div.Tensor(g, aten.mul.Scalar(c.out, 2))},
    "rsqrt": {"self": lambda g, c: aten.mul.Tensor(aten.mul.Scalar(g, -0.5), aten.pow.Tensor_Scalar(c.out, 3))},
    "sin": {"self": lambda g, c: aten.mul.Tensor(g, aten.cos.default(c.self))},
    "cos": {"self": lambda g, c: aten.mul.Tensor(g, aten.neg.default(aten.sin.default(c.self)))},
    "tanh": {"self": lambda g, c: aten.tanh_backward.default(g, c.out)},
    "sigmoid": {"self": lambda g, c: aten.sigmoid_backward.default(g, c.out)},
    "relu": {"self": lambda g, c: aten.threshold_backward.default(g, c.out, 0)},
    "gelu": {
        "self": lambda g, c: aten.gelu_backward.default(
            g, c.self, **({} if c.approximate == "none" else {"approximate": c.approximate})
        )
    },
    "silu": {"self": lambda g, c: aten.silu_backward.default(g, c.self)},
    "leaky_relu": {"self": lambda g, c: aten.leaky_relu_backward.default(g, c.self, c.negative_slope, False)},
    "hardtanh": {"self": lambda g, c: aten.hardtanh_backward.default(g, c.self, c.min_val, c.max_val)},
    "softplus": {"self": lambda g, c: aten.softplus_backward.default(g, c.self, c.beta, c.threshold)},
    "clone": {"self": lambda g, c: g},
    "_to_copy": {"self": _converted_back},
    "mm": {"mat2": lambda g, c: _second_of_product(g, c.self, c.mat2), "self": lambda g, c: _first_of_product(g, c.mat2, c.self)},
    "addmm": {
        "mat1": lambda g, c: _scaled(_first_of_product(g, c.mat2, c.mat1), c.alpha),
        "mat2": lambda g, c: _scaled(_second_of_product(g, c.mat1, c.mat2), c.alpha),
        "self": lambda g, c: _scaled(_fitted(g, c.self), c.beta),
    },
    "bmm": {
        "mat2": lambda g, c: aten.bmm.default(_turned(c.self), g),
        "self": lambda g, c: aten.bmm.default(g, _turned(c.mat2)),
    },
    "baddbmm": {
        "batch2": lambda g, c: _scaled(aten.bmm.default(_turned(c.batch1), g), c.alpha),
        "batch1": lambda g, c: _scaled(aten.bmm.default(g, _turned(c.batch2)), c.alpha),
        "self": lambda g, c: _scaled(_fitted(g, c.self), c.beta),
    },
    "addbmm": {
        "batch2": lambda g, c: _scaled(aten.bmm.default(_turned(c.batch1), _for_each(g, c)), c.alpha),
        "batch1": lambda g, c: _scaled(aten.bmm.default(_for_each(g, c), _turned(c.batch2)), c.alpha),
        "self": lambda g, c: _scaled(_fitted(g, c.self), c.beta),
    },
    "dot": {"self": lambda g, c: aten.mul.Tensor(g, c.tensor), "tensor": lambda g, c: aten.mul.Tensor(g, c.self)},
    "t": {"self": lambda g, c: aten.t.default(g)},
    "transpose": {"self": lambda g, c: aten.transpose.int(g, c.dim0, c.dim1)},
    "permute": {"self": _permuted_back},
    "view": {"self": lambda g, c: _shaped(g, c.self.shape)},
    "_unsafe_view": {"self": lambda g, c: _shaped(g, c.self.shape)},
    "unsqueeze": {"self": lambda g, c: aten.squeeze.dim(g, c.dim)},
    "squeeze": {"self": _squeezed_back},
    "expand": {"self": lambda g, c: _fitted(g, c.self)},
    "alias": {"self": lambda g, c: g},
    "select": {"self": lambda g, c: aten.select_backward.default(g, list(c.self.shape), c.dim, c.index)},
    "slice": {
        "self": lambda g, c: aten.slice_backward.default(
            g, list(c.self.shape), c.dim, c.start or 0, (1 << 63) - 1 if c.end is None else c.end, c.step
        )
    },
    "cat": {"tensors": _joined_back},
    "stack": {"tensors": lambda g, c: [aten.select.int(g, c.dim, i) for i in range(len(c.tensors))]},
    "clamp": {"self": _within},
    "tril": {"self": lambda g, c: aten.tril.default(g, c.diagonal)},
    "triu": {"self": lambda g, c: aten.triu.default(g, c.diagonal)},
    "cumsum": {"self": lambda g, c: aten.flip.default(aten.cumsum.default(aten.flip.default(g, [c.dim]), c.dim), [c.dim])},
    "gather": {"self": lambda g, c: aten.scatter_add.default(_zeros_like(g, c.self), c.dim, c.index, g)},
    "index_select": {"self": lambda g, c: aten.index_add.default(_zeros_like(g, c.self), c.dim, c.index, g)},
    "index": {"self": lambda g, c: aten.index_put.default(_zeros_like(g, c.self), c.indices, g, True)},
    "split": {"self": _split_back},
    "split_with_sizes": {"self": _split_back},
    "unbind": {"self": _unbound_back},
    "sum": {"self": _spread},
    "mean": {"self": lambda g, c: aten.div.Scalar(_spread(g, c), _count(c))},
    "masked_fill": {"self": lambda g, c: aten.masked_fill.Scalar(g, c.mask, 0)},
    "where": {
        "self": lambda g, c: _fitted(aten.where.self(c.condition, g, _zero(g)), c.self),
        "other": lambda g, c: _fitted(aten.where.self(c.condition, _zero(g), g), c.other),
    },
    "_softmax": {"self": lambda g, c: aten._softmax_backward_data.default(g, c.out, c.dim, c.self.dtype)},
    "_safe_softmax": {"self": lambda g, c: aten._softmax_backward_data.default(g, c.out, c.dim, c.self.dtype)},
    "_log_softmax": {"self": lambda g, c: aten._log_softmax_backward_data.default(g, c.out, c.dim, c.self.dtype)},
    "nll_loss_forward": {
        "self": lambda g, c: aten.nll_loss_backward.default(
            g[0], c.self, c.target, c.weight, c.reduction, c.ignore_index, c.outs[1]
        )
    },
    "mse_loss": {
        "self": lambda g, c: aten.mse_loss_backward.default(g, c.self, c.target, c.reduction),
        "target": lambda g, c: aten.mse_loss_backward.default(g, c.target, c.self, c.reduction),
    },
    "embedding": {
        "weight": lambda g, c: aten.embedding_dense_backward.default(
            g, c.indices, c.weight.shape[0], c.padding_idx, c.scale_grad_by_freq
        )
    },
    "max_pool2d_with_indices": {
        "self": lambda g, c: aten.max_pool2d_with_indices_backward.default(
            g[0], c.self, c.kernel_size, c.stride, _pair(c.padding), _pair(c.dilation), c.ceil_mode, c.outs[1]
        )
    },
    "avg_pool2d": {
        "self": lambda g, c: aten.avg_pool2d_backward.default(
            g, c.self, c.kernel_size, c.stride, _pair(c.padding), c.ceil_mode, c.count_include_pad, c.divisor_override
        )
    },
    "_adaptive_avg_pool2d": {"self": lambda g, c: aten._adaptive_avg_pool2d_backward.default(g, c.self)},
    "convolution": _several(_convolution, ("input", "weight", "bias")),
    "native_layer_norm": _several(_layer_norm, ("input", "weight", "bias")),
    "native_batch_norm": _several(_batch_norm, ("input", "weight", "bias")),
    "native_group_norm": _several(_group_norm, ("input", "weight", "bias")),
    "_scaled_dot_product_flash_attention_for_cpu": _several(_attention, ("query", "key", "value")),
}
# Which results the entries ask for. Of several results of these only the first has a gradient.
SAVED = {
    **dict.fromkeys(
        ("exp", "sqrt", "rsqrt", "tanh", "sigmoid", "relu", "relu_", "_softmax", "_safe_softmax", "_log_softmax"), (0,)
    ),
    **dict.fromkeys(("nll_loss_forward", "max_pool2d_with_indices"), (1,)),
    **dict.fromkeys(("native_layer_norm", "native_batch_norm", "native_group_norm"), (1, 2)),
    "_scaled_dot_product_flash_attention_for_cpu": (0, 1),
}
# Forms that write, whose gradient needs nothing that was overwritten.
WRITING = frozenset(("relu_", "add_", "sub_"))


def _pair(value):
    return [value, value] if isinstance(value, int) else value


def formula_of(op):
    """The entry of an op, or None."""
    name, form = op._opname, op._overloadname
    if name.endswith("_") and name not in WRITING or form == "Tensor_mode":
        return None
    name = name.removesuffix("_")
    return FORMULAS.get(f"{name}.{form}") or FORMULAS.get(name)


# ---- nodes -----------------------------------------------------------------------------------------------------------
def _call(op, args, kwargs):
    """The arguments of a call by name."""
    defaults = {a.name: a.default_value for a in op._schema.arguments}
    return types.SimpleNamespace(**defaults | arguments.named(op._schema, args, kwargs))


def _placed_tensors(args, kwargs):
    """(place, place in a list or None, tensor) of the tensors that an op is called with."""
    for place, value in [*enumerate(args), *kwargs.items()]:
        if isinstance(value, C.Tensor):
            yield place, None, value
        elif isinstance(value, (list, tuple)):
            yield from ((place, i, item) for i, item in enumerate(value) if isinstance(item, C.Tensor))


def _own(out, op, args):
    """A result to which a history of its own is given: a view knows its base, so that writes to either are those to both."""
    if any(out is value for value in args):
        with C.no_grad():
            return out.view_as(out)
    if out._is_view() and not is_view(op):
        return out.data
    return out


def is_view(op):
    """Whether an op's results share the memory of an argument, by its schema."""
    given = op._schema.returns[0] if is_listed(op) else ""
    return "(a" in given and "!" not in given


def is_listed(op):
    """Whether it's one of PyTorch's ops whose schema is known."""
    return op.namespace == "aten" and schemas.schema(op._opname, op._overloadname) is not None


class _Node(Function):
    """One op in the history of its results."""

    @classmethod
    def apply(cls, op, args, kwargs, *tensors):
        from .dispatch import below_gradients

        ctx = FunctionCtx()
        ctx._name = "".join(map(str.capitalize, op._opname.rstrip("_").split("_"))) + "Backward0"
        ctx.needs_input_grad = (False, False, False, *(tensor.requires_grad for tensor in tensors))
        with C.no_grad():
            results = below_gradients(op, args, kwargs)
        ctx.op, ctx.call, ctx.several = op, (args, kwargs), isinstance(results, (list, tuple))
        returned = tuple(results) if ctx.several else (results,)
        writes = op._opname.endswith("_")
        if writes:
            ctx.mark_dirty(args[0])
        ctx.saved = SAVED.get(op._opname, ()) if formula_of(op) else ()
        ctx.like = [(out.shape, out.dtype) for out in returned]
        ctx.kept = [aten.detach.default(returned[i]) for i in ctx.saved if C._dispatches(type(returned[i]))]
        if not ctx.kept:
            ctx.save_for_backward(*(returned[i] for i in ctx.saved))
        if ctx.saved:
            ctx.mark_non_differentiable(*returned[1:])
        ctx.set_materialize_grads(False)
        outs = [out if writes else _own(out, op, args) for out in returned]
        cls._record(ctx, (None, None, None, *tensors), outs, returned)
        return type(results)(outs) if type(results) in (list, tuple) else tuple(outs) if ctx.several else outs[0]

    @staticmethod
    def backward(ctx, *grads):
        if all(g is None for g in grads):
            return (None,) * len(ctx.needs_input_grad)
        args, kwargs = ctx.call
        needed = ctx.needs_input_grad[3:]
        formula, outs = formula_of(ctx.op), dict(zip(ctx.saved, ctx.kept or ctx.saved_tensors))
        if formula is None:
            return None, None, None, *_by_engine(ctx.op, args, kwargs, needed, grads)
        return None, None, None, *_by_formula(formula, ctx, outs, needed, list(grads) if ctx.several else grads[0])


def _by_formula(formula, ctx, outs, needed, g):
    args, kwargs = ctx.call
    c = _call(ctx.op, args, kwargs)
    schema = ctx.op._schema
    names = [a.name for a in schema.arguments if not a.kwarg_only]
    places = [(place if isinstance(place, str) else names[place], i) for place, i, _ in _placed_tensors(args, kwargs)]
    c.outs, c.out, c.like, c.needed = outs, outs.get(0), ctx.like, {name for (name, _), need in zip(places, needed) if need}
    # PyTorch computes them in the order of the names.
    found = {name: gradient(g, c) for name, gradient in sorted(formula.items()) if name in c.needed}
    return tuple(
        None if not need or name not in found else found[name] if i is None else found[name][i]
        for (name, i), need in zip(places, needed)
    )


def _by_engine(op, args, kwargs, needed, grads):
    """The gradients that the engine computes of the op, run again."""
    from .dispatch import by_engine

    tensors = [tensor.detach().requires_grad_(need) for (_, _, tensor), need in zip(_placed_tensors(args, kwargs), needed)]
    source = iter(tensors)

    def anew(value):
        if isinstance(value, C.Tensor):
            return next(source)
        return [anew(item) for item in value] if isinstance(value, (list, tuple)) else value

    again = [anew(value) for value in args], {name: anew(value) for name, value in kwargs.items()}
    with C.enable_grad():
        results = by_engine(op, *again)
        results = results if isinstance(results, (list, tuple)) else (results,)
    pairs = [(out, g) for out, g in zip(results, grads) if g is not None and out.requires_grad]
    wanted = [tensor for tensor, need in zip(tensors, needed) if need]
    from ..autograd import grad

    found = iter(
        grad([out for out, _ in pairs], wanted, [g for _, g in pairs], allow_unused=True) if pairs else [None] * len(wanted)
    )
    return tuple(next(found) if need else None for need in needed)


def recorded(op, args, kwargs):
    """The op, with a node for its results. One that writes and has no entry, or that isn't listed, is recorded by the engine."""
    from .dispatch import below_gradients

    if not is_listed(op) or (op._opname.endswith("_") and formula_of(op) is None):
        return below_gradients(op, args, kwargs)
    return _Node.apply(op, args, kwargs, *(tensor for _, _, tensor in _placed_tensors(args, kwargs)))
