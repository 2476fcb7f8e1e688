# run: --torch
# run: --torch --capture=off
# run: --torch TERRA_EXACT=1
"""Gradient modes around generators, the check for NaN, what nodes and contexts of functions say, errors that name operations,
gradcheck of gradients."""

import pathlib
import sys
import warnings

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

warnings.simplefilter("ignore")
results = []


def said(function):
    try:
        return function()
    except Exception as error:
        return f"{type(error).__name__} {error}".split("\n")[0].split(" Hint")[0]


# ---- generators ----

events = []


def counting(n):
    """Yields whether gradients are on, takes what is sent, and hears of its end."""
    try:
        for k in range(n):
            try:
                got = yield (k, torch.is_grad_enabled())
                events.append(got)
            except ValueError as error:
                events.append((str(error), torch.is_grad_enabled()))
                yield "caught"
    finally:
        events.append(("over", torch.is_grad_enabled()))
    return "returned"


def drive(function):
    events.clear()
    found = [(item, torch.is_grad_enabled()) for item in function(2)]
    generator = function(5)
    found += [next(generator), generator.send("sent"), generator.throw(ValueError("thrown")), generator.send(1)]
    generator.close()
    ended = function(1)
    next(ended)
    try:
        ended.send(0)
    except StopIteration as stop:
        found.append(stop.value)
    raising = function(3)
    next(raising)
    found.append(said(lambda: raising.throw(KeyError("unknown"))))
    return found, list(events), torch.is_grad_enabled()


for name, mode in (("no_grad", torch.no_grad()), ("enable_grad", torch.enable_grad()), ("bare", torch.no_grad), ("set", torch.set_grad_enabled(False))):
    torch.set_grad_enabled(True)
    results.append((name, drive(mode(counting))))
    with torch.no_grad() if name != "set" else torch.enable_grad():
        results.append((name + " within another", drive(mode(counting))))
results.append(("its name", [torch.no_grad()(counting).__name__, torch.no_grad()(counting).__doc__[:6]]))


class Source:
    @torch.no_grad()
    def items(self, n):
        yield from counting(n)


results.append(("a method", list(Source().items(2))))
with torch.no_grad():
    with torch.inference_mode(False):
        results.append(("inference_mode(False)", torch.is_grad_enabled()))

# ---- the check for NaN ----


def rooted(x):
    return (x.sqrt() * 2).sum()


for name, mode in (("detect", torch.autograd.detect_anomaly), ("set", lambda: torch.autograd.set_detect_anomaly(True)), ("no nan", lambda: torch.autograd.detect_anomaly(check_nan=False))):
    for value in (1.0, -1.0):
        x = torch.tensor([1.0, value], requires_grad=True)
        for _ in range(6):
            x.grad = None
            with mode():
                found = said(lambda x=x: rooted(x).backward())
                inside = torch.is_anomaly_enabled()
        results.append((f"{name} {value}", [found, inside, torch.is_anomaly_enabled(), x.grad]))
torch.autograd.set_detect_anomaly(True)
results.append(("for good", said(lambda: rooted(torch.tensor([-1.0], requires_grad=True)).backward())))
torch.autograd.set_detect_anomaly(False)

# ---- nodes ----


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x)
        ctx.k = k
        return x * k

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.k, None


x = torch.tensor([1.0, 2.0], requires_grad=True)
y = Scaled.apply(x, 3)
node = y.grad_fn
results.append(("its context", [node.saved_tensors[0], node.k, node.needs_input_grad, node.name(), said(lambda: node.nothing)[:14]]))
y.sum().backward()
results.append(("freed", said(lambda: y.grad_fn.saved_tensors)))
leaf = (x * 2).grad_fn.next_functions[0][0]
results.append(("of a leaf", [leaf.name(), type(leaf).__name__, leaf.variable is x]))

# ---- errors that name an operation ----

for function in (torch.exp, torch.sigmoid, torch.relu, torch.tanh, torch.sqrt, lambda t: t.softmax(0)):
    y = function(torch.ones(2, requires_grad=True))
    y.add_(1)
    results.append(("overwritten", said(lambda y=y: y.sum().backward())))

# ---- gradients of gradients ----

d = torch.tensor([0.3, -0.5], dtype=torch.float64, requires_grad=True)
e = torch.tensor([1.5, 0.25], dtype=torch.float64, requires_grad=True)
for function in (lambda t: t**3, lambda t: (t * t).sin(), torch.sin):
    results.append(("twice", [torch.autograd.gradcheck(function, d), torch.autograd.gradgradcheck(function, d)]))
results.append(("of two", torch.autograd.gradgradcheck(lambda a, b: (a * b.exp(), a.cos()), (d, e))))
results.append(("of complex", torch.autograd.gradgradcheck(lambda z: z * z, torch.tensor([1 + 2j], dtype=torch.complex128, requires_grad=True))))


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        return 3 * ctx.saved_tensors[0] ** 2 * grad


results.append(("once", [torch.autograd.gradcheck(Wrong.apply, d), said(lambda: torch.autograd.gradgradcheck(Wrong.apply, d))[:12]]))
results.append(("nothing to check", said(lambda: torch.autograd.gradcheck(torch.sin, torch.ones(2)))))

check(results, __file__)
