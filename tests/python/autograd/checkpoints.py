# run: --torch
# run: --torch --capture=off
# run: --torch --capture=verify
"""checkpoint(): how often the function is called for first and further gradients, what a second pass that differs and wrong
arguments are told, what results are called."""

import pathlib
import sys
import warnings

import torch
from torch.utils import checkpoint as C
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

items, calls = [], [0]
x = torch.tensor([0.5, 1.0], requires_grad=True)
w = torch.tensor([2.0, 3.0], requires_grad=True)


def told(name, function, *args, **options):
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            value = function(*args, **options)
        except Exception as error:
            value = f"{type(error).__name__} {str(error).partition('Tip:')[0].strip()}"
    items.append((name, [value, calls[0], *[f"{each.category.__name__} {each.message}" for each in given]]))


def f(a):
    calls[0] += 1
    return (a * w).sin() * a


def plain(a):
    return checkpoint(f, a, use_reentrant=False)


def differentiated(order):
    """Gradients of gradients, each of which is computed from the start."""
    value = plain(x)
    for i in range(order):
        (value,) = torch.autograd.grad(value.sum(), x, create_graph=i + 1 < order)
        counts.append(calls[0])
    return value, [counts.pop(0) for _ in range(order)]


counts = []
for order in (1, 2, 3, 3):
    calls[0] = 0
    told(f"order {order}", differentiated, order)
calls[0] = 0
y = plain(x)
for name, options in (("kept", {"retain_graph": True}), ("kept again", {"retain_graph": True}), ("freed", {}), ("gone", {})):
    told(name, y.sum().backward, **options)


def of_two_kinds(first, second):
    passes = [0]

    def function(a):
        passes[0] += 1
        return (first if passes[0] == 1 else second)(a)

    return function


def fewer(a):
    return a.sin()


def more(a):
    return a.sin().cos() * a


def smaller(a):
    return a[:1].sin()


for name, first, second in (("fewer", more, fewer), ("smaller", fewer, smaller), ("the same", more, more)):
    told(name, checkpoint(of_two_kinds(first, second), x, use_reentrant=False).sum().backward)
written = x.clone()
y = plain(written)
with torch.no_grad():
    written.add_(1)
told("written since", y.sum().backward)
net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
told("a check that there isn't", checkpoint, f, x, use_reentrant=False, determinism_check="foo")
told("default", lambda: checkpoint(f, x).shape)
told("reentrant", lambda: type(checkpoint(f, x, use_reentrant=True).grad_fn).__name__)
told("no gradient", lambda: checkpoint(f, x.detach(), use_reentrant=True).requires_grad)
told("contexts", checkpoint, f, x, use_reentrant=True, context_fn=lambda: 1)
told("unknown", checkpoint, f, x, use_reentrant=False, foo=2)
told("unknown, reentrant", checkpoint, f, x, use_reentrant=True, foo=2)
told("sequence", lambda: checkpoint_sequential(net, 2, x).shape)
told("sequence, unknown", checkpoint_sequential, net, 2, x, use_reentrant=False, foo=1)
told("names", lambda: (type(plain(x).grad_fn).__name__, C.CheckpointError.__mro__[1].__name__, sorted(C.CheckpointPolicy.__members__)))
told("a leaf handed through", lambda: checkpoint(lambda a: a, x, use_reentrant=False).requires_grad)


def results_of_which_some_are_used(reentrant):
    a, b, weight = (torch.full((2,), v, requires_grad=True) for v in (1.0, 2.0, 3.0))
    found = []
    for used in ((0,), (1,), (2,), (0, 2)):
        made = checkpoint(lambda p, q: (p * 2, q * 3 * weight, p * q), a * 1, b, use_reentrant=reentrant)
        sum(made[k].sum() for k in used).backward()
        for p in (a, b, weight):
            found.append("None" if p.grad is None else p.grad.tolist())
            p.grad = None
    return found


told("some results", results_of_which_some_are_used, False)
told("some results, reentrant", results_of_which_some_are_used, True)
check(items, __file__)
