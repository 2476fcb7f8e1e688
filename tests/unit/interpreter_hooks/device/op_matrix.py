"""The samples of an op record on another device, which `there` moves tensors to and `here` brings them back from."""

import functools

import terra
from _samples import is_inexact, parts_of, samples, tensors_in


@functools.cache
def calls_of():
    calls = {}
    for call in samples(("float32",)):
        calls.setdefault(call.record["name"], []).append(call)
    return calls


def moved(value, move):
    """The argument with its tensors moved."""
    if isinstance(value, terra.Tensor):
        return move(value)
    if isinstance(value, (list, tuple)):
        return type(value)(moved(v, move) for v in value)
    return value


def evaluated(call, move):
    """The results, the arguments as they are then, and the gradients of the arguments: places and elements."""
    args, kwargs = call.arguments()
    args, kwargs = moved(args, move), {name: moved(value, move) for name, value in kwargs.items()}
    given = tensors_in(args) + tensors_in(kwargs)
    learned = [t.requires_grad_() for t in given if call.differentiable and is_inexact(t)]
    terra.manual_seed(7)
    results = tensors_in(call.run(args, kwargs))
    roots = [parts_of(t).sum() for t in results if t.requires_grad]
    if roots:
        sum(roots[1:], roots[0]).backward()
    seen = results + given + [t.grad for t in learned if t.grad is not None]
    return [t.device.type for t in results], [shown(here(t.detach())) for t in seen]


def shown(t):
    return str(t.dtype), tuple(t.shape), repr(t.tolist())


def failures(name):
    """What of the op's samples goes wrong there, or comes out otherwise than here."""
    wrong = []
    for call in calls_of()[name]:
        _, expected = evaluated(call, lambda t: t)
        try:
            places, found = evaluated(call, there)
        except Exception as error:
            wrong.append(f"{call} raised {type(error).__name__}: {error}")
            continue
        if set(places) - {"privateuseone"} and tensors_in(call.arguments()):
            wrong.append(f"{call} has results on {places}")
        if found != expected:
            wrong.append(f"{call} is {found}, not {expected}")
    return wrong
