"""Checkpoints: a part of the forward pass that keeps its arguments alone and is computed again in backward.

Gradients flow to the tensors among the arguments and to every leaf that the function met; these are found on the tape of
the first pass, which is then dropped. The second pass draws the random numbers of the first."""

import contextlib
import warnings

import _terra_C as C

from ..autograd import Function

__all__ = [
    "check_backward_validity", "checkpoint", "checkpoint_sequential", "detach_variable", "get_device_states", "noop_context_fn",
    "set_checkpoint_early_stop", "set_device_states",
]  # fmt: skip


def noop_context_fn():
    return contextlib.nullcontext(), contextlib.nullcontext()


@contextlib.contextmanager
def set_checkpoint_early_stop(enable):
    """The second pass always runs to its end."""
    yield


def get_device_states(*args):
    """The devices of the tensors among the arguments, apart from the CPU, and the states of their generators: none and none."""
    return [], []


def set_device_states(devices, states, *, device_type=None):
    """Sets what get_device_states() gave."""


def detach_variable(inputs):
    """The tensors of a tuple without their tape, each requiring a gradient as before."""
    if not isinstance(inputs, tuple):
        raise RuntimeError("Only tuple of tensors is supported. Got Unsupported input type: ", type(inputs).__name__)
    return tuple([v.detach().requires_grad_(v.requires_grad) if isinstance(v, C.Tensor) else v for v in inputs])


def check_backward_validity(inputs):
    if not any(v.requires_grad for v in inputs if isinstance(v, C.Tensor)):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2)


def _replaced(value, function):
    """`value` with function(tensor) for each tensor in the tuples, lists and dicts around it."""
    if isinstance(value, C.Tensor):
        return function(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[_replaced(v, function) for v in value])
    if isinstance(value, (tuple, list)):
        return type(value)([_replaced(v, function) for v in value])
    if isinstance(value, dict):
        return type(value)([(k, _replaced(v, function)) for k, v in value.items()])
    return value


def _tensors(value):
    found = []
    _replaced(value, found.append)
    return found


class _Call:
    """A function with its arguments, to be called twice."""

    def __init__(self, function, args, kwargs, contexts, state):
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.contexts = contexts
        self.state = state
        self.cast = C._autocast_enabled(), C._autocast_dtype()

    def run(self, detach, context):
        """What the function returns, with its tape, and what stands for each of the sources."""
        sources = []

        def source(tensor):
            if not tensor.requires_grad:
                return tensor
            stand_in = tensor.detach().requires_grad_() if detach else tensor
            sources.append(stand_in)
            return stand_in

        args = _replaced(self.args, source)
        kwargs = _replaced(self.kwargs, source)
        with C.enable_grad():
            if context is None:
                return self.function(*args, **kwargs), sources
            with context:
                return self.function(*args, **kwargs), sources

    def run_again(self, detach):
        """The same once more, with the random numbers and the autocast of the first time."""
        now = C._autocast_enabled(), C._autocast_dtype()
        C._set_autocast(*self.cast)
        try:
            return self._run_drawing_the_same(detach)
        finally:
            C._set_autocast(*now)

    def _run_drawing_the_same(self, detach):
        context = None if self.contexts is None else self.contexts[1]
        if self.state is None or C.default_generator._is_at(self.state):
            return self.run(detach, context)
        after = C.default_generator.clone_state()
        C.default_generator._go_to(self.state)
        try:
            return self.run(detach, context)
        finally:
            C.default_generator._go_to(after)


class CheckpointFunction(Function):
    """Takes the results of the first pass as they are; the gradients of its inputs come from the second."""

    @staticmethod
    def forward(ctx, call, results, leaves, *sources):
        ctx.call = call
        ctx.places = [i for i, t in enumerate(results) if t.requires_grad]
        ctx.leaves = leaves
        return tuple([t.detach() for t in results])

    @staticmethod
    def backward(ctx, *gradients):
        again = C.is_grad_enabled()  # the gradients are to be differentiated in turn
        result, sources = ctx.call.run_again(not again)
        results = _tensors(result)
        roots = []
        seeds = []
        for i in ctx.places:
            if gradients[i] is not None and results[i].requires_grad:
                roots.append(results[i])
                seeds.append(gradients[i])
        inputs = sources + ctx.leaves
        found = C.grad(roots, inputs, seeds, allow_unused=True, create_graph=again) if roots else [None] * len(inputs)
        return (None, None, None, *found)


def checkpoint(
    function, *args, use_reentrant=None, context_fn=noop_context_fn, determinism_check="default", debug=False,
    early_stop=True, preserve_rng_state=True, **kwargs,
):  # fmt: skip
    """function(*args, **kwargs), computed again in backward from its arguments."""
    if use_reentrant is None:
        warnings.warn(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. use_reentrant=False is "
            "recommended.",
            stacklevel=2,
        )
    if not C.is_grad_enabled():
        return function(*args, **kwargs)
    contexts = None if context_fn is noop_context_fn else context_fn()
    state = C.default_generator.clone_state() if preserve_rng_state else None
    call = _Call(function, args, kwargs, contexts, state)
    result, stand_ins = call.run(True, None if contexts is None else contexts[0])
    results = _tensors(result)
    if not any([t.requires_grad for t in results]):
        return result
    if preserve_rng_state and C.default_generator._is_at(state):
        call.state = None  # nothing was drawn
    leaves = [t for t in C._leaves_of(results) if not any([t is known for known in stand_ins])]
    sources = [t for t in _tensors((args, kwargs)) if t.requires_grad]
    outputs = list(CheckpointFunction.apply(call, results, leaves, *sources, *leaves))
    tracked = iter([o if t.requires_grad else t for o, t in zip(outputs, results)])
    return _replaced(result, lambda t: next(tracked))


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """The functions one after the other, in `segments` checkpoints; the last segment is computed once."""
    if hasattr(functions, "children"):
        functions = list(functions.children())
    size = len(functions) // segments

    def part(start, end):
        def forward(input):
            for function in functions[start:end]:
                input = function(input)
            return input

        return forward

    end = 0
    for start in range(0, size * (segments - 1), size):
        end = start + size
        input = checkpoint(part(start, end), input, use_reentrant=use_reentrant, **kwargs)
    return part(end, len(functions))(input)
