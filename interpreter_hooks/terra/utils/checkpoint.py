"""Checkpoints: a part of the forward pass that keeps its arguments alone and is computed again in backward.

Gradients flow to the tensors among the arguments and to every leaf that the function met; these are found on the tape of
the first pass, which is then dropped. The second pass draws the random numbers of the first."""

import contextlib
import enum
import functools
import warnings

import _terra_C as C

from ..autograd import Function

__all__ = [
    "CheckpointError", "CheckpointFunction", "CheckpointPolicy", "check_backward_validity", "checkpoint",
    "checkpoint_sequential", "create_selective_checkpoint_contexts", "detach_variable", "get_device_states",
    "noop_context_fn", "set_checkpoint_debug_enabled", "set_checkpoint_early_stop", "set_device_states",
]  # fmt: skip


class CheckpointError(RuntimeError):
    """The second pass of a checkpoint did something else than the first."""


class CheckpointPolicy(enum.Enum):
    """What a policy says of an op's results; here all of them are computed again."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


def noop_context_fn():
    return contextlib.nullcontext(), contextlib.nullcontext()


@contextlib.contextmanager
def set_checkpoint_early_stop(enable):
    """The second pass always runs to its end."""
    yield


def create_selective_checkpoint_contexts(policy_fn_or_list, allow_cache_entry_mutation=False):
    """The contexts for the two passes of a checkpoint that would keep some results: nothing is kept here."""
    return noop_context_fn()


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled):
    """Errors say the same either way."""
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


def _compare_tapes(kept, again):
    """Lines as _tape_of() gives them, without the first: a heading, then one for each tensor. The second pass may keep more."""
    if not kept or not again:
        return
    if len(again) < len(kept):
        raise CheckpointError(
            "torch.utils.checkpoint: A different number of tensors was saved during the original forward and "
            f"recomputation.\nNumber of tensors saved during forward: {len(kept) - 1}\nNumber of tensors saved during "
            f"recomputation: {len(again) - 1}."
        )
    different = [
        f"tensor at position {i - 1}:\nsaved metadata: {kept[i]}\nrecomputed metadata: {again[i]}\n"
        for i in range(len(kept)) if kept[i] != again[i]
    ]  # fmt: skip
    if different:
        raise CheckpointError(
            "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the "
            "forward pass.\n" + "".join(different) + "."
        )


class _Call:
    """A function with its arguments, to be called twice."""

    def __init__(self, function, args, kwargs, contexts, state):
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.contexts = contexts
        self.state = state
        self.cast = C._autocast_enabled(), C._autocast_dtype()
        self.name = None
        self.kept = None
        self.materializes = True  # zeros stand for gradients of results that none has come to, and go on to the sources

    def remember(self, results, compares):
        """What the first pass says of its results and of what it kept for backward."""
        tape = C._tape_of(results)
        self.name = tape.partition("\n")[0]
        self.kept = tape if compares else None

    def compare(self, results):
        """Refuses a second pass that kept something else than the first, as far as either says what."""
        if self.kept is not None:
            again = C._tape_of(results)
            if again != self.kept:
                _compare_tapes(self.kept.split("\n")[1:], again.split("\n")[1:])

    def run(self, detach, context, given=None):
        """What the function returns, with its tape, and what stands for each of the sources: `given`, if they are, else
        the sources themselves or tensors with their values."""
        sources = []

        def source(tensor):
            if not tensor.requires_grad:
                return tensor
            if given is not None:
                stand_in = given[len(sources)]
            else:
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

    def run_again(self, detach, given=None):
        """The same once more, with the random numbers and the autocast of the first time."""
        now = C._autocast_enabled(), C._autocast_dtype()
        C._set_autocast(*self.cast)
        try:
            return self._run_drawing_the_same(detach, given)
        finally:
            C._set_autocast(*now)

    def _run_drawing_the_same(self, detach, given):
        context = None if self.contexts is None else self.contexts[1]
        if self.state is None or C.default_generator._is_at(self.state):
            return self.run(detach, context, given)
        after = C.default_generator.clone_state()
        C.default_generator._go_to(self.state)
        try:
            return self.run(detach, context, given)
        finally:
            C.default_generator._go_to(after)


class CheckpointFunction(Function):
    """Takes the results of the first pass as they are; the gradients of its inputs come from the second."""

    @staticmethod
    def forward(ctx, call, results, leaves, *sources):
        ctx.call = call
        ctx._name = call.name
        ctx.set_materialize_grads(call.materializes)
        ctx.places = [i for i, t in enumerate(results) if t.requires_grad]
        ctx.leaves = leaves
        ctx.save_for_backward(*sources[: len(sources) - len(leaves)])
        return tuple([t.detach() for t in results])

    @staticmethod
    def backward(ctx, *gradients):
        sources = ctx.saved_tensors  # refuses what was written to, or freed
        places, seeds = [], []
        for i in ctx.places:
            if gradients[i] is not None:
                places.append(i)
                seeds.append(gradients[i])
        if C.is_grad_enabled():  # the gradients are to be differentiated in turn: they are computed again then
            found = checkpoint(
                _gradients_again, ctx, places, seeds, sources, use_reentrant=False, preserve_rng_state=False
            )
        else:
            found = _gradients_again(ctx, places, seeds, None)
        return (None, None, None, *found)


def _gradients_again(ctx, places, seeds, given):
    """The gradients from the second pass, in which `given` stand for the sources."""
    result, sources = ctx.call.run_again(given is None, given)
    results = _tensors(result)
    ctx.call.compare(results)
    roots, kept = [], []
    for i, seed in zip(places, seeds):
        if results[i].requires_grad:
            roots.append(results[i])
            kept.append(seed)
    inputs = sources + ctx.leaves
    return C.grad(roots, inputs, kept, allow_unused=True, create_graph=given is not None) if roots else [None] * len(inputs)


def checkpoint(
    function=None, *args, use_reentrant=None, preserve_rng_state=True, context_fn=noop_context_fn, determinism_check="default",
    debug=False, early_stop=True, respect_saved_tensors_hooks=None, **kwargs,
):  # fmt: skip
    """function(*args, **kwargs), computed again in backward from its arguments. What the second pass keeps for backward has
    to be what the first kept, unless determinism_check is "none". Without a function: a decorator."""
    if function is None:
        settings = {
            "use_reentrant": use_reentrant, "preserve_rng_state": preserve_rng_state, "context_fn": context_fn,
            "determinism_check": determinism_check, "debug": debug, "early_stop": early_stop,
            "respect_saved_tensors_hooks": respect_saved_tensors_hooks,
        }  # fmt: skip
        return lambda function: functools.wraps(function)(functools.partial(checkpoint, function, **settings))
    if use_reentrant is None:
        _warn_of_default("torch.utils.checkpoint: ", "In a future release, calling checkpoint without use_reentrant will raise an exception. ")
        use_reentrant = True
    if use_reentrant:
        if context_fn is not noop_context_fn or debug is not False or respect_saved_tensors_hooks is not None:
            raise ValueError(
                "Passing `context_fn`, `debug`, or `respect_saved_tensors_hooks` is only supported when use_reentrant=False."
            )
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if C.is_grad_enabled() and not any([t.requires_grad for t in args if isinstance(t, C.Tensor)]):
            check_backward_validity(args)
            with C.no_grad():
                return function(*args)
    elif determinism_check not in ("default", "none"):
        raise ValueError(f"determinism_check should be one of ['default', 'none'], but got {determinism_check}")
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
    call.materializes = use_reentrant
    if not use_reentrant:
        call.remember(results, determinism_check == "default")
    leaves = [t for t in C._leaves_of(results) if not any([t is known for known in stand_ins])]
    sources = [t for t in _tensors((args, kwargs)) if t.requires_grad]
    outputs = list(CheckpointFunction.apply(call, results, leaves, *sources, *leaves))
    tracked = iter([o if t.requires_grad else t for o, t in zip(outputs, results)])
    return _replaced(result, lambda t: next(tracked))


def _warn_of_default(where, future):
    warnings.warn(
        f"{where}the use_reentrant parameter should be passed explicitly. {future}use_reentrant=False is recommended, but "
        "if you need to preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for more "
        "details on the differences between the two variants.",
        stacklevel=3,
    )


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """The functions one after the other, in `segments` checkpoints; the last segment is computed once."""
    if use_reentrant is None:
        _warn_of_default(
            "torch.utils.checkpoint.checkpoint_sequential: ",
            "In a future release, we will raise an exception if use_reentrant is not passed. ",
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
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
        input = checkpoint(part(start, end), input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return part(end, len(functions))(input)
