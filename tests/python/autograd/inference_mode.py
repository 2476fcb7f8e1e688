# run: --torch
# run: --torch --capture=off
# run: --torch --capture=coexec TERRA_RUNNER=turns
# run: --torch --capture=verify
# run: --torch --capture=stress
"""Inference tensors: what makes them, what may be done to them outside of inference mode, and views made inside."""

import copy
import pathlib
import pickle
import sys
import threading

import torch
import torch.nn as nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes, wave  # noqa: E402

results = []


def modes():
    return [torch.is_grad_enabled(), torch.is_inference_mode_enabled()]


def fresh(*size):
    return wave(*size).clone()


def state(t):
    return [t.is_inference(), t.requires_grad, t.is_leaf, t._is_view()]


# ---- the mode
with torch.inference_mode():
    inside = [modes()]
    with torch.enable_grad():
        inside.append(modes())
    with torch.inference_mode(False):
        inside.append(modes())
        with torch.no_grad(), torch.inference_mode():
            inside.append(modes())
        inside.append(modes())
    with torch.set_grad_enabled(True):
        inside.append(modes())
    inside.append(modes())
with torch.no_grad():
    with torch.inference_mode(False):
        inside.append(modes())
    inside.append(modes())
results.append(("modes", inside + [modes()]))
try:
    with torch.inference_mode():
        raise ValueError
except ValueError:
    results.append(("after an error", modes()))


@torch.inference_mode()
def decorated(t):
    return t * 2, modes()


@torch.inference_mode
def bare(t):
    return t + 1, modes()


@torch.inference_mode(mode=False)
def recorded(t):
    return t * 2, modes()


@torch.inference_mode()
def stream(t):
    for _ in range(2):
        sent = yield t * 2, modes()
        assert sent is None and torch.is_inference_mode_enabled()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)

    @torch.inference_mode()
    def forward(self, x):
        return self.layer(x)


x = fresh(3).requires_grad_()
for name, function in {"decorated": decorated, "bare": bare, "recorded": recorded}.items():
    made, found = function(x)
    results.append((name, [state(made), found, modes(), function.__name__]))
for made, found in stream(x):
    results.append(("generator", [state(made), found, modes()]))
results.append(("method", state(Net()(torch.ones(1, 3)))))
with torch.no_grad():
    with torch.inference_mode(False):
        results.append(("recorded in no_grad", state(x * 2)))

# ---- what is made inside
normal, leaf = fresh(3), fresh(3).requires_grad_()
with torch.inference_mode():
    i, spare = fresh(3), fresh(3)
    expressions = """
    state(leaf * 2) | state(leaf.view(3)) | state(normal.view(3)) | state(leaf.detach()) | state(normal.detach())
    state(normal.data) | state(normal[0:2]) | state(i[0:2]) | state(i.data) | state(normal.contiguous())
    state(normal.to(normal.dtype)) | state(normal.float()) | state(normal.reshape(1, 3)) | state(normal.expand(2, 3))
    state(torch.tensor([1.0, 2.0])) | state(torch.as_tensor([1.0])) | state(torch.zeros_like(leaf)) | state(torch.rand(2))
    state(nn.Linear(2, 2).weight) | state(nn.Parameter(fresh(2))) | state(fresh(3).requires_grad_() * 2)
    [state(part) for part in fresh(3).split(1)] | state(normal.clone()) | state(copy.deepcopy(normal)) | i._version
    normal._version | normal.add_(1)._version | leaf.mul_(2).requires_grad | leaf._version | i.add_(1).tolist()
    """
    results += outcomes("\n".join(line.strip() for line in expressions.split("\n")), globals())
    with torch.enable_grad():
        results.append(("with gradients on", state(leaf * 2) + state(fresh(3).requires_grad_() * 2)))
    with torch.inference_mode(False):
        results += outcomes("state(leaf * 2) | state(fresh(2)) | leaf * i | state(leaf + i) | state(i.clone())", globals())
    view, plain_view, of_computed = leaf.view(3), normal.view(3), (leaf * 1).view(3)
    asked = fresh(3).requires_grad_()

# ---- outside
i = spare
expressions = """
state(i) | state(i + 1) | state(i.view(3)) | state(i[0]) | state(i.detach()) | state(i.data) | state(i.clone())
state(i.contiguous()) | state(i.float()) | state(torch.stack([i, normal])) | i._version | i.numpy().shape
i.requires_grad_() | i.requires_grad_(False).requires_grad | setattr(i, "requires_grad", True) | state(i)
leaf * i | state(leaf + i) | state(leaf * i.clone()) | state(leaf - 2 * i) | torch.dot(leaf, i) | state(torch.dot(normal, i))
nn.functional.linear(i, fresh(2, 3).requires_grad_()) | (leaf * 1).mul_(i) | state((leaf * 1).add_(i))
normal.add_(i)._version | normal.mul_(i).is_inference() | state(asked) | state(asked * 1) | (asked * 2).sum().backward()
state(pickle.loads(pickle.dumps(i))) | state(copy.deepcopy(i)) | torch.is_inference(i) | torch.is_inference(normal)
i.add_(1) | i.tolist() | i.zero_() | i.copy_(normal) | i.t_() | i.resize_(2) | i.resize_(3) | torch.add(normal, 1, out=i) | i.sub_(i)
i.__setitem__(0, 1.0) | i.__iadd__(1) | torch._foreach_add_([i], 1) | i.unsqueeze_(0) | i.uniform_() | i.fill_(2.0)
torch.cat([leaf, i.flatten()]).sum().backward() | leaf.grad
view.requires_grad | view.add_(1) | plain_view.add_(1)._version | view * 2 | of_computed.requires_grad | of_computed.add_(1)
"""
with torch.no_grad():
    results += outcomes("i.add_(1) | i.zero_() | i.tolist() | state(i * 2) | leaf * i", globals())
results += outcomes(expressions, globals())
written = fresh(3).requires_grad_()
with torch.inference_mode():
    seen = written.view(3)
    part = written[1:].view(2)
    written.add_(1)
results += outcomes("seen.requires_grad | seen * 2 | seen.grad_fn | part.add_(1) | repr(seen)[-23:]", globals())
with torch.no_grad():
    seen.add_(1)
results.append(("a view in no_grad mode", [seen.tolist(), written._version]))


# ---- nodes of the program, threads, layers
class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, grad):
        a, b = ctx.saved_tensors
        return grad * b, grad * a


def report(into):
    into.append([modes(), torch.ones(1).is_inference()])


with torch.inference_mode():
    i, norm, layer, elsewhere = fresh(3), nn.BatchNorm1d(3), nn.Linear(3, 2), []
    thread = threading.Thread(target=report, args=(elsewhere,))
    thread.start()
    thread.join()
    results.append(("a function inside", state(Product.apply(leaf, i))))
results.append(("another thread", elsewhere))
results += outcomes("Product.apply(leaf, i) | state(Product.apply(leaf, i.clone())) | norm(torch.ones(2, 3))", globals())
results.append(("a layer made inside", state(layer.weight) + state(layer(torch.ones(3)))))


# ---- in hot functions: each mode has its results, and nobody gets those of the other
def double(t, w):
    y = (t * w + 1).relu()
    return y, y[0], y.is_inference()


def evaluate(t, w):
    with torch.inference_mode():
        y = t * w
        part = y.view(-1)[:2]
    z = y + t
    return y.is_inference(), part.is_inference(), z.is_inference(), y.requires_grad, z.requires_grad, y, part, z


def trained(t, w):
    with torch.inference_mode():
        factor = t.mean()
    loss = (t * w).sum() + factor
    loss.backward()
    return loss.requires_grad, factor.is_inference()


def saved(t, w):
    try:
        return (t * w).requires_grad
    except RuntimeError as error:
        return str(error)[:30]


w = fresh(4).requires_grad_()
with torch.inference_mode():
    given = fresh(4) * 2
for k in range(30):
    t = fresh(4) + k
    if k % 3 == 0:
        with torch.inference_mode():
            out = double(t, w)
    else:
        out = double(t if k % 2 else given.clone(), w)
    if k % 7 == 0:
        results.append((f"double {k}", [state(out[0]), state(out[1]), out[2], out[0]]))
    out = evaluate(t, w)
    flags = [state(t) for t in out[5:]]
    for t in out[5:7]:
        try:
            t.add_(1)
            flags.append("written")
        except RuntimeError:
            flags.append("refused")
    if k % 9 == 0:
        results.append((f"evaluate {k}", [out[:5], flags, out[7]]))
    w.grad = None
    done = trained(fresh(4) + k, w)
    if k % 9 == 0:
        results.append((f"trained {k}", [done, w.grad]))
    results.append((f"saved {k}", saved(given if k % 2 else given.clone(), w)))
def by_turns(t):
    made = []
    for k in range(4):
        with torch.inference_mode(k % 2 == 0):
            t = t + 1
            made.append(t.is_inference())
    return made, t


def left_early(t, positive):
    with torch.inference_mode():
        if positive:
            return t * 2
    return t * 3


for k in range(24):
    made, out = by_turns(w)
    early = [state(left_early(w, positive)) for positive in (k % 2 == 0, True)]
    if k % 8 == 0:
        results.append((f"by turns {k}", [made, state(out), early]))
net = Net()
net.load_state_dict({"layer.weight": fresh(2, 3), "layer.bias": fresh(2)})
for k in range(15):
    y = net(fresh(2, 3).float() + k)
results.append(("net", [state(y), y]))
total = 0
for k in range(20):
    with torch.inference_mode():
        total = total + (fresh(3) * k).sum()
results.append(("sum", [state(total), total]))
check(results, pathlib.Path(__file__).with_suffix(".txt"))
