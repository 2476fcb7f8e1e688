# run: --torch
# run: --torch --capture=off
# run: --torch --capture=coexec TERRA_RUNNER=turns
# run: --torch --capture=verify
# run: --torch --capture=stress
"""torch.overrides: modes that see calls, change them, refuse them; whom functions ask, in which order, with which arguments; and
what functions that are captured give while a mode comes and goes."""

import pathlib
import sys
import threading

import torch
import torch.nn.functional as F
from torch.overrides import (
    BaseTorchFunctionMode, TorchFunctionMode, handle_torch_function, has_torch_function, has_torch_function_variadic,
    is_tensor_method_or_property, redispatch_function, resolve_name,
)  # fmt: skip

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

results = []


def said(function, *args):
    try:
        value = function(*args)
    except Exception as error:
        return f"{type(error).__name__} {error}".replace("__main__.", "")
    return value


def name_of(function):
    return getattr(function, "__name__", str(function))


class Log(TorchFunctionMode):
    def __init__(self, seen, name=""):
        self.seen, self.name = seen, name

    def __torch_function__(self, func, types, args=(), kwargs=None):
        options = None if kwargs is None else sorted(kwargs)
        self.seen.append((self.name + name_of(func), [kind.__name__ for kind in types], len(args), options))
        return func(*args, **(kwargs or {}))


class Half(TorchFunctionMode):
    """Factories give halves, sums twice as much."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func is torch.ones:
            return torch.full(*args, 0.5)
        if func in (torch.Tensor.sum, torch.sum):
            return func(*args, **(kwargs or {})) * 2
        return func(*args, **(kwargs or {}))


class Refusing(TorchFunctionMode):
    def __repr__(self):
        return "refusing"

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return NotImplemented


class Sub(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        seen.append(("Sub", name_of(func), [kind.__name__ for kind in types], len(args), None if kwargs is None else sorted(kwargs)))
        return super().__torch_function__(func, types, args, kwargs)


class Plain(torch.Tensor):
    pass


class Other(torch.Tensor):
    pass


class Foreign:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        seen.append(("Foreign", name_of(func), [kind.__name__ for kind in types], len(args), None if kwargs is None else sorted(kwargs)))
        return NotImplemented


seen = []
x, weight = torch.arange(4.0).reshape(2, 2), torch.eye(2)
calls = {
    "operators": lambda: [x + 1, 1 - x, x @ x, -x, abs(x), x > 1, x == x],
    "in place": lambda: x.clone().add_(1),
    "properties": lambda: [x.shape, x.dtype, x.requires_grad, x.T, x.grad, x.is_leaf, x.ndim],
    "methods": lambda: [x.size(), x.dim(), x.sum(), x.to(torch.float64), x.tolist(), x.numel(), x.contiguous(), x.argmax()],
    "items": lambda: [x[0], x.clone().__setitem__(0, 1.0), len(x), float(x[0, 1]), int(x[0, 1]), bool(x[0, 1])],
    "functions": lambda: [torch.add(x, x, alpha=2), torch.cat([x, x]), torch.equal(x, x), torch.allclose(x, x), torch.stack((x, x))],
    "factories": lambda: [torch.zeros(2), torch.tensor([1.0]), torch.arange(3), torch.full((2,), 1.0), torch.zeros(1, dtype=torch.int64)],
    "layers": lambda: [F.relu(x), F.linear(x, weight), F.softmax(x, 1), F.mse_loss(x, weight), F.dropout(x, training=False), F.pad(x, (1, 1))],
    "tensor functions": lambda: [torch.einsum("ij,jk->ik", x, x), torch.tensordot(x, x, 1), torch.split(x, 1), torch.atleast_1d(x)],
    "gradients": lambda: x.clone().requires_grad_().sum().backward(),
    "initial values": lambda: torch.nn.init.constant_(x.clone(), 2.0),
}
for name, call in calls.items():
    seen.clear()
    with Log(seen):
        call()
    results += [(name, entry) for entry in seen]

# the order of modes, and what a mode calls itself
seen.clear()
with Log(seen, "outer "), Log(seen, "inner "):
    x + 1
results.append(("nested", [*seen]))
seen.clear()
with Log(seen) as mode:
    with torch._C.DisableTorchFunctionSubclass():
        x + 1
    with torch._C.DisableTorchFunction():
        x + 2
    results.append(("entered", [mode is not None, len(seen)]))
results.append(("left", [(x + 1).sum(), len(seen)]))
with BaseTorchFunctionMode():
    results.append(("base", x + 1))
with Half():
    results.append(("changed", [torch.ones((2,)), x.sum(), torch.sum(x), torch.ones((2, 2)).sum()]))


def raising():
    with Log(seen):
        raise ValueError("inside")


results.append(("raising", [said(raising), torch.overrides._get_current_function_mode()]))
with Refusing():
    refusals = [said(torch.add, 1, 2), said(torch.zeros, 2), said(torch.Tensor.add, x, 1), said(F.relu, x), said(torch.add, x, Foreign())]
results += [("refused", text) for text in refusals]


class OnDevice(TorchFunctionMode):
    """Gives factories a device and a dtype."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in (torch.zeros, torch.ones, torch.full, torch.arange, torch.tensor, torch.empty):
            kwargs = {"device": "cpu", "dtype": torch.float64, **kwargs}
        return func(*args, **kwargs)


with OnDevice():
    made = [torch.zeros(2), torch.full((1,), 3), torch.arange(2), torch.tensor([1]), torch.ones(1, dtype=torch.int64)]
    layer = torch.nn.Linear(2, 1, bias=False)
results.append(("on a device", [made, layer.weight.dtype, layer.weight.device]))

seen.clear()
with Log(seen):
    thread = threading.Thread(target=lambda: x * 2)
    thread.start()
    thread.join()
results.append(("in another thread", [*seen]))
with TorchFunctionMode():
    results.append(("no function", said(torch.add, x, x)))

# whom functions ask
sub, plain, other = x.as_subclass(Sub), x.as_subclass(Plain), x.as_subclass(Other)
asked = {
    "add": lambda: torch.add(sub, 1), "add of two": lambda: torch.add(x, sub), "alpha": lambda: torch.add(sub, 1, alpha=2),
    "method": lambda: sub.add(1), "operator": lambda: 1 - sub, "list": lambda: torch.cat([x, sub]), "layer": lambda: F.mse_loss(x, sub),
    "default": lambda: torch.add(plain, x), "default layer": lambda: F.relu(plain), "default method": lambda: plain.to(torch.float64),
    "two defaults": lambda: torch.add(plain, other), "two defaults in a layer": lambda: F.mse_loss(plain, other),
    "default and own": lambda: torch.add(plain, sub), "foreign": lambda: torch.add(x, Foreign()), "foreign layer": lambda: F.mse_loss(x, Foreign()),
    "foreign operator": lambda: x + Foreign(), "foreign on the left": lambda: Foreign() + x, "foreign list": lambda: torch.cat([x, Foreign()]),
    "foreign and default": lambda: torch.add(plain, Foreign()), "shape": lambda: sub.shape, "transposed": lambda: sub.T, "grad": lambda: sub.grad,
    "size": lambda: sub.size(), "text": lambda: sub.tolist(), "data": lambda: plain.data, "parameter": lambda: torch.nn.Parameter(x) + 1,
    "as subclass": lambda: sub.as_subclass(torch.Tensor),
}  # fmt: skip
for name, call in asked.items():
    seen.clear()
    value = said(call)
    results.append((name, [[*seen], value if isinstance(value, str) else type(value).__name__]))

# functions of the program
def doubled(a, b=1):
    if has_torch_function_variadic(a, b):
        return handle_torch_function(doubled, (a, b), a, b=b)
    return a * 2 * b


seen.clear()
with Log(seen):
    doubled(x)
doubled(sub, 3)
results.append(("of the program", [[*seen], has_torch_function((x, 1)), has_torch_function((sub,)), said(doubled, Foreign())]))


class Inside(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        seen.append(name_of(func))
        with self:
            return redispatch_function(func, types, args, kwargs or {})


seen.clear()
with Inside():
    results.append(("redispatched", [doubled(x), [*seen]]))

for function in (torch.add, torch.Tensor.add, torch.nn.functional.relu, torch.Tensor.shape.__get__, torch.linalg.norm, torch.nn.init.uniform_):
    results.append(("name", [resolve_name(function), is_tensor_method_or_property(function)]))


# modes that come and go between calls of functions that are captured, and inside of them
def step(a):
    b = F.relu(a @ weight - 1)
    return (b * b).sum() + F.mse_loss(b, a)


def inside(a, mode):
    b = a * 2
    with mode:
        c = b.sum()
    return c + a.sum()


found = []
for i in range(40):
    seen.clear()
    if i % 10 in (3, 7):
        with Half():
            found.append(step(x))
    elif i % 10 == 5:
        with Log(seen):
            found += [step(x), len(seen)]
    else:
        found.append(step(x))
results.append(("comes and goes", found))
results.append(("inside", [inside(x, Half() if i % 3 else BaseTorchFunctionMode()) for i in range(24)]))
results.append(("subclasses", [type(step(x if i % 3 else plain)).__name__ for i in range(24)]))
seen.clear()
results.append(("asked in captured calls", [[step(sub) is not None for i in range(16)], len(seen)]))
check(results, __file__)
