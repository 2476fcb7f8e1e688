"""Function: an operation with a forward and a backward written in Python."""

import functools
import warnings

import _terra_C as C

__all__ = ["Function", "FunctionCtx", "InplaceFunction", "once_differentiable"]


class _Saved:
    """A tensor kept for backward. An output is kept without its history, which would be a cycle through this function's
    own node, and gets it back when it is asked for."""

    __slots__ = ("index", "tensor", "version")

    def __init__(self, tensor, index):
        self.index = index
        self.tensor = tensor if index is None else tensor.detach()
        self.version = tensor._version

    def get(self, ctx):
        if self.tensor._version != self.version:
            maker = self.tensor.grad_fn if self.index is None else ctx._node
            made = f", which is output {self.index or 0} of {maker.name().split('Backward')[0]}," if maker else ""
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an inplace operation: "
                f"[{self.tensor.type()} {list(self.tensor.shape)}]{made} is at version {self.tensor._version}; expected "
                f"version {self.version} instead. Hint: enable anomaly detection to find the operation that failed to "
                "compute its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False)."
            )
        if self.index is None or ctx._node is None:
            return self.tensor
        return C._with_history(self.tensor, ctx._node, self.index)


class _Packed:
    """What the hooks of saved tensors made of a tensor that is kept for backward, and where its gradient goes."""

    __slots__ = ("edge", "index", "packed", "unpack")

    def __init__(self, tensor, index, hooks):
        pack, self.unpack = hooks
        self.index = index
        self.edge = None
        if index is None and tensor.requires_grad:
            from .graph import get_gradient_edge

            self.edge = get_gradient_edge(tensor)
        version = tensor._version
        with C.no_grad():
            self.packed = pack(tensor if index is None else tensor.detach())
        if tensor._version != version:
            raise RuntimeError(_PACKING_WRITES)

    def get(self, ctx):
        tensor = self.unpack(self.packed)
        if not isinstance(tensor, C.Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(tensor).__name__}"
            )
        if self.edge is not None:
            return C._with_history(tensor.detach(), self.edge.node, self.edge.output_nr)
        if self.index is None or ctx._node is None:
            return tensor.detach()
        return C._with_history(tensor.detach(), ctx._node, self.index)


_PACKING_WRITES = (
    "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be modified "
    "by in-place operations as this can lead to unexpected side-effects. Please open an issue if you need to perform "
    "in-place operations on the input to a pack hook."
)


def _kept(tensor, index):
    if tensor is None:
        return None
    if tensor.is_inference():
        raise RuntimeError(
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
            "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it "
            "in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
        )
    hooks = C._saved_tensors_hooks()
    return _Saved(tensor, index) if hooks is None else _Packed(tensor, index, hooks)


class FunctionCtx:
    """What forward and backward of one call share; any attribute may be set."""

    _node = None  # the node of this call, while its backward runs
    _name = None  # what the node is called, where that isn't said by the class
    _to_save = ()
    _saved = ()
    _dirty = ()
    _non_differentiable = ()
    _materialize_grads = True
    _freed = False
    needs_input_grad = ()

    def save_for_backward(self, *tensors):
        """Keeps tensors; an in-place change to one of them before backward is an error then."""
        for i, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, C.Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {i} is of type {type(tensor).__name__}"
                )
        self._to_save = tensors

    save_for_forward = save_for_backward

    @property
    def saved_tensors(self):
        if self._freed:
            raise RuntimeError(
                "Trying to backward through the graph a second time (or directly access saved tensors after they have "
                "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
                "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if "
                "you need to access saved tensors after calling backward."
            )
        return tuple(None if saved is None else saved.get(self) for saved in self._saved)

    def mark_dirty(self, *tensors):
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors):
        self._non_differentiable = tensors

    def set_materialize_grads(self, value):
        self._materialize_grads = value


def _among(tensor, tensors):
    return any(tensor is other for other in tensors)


def _place(tensor, tensors):
    for i, other in enumerate(tensors):
        if tensor is other:
            return i
    return None


FunctionMeta = type
_ContextMethodMixin = FunctionCtx


class Function:
    """Subclasses have static methods forward(ctx, *args) and backward(ctx, *grads); calls go through apply."""

    @staticmethod
    def forward(*args, **kwargs):
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx, inputs, output):
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    def __init__(self, *args, **kwargs):
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should invoke "
            "them on the class itself. Instantiating an autograd function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    @classmethod
    def apply(cls, *args):
        ctx = FunctionCtx()
        recording = C.is_grad_enabled()
        ctx.needs_input_grad = tuple(isinstance(a, C.Tensor) and a.requires_grad for a in args)
        with C.no_grad():
            if cls.setup_context is Function.setup_context:
                result = cls.forward(ctx, *args)
            else:
                result = cls.forward(*args)
                cls.setup_context(ctx, args, result)
        single = not isinstance(result, tuple)
        outputs = [result] if single else list(result)
        for i, output in enumerate(outputs):
            # an argument handed back as it is becomes a tensor of its own; one that was written to stays itself
            if isinstance(output, C.Tensor) and _among(output, args) and not _among(output, ctx._dirty):
                with C.no_grad():
                    outputs[i] = output.view_as(output)
            # one that forward() made with a tape of its own, or to require a gradient, belongs to this function from now on
            elif isinstance(output, C.Tensor) and output.requires_grad and not _among(output, args):
                outputs[i] = output.detach()
        if recording and any(ctx.needs_input_grad):
            cls._record(ctx, args, outputs, result if not single else (result,))
        return outputs[0] if single else tuple(outputs)

    @classmethod
    def _record(cls, ctx, args, outputs, returned):
        places = [i for i, a in enumerate(args) if isinstance(a, C.Tensor)]
        differentiable = [
            o for o, output in enumerate(outputs)
            if isinstance(output, C.Tensor) and not _among(returned[o], ctx._non_differentiable)
            and (output.is_floating_point() or output.is_complex())
        ]  # fmt: skip
        count, size = len(args), len(outputs)
        kinds = [(args[i].dtype, args[i].shape) for i in places]
        forms = [
            (tuple(output.shape), output.dtype, output.device) if isinstance(output, C.Tensor) else None for output in outputs
        ]  # fmt: skip

        def backward(grads, node):
            full = [None] * size
            for o, grad in zip(differentiable, grads):
                full[o] = grad
            if ctx._materialize_grads:
                full = [_zeros(form) if grad is None else grad for grad, form in zip(full, forms)]
            ctx._node = node
            try:
                return _gradients_of_inputs(cls, ctx, full, count, places, kinds)
            finally:
                ctx._node = None

        def release():
            ctx._freed = len(ctx._saved) > 0
            ctx._saved = ()

        results = [returned[o] for o in differentiable]
        ctx._saved = [_kept(t, _place(t, results)) for t in ctx._to_save]
        ctx._to_save = ()
        C._function_node(
            ctx._name or cls.__name__ + "Backward",
            [args[i] for i in places],
            [outputs[o] for o in differentiable],
            backward,
            release,
            len(ctx._saved) > 0,
            ctx,
        )


class InplaceFunction(Function):
    """A Function that can be told to write to its argument; the older classes of programs keep the word in `inplace`."""

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace


def _zeros(form):
    """The gradient that an output has where none arrived; None for one that is no tensor."""
    return None if form is None else C.zeros(form[0], dtype=form[1], device=form[2])


def _gradients_of_inputs(cls, ctx, grads, count, places, kinds):
    """cls.backward's results for the tensor arguments, checked, in the dtypes and shapes of these."""
    results = cls.backward(ctx, *grads)
    results = results if isinstance(results, tuple) else (results,)
    if len(results) > count and all(r is None for r in results[count:]):
        results = results[:count]
    if len(results) != count:
        raise RuntimeError(
            f"function {cls.__name__}Backward returned an incorrect number of gradients (expected {count}, got {len(results)})"
        )
    return tuple([_fitted(results[i], dtype, shape) for i, (dtype, shape) in zip(places, kinds)])


def _fitted(gradient, dtype, shape):
    """A gradient of another precision than the input's is converted; one for what the input broadcasts to is summed up."""
    if not isinstance(gradient, C.Tensor):
        return gradient
    if gradient.shape != shape and _broadcasts(shape, gradient.shape):
        gradient = gradient.sum_to_size(shape)
    if gradient.dtype != dtype and dtype.is_floating_point:
        return gradient.to(dtype)
    return gradient


def _broadcasts(shape, to):
    return len(shape) <= len(to) and all([a in (1, b) for a, b in zip(reversed(shape), reversed(to))])


class _Once(Function):
    """Hands tensors through whose gradients nobody can compute."""

    @staticmethod
    def forward(ctx, *tensors):
        return tuple([t.detach() for t in tensors])

    @staticmethod
    def backward(ctx, *grads):
        raise RuntimeError("trying to differentiate twice a function that was marked with @once_differentiable")


def once_differentiable(backward):
    """For a backward that is not itself differentiable: its results, where they would need a gradient, refuse to have one."""

    @functools.wraps(backward)
    def without_grad(ctx, *grads):
        with C.no_grad():
            results = backward(ctx, *grads)
        if not C.is_grad_enabled() or not any(isinstance(g, C.Tensor) and g.requires_grad for g in grads):
            return results
        several = results if isinstance(results, tuple) else (results,)
        tracked = iter(_Once.apply(*[r.detach().requires_grad_() for r in several if isinstance(r, C.Tensor)]))
        several = tuple([next(tracked) if isinstance(r, C.Tensor) else r for r in several])
        return several if isinstance(results, tuple) else several[0]

    return without_grad
