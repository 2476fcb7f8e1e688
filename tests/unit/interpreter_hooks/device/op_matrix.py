"""The samples of an op record on another device, which `there` moves tensors to and `here` brings them back from."""

import functools

import terra
from _samples import all_close, is_inexact, numbers_of, parts_of, samples, tensors_in


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
    """The places of the results, and the results, the arguments as they are then and their gradients."""
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
    return {t.device.type for t in results if given}, [shown(here(t.detach())) for t in seen]


def shown(t):
    return str(t.dtype), tuple(t.shape), numbers_of(parts_of(t))


def alike(found, expected, exact):
    """Captured runs may add up in another order."""
    if exact:
        return repr(found) == repr(expected)
    return len(found) == len(expected) and all(
        a[:2] == b[:2] and all_close(a[2], b[2], 1e-4, 1e-5) for a, b in zip(found, expected)
    )


def failures(name, mode):
    """What of the op's samples goes wrong there, or comes out otherwise than here."""
    wrong = []
    for call in calls_of()[name]:
        try:
            with terra.capture.mode(mode):
                _, expected = evaluated(call, lambda t: t)
                places, found = evaluated(call, there)
        except Exception as error:
            wrong.append(f"{call} raised {type(error).__name__}: {error}")
            continue
        if places - {"privateuseone"}:
            wrong.append(f"{call} has results on {places}")
        if not alike(found, expected, mode == "off"):
            wrong.append(f"{call} is {found}, not {expected}")
    return wrong


def trained(move):
    """The losses of some steps of gradient descent."""
    terra.manual_seed(3)
    x, y, w = move(terra.randn(8, 4)), move(terra.randn(8, 3)), move(terra.randn(4, 3)).requires_grad_()

    def step(rate):
        loss = ((x @ w).tanh() - y).pow(2).mean()
        loss.backward()
        with terra.no_grad():
            w.sub_(w.grad, alpha=rate)
        w.grad = None
        return loss.item()

    return [step(0.1 / (1 + k)) for k in range(40)]
