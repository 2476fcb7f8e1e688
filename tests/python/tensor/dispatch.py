# run: --torch
# run: --torch --capture=off
# run: --torch --capture=stress
"""__torch_dispatch__: the ops that modes see of calls and of gradients, what modes change, and subclasses of Tensor that are
wrappers around others."""

import pathlib
import sys

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode
from torch.utils._pytree import tree_map

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

results = []
# PyTorch shows how gradients add up and what it keeps of results, and frames of its own; one op of a layer is for the GPU.
UNSHOWN = ("aten.detach.default", "aten.lift_fresh.default", "aten.empty.memory_format", "profiler.")


def short(value):
    if isinstance(value, torch.Tensor):
        return f"T{list(value.shape)}"
    return [short(item) for item in value] if isinstance(value, (list, tuple)) else value


class Seen(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.lines = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if not str(func).startswith(UNSHOWN) and not (str(func) in ("aten.add_.Tensor", "aten.add.Tensor") and short(args[0]) == short(args[1])):
            named = {name: str(value).replace("torch.", "") for name, value in (kwargs or {}).items() if value is not None}
            self.lines.append(f"{func}{short(args)}{named or ''} -> {short(result)}")
        return result


def seen(function):
    torch.manual_seed(3)
    with Seen() as mode:
        function()
    return mode.lines


# ---- what a program is made of ---------------------------------------------------------------------------------------
def made(*size, grad=True):
    return wave(*size).float().requires_grad_(grad)


target = torch.tensor([0, 2, 1, 0])
mlp = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))
cnn = nn.Sequential(
    nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.5), nn.Linear(18, 3)
)  # fmt: skip
for model in (mlp, cnn):
    for p in model.parameters():
        p.data = wave(*p.shape).float() / 4
optimizer = torch.optim.SGD(mlp.parameters(), lr=0.1)


def trained(model, x):
    for p, g in zip(model.parameters(), torch.autograd.grad(F.cross_entropy(model(x), target), list(model.parameters()))):
        p.grad = g


results.append(("mlp", seen(lambda: trained(mlp, made(4, 6, grad=False)))))
results.append(("its gradients", [p.grad for p in mlp.parameters()]))
results.append(("sgd", seen(optimizer.step)))
results.append(("its parameters", list(mlp.parameters())))
results.append(("cnn", seen(lambda: trained(cnn, made(4, 1, 8, 8, grad=False)))))
results.append(("its first gradient", cnn[0].weight.grad))
results.append(("cnn, evaluated", seen(lambda: cnn.eval()(made(4, 1, 8, 8, grad=False)))))

x, s, image = made(4, 6), made(2, 5, 8), made(4, 1, 8, 8, grad=False)
x2, w3, w5, b5, m, q, im = made(4, 6), made(3, 8), made(5, 6), made(5), made(2, 8, 3), made(1, 2, 5, 4), made(1, 1, 4, 4)
k, v, m83, table, goal = made(1, 2, 5, 4), made(1, 2, 5, 4), made(8, 3), made(5, 3), made(4, 6, grad=False)
LEAVES = [x, s, x2, w3, w5, b5, m, q, im, k, v, m83, table]
CASES = """
x + 1 | x * 2.0 | 2 - x | x / 3 | x ** 2 | -x | x[0] | x[:, 1:] | x[..., None] | x.mean() | x.mean(0) | x.sum(1, keepdim=True)
x.view(6, 4) | x.reshape(2, 12) | x.T.reshape(24) | x.flatten() | x.permute(1, 0) | x.transpose(0, 1) | x.unsqueeze(0) | x.squeeze()
x.softmax(-1) | x.log_softmax(1) | x.double() | x.to(torch.float16) | x.clone() | x.expand(2, 4, 6) | x.exp() | x.sqrt() | x.log()
x.tanh() | x.sigmoid() | x.masked_fill(x > 0, 0.0) | torch.where(x > 0, x, 0.0) | torch.cat([x, x2]) | x.tril() | x.cumsum(0)
F.layer_norm(s, (8,)) | F.gelu(x) | F.silu(x) | F.mse_loss(x, goal) | F.nll_loss(x, target) | F.linear(s, w3)
F.linear(x, w5, b5) | torch.bmm(s, m) | torch.matmul(s, m83) | torch.matmul(s, m)
F.avg_pool2d(im, 2) | F.adaptive_avg_pool2d(im, 1) | F.leaky_relu(x) | F.embedding(target, table) | x.narrow(0, 0, 2)
F.scaled_dot_product_attention(q, k, v) | F.dropout(x, 0.25) | x.split(2)[0].clone() | F.pad(x, (1, 1)).detach()
"""
for line in CASES.strip().split("\n"):
    for text in line.split(" | "):

        def backward():
            result = eval(text)
            if result.requires_grad:
                torch.autograd.grad(result.sum(), LEAVES, allow_unused=True)

        results.append((text, seen(backward)))
PLAIN = """
torch.zeros(3) | torch.ones(2, 3) | torch.rand(2) | torch.arange(3) | torch.full((2,), 3.0) | torch.zeros_like(x) | x == 1 | x > x | x.argmax(1)
x.max(1) | x.topk(2) | x.sort() | x.std() | x.var(1) | x.chunk(2) | x.unbind() | x.sum().item() | x.any() | torch.equal(x, x) | torch.eye(3)
x.detach().zero_() | x.detach().add_(1) | x.detach().copy_(x) | x.detach().fill_(1) | x.detach().uniform_() | x.new_zeros(3) | x.norm()
(x > 0) & (x < 1) | ~(x > 0) | x.bool() | 2 ** x | x % 2 | torch.maximum(x, x) | x.flip(0) | x.roll(1) | x.diagonal() | x.isnan() | x.round()
x[target] | x[x > 0] | x.gather(1, target[:, None]) | x.index_select(0, target) | x.repeat(2, 1) | x.tile(2, 2) | F.interpolate(image, scale_factor=2)
"""
with torch.no_grad():
    for line in PLAIN.strip().split("\n"):
        for text in line.split(" | "):
            results.append((text, [line.split("-> ")[0] for line in seen(lambda: eval(text))] if "scale" not in text else []))


# ---- what a mode is told and what it changes -------------------------------------------------------------------------
class Told(TorchDispatchMode):
    def __init__(self, name):
        super().__init__()
        self.name = name

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        results.append((self.name, [str(func), func.name(), str(func.overloadpacket), str(func._schema), func._overloadname, func.namespace]))
        return func(*args, **(kwargs or {}))


with Told("outer"), Told("inner"):
    made(2, 2, grad=False).mm(made(2, 2, grad=False))
    made(2, grad=False).add_(3)


class Negated(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        return -result if func is torch.ops.aten.relu.default else result


with Negated():
    z = made(3)
    y = torch.relu(z)
    y.sum().backward()
    results.append(("inside", [type(_get_current_dispatch_mode()).__name__, y, y.requires_grad, z.grad]))
    z.grad = None
    (z * z + torch.relu(z)).sum().backward()
    (z * 3).sum().backward()
    results.append(("added up", z.grad))
results.append(("outside", [_get_current_dispatch_mode(), torch.relu(z)]))


class Refused(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return NotImplemented


try:
    with Refused():
        torch.ones(2)
except TypeError as error:
    results.append(("refused", str(error).split(";")[0]))
results.append(("by hand", [torch.ops.aten.add.Tensor(made(2, grad=False), 1, alpha=2), torch.ops.aten.addmm(torch.ones(2), torch.eye(2), torch.eye(2))]))
with Seen():
    leaf = made(3)
    (first,) = torch.autograd.grad((leaf.exp() * leaf).sum(), leaf, create_graph=True)
    results.append(("second", torch.autograd.grad(first.sum(), leaf)))


# ---- wrappers --------------------------------------------------------------------------------------------------------
class Wrapped(torch.Tensor):
    """Another tensor, whose ops are written down."""

    __torch_function__ = torch._C._disabled_torch_function_impl
    log = []

    @staticmethod
    def __new__(cls, elem, requires_grad=False):
        made = torch.Tensor._make_wrapper_subclass(cls, elem.shape, strides=elem.stride(), dtype=elem.dtype, requires_grad=requires_grad)
        made.elem = elem
        return made

    def __repr__(self):
        return f"Wrapped({self.elem})"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        cls.log.append(str(func))
        inside = lambda e: e.elem if isinstance(e, cls) else e  # noqa: E731
        outside = lambda e: cls(e) if isinstance(e, torch.Tensor) else e  # noqa: E731
        return tree_map(outside, func(*tree_map(inside, args), **tree_map(inside, kwargs or {})))


x, w = Wrapped(made(2, 3, grad=False), True), Wrapped(made(4, 3, grad=False), True)
y = (F.relu(F.linear(x, w)) + x.sum() * 2 + x[0, 1]).sum()
results.append(("forward", [type(y).__name__, y.elem, y.shape, y.requires_grad, x.dtype, x.stride(), x.is_contiguous(), repr(x)]))
y.backward()
results.append(("backward", [type(x.grad).__name__, x.grad.elem, w.grad.elem]))
(x * x).sum().backward()
results.append(("backward again", [type(x.grad).__name__, x.grad.elem]))
results.append(("its ops", sorted(set(Wrapped.log) - {"aten.detach.default"})))
results.append(("grad", [g.elem for g in torch.autograd.grad((x * w[:2]).mean(), [x, w])]))
results.append(("layers", nn.Sequential(nn.LayerNorm(3), nn.GELU())(Wrapped(made(2, 3, grad=False))).elem))


class Pair(torch.Tensor):
    @staticmethod
    def __new__(cls, a, b):
        return torch.Tensor._make_wrapper_subclass(cls, a.shape, dtype=a.dtype)

    def __init__(self, a, b):
        self.a, self.b = a, b

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        a, b = (func(*tree_map(lambda e: getattr(e, side) if isinstance(e, Pair) else e, args), **(kwargs or {})) for side in "ab")
        return Pair(a, b) if isinstance(a, torch.Tensor) else a


pair = Pair(torch.ones(2), torch.zeros(2))
for value in (pair + 1, pair.sum(), torch.stack([pair, pair]), pair[0], pair.view(2, 1), 3 - pair, pair.mul(3)):
    results.append(("pair", [type(value).__name__, value.a, value.b]))
with Seen() as mode:
    pair * 2
results.append(("pair in a mode", mode.lines))


class Below(torch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        results.append(("below", [str(func), [kind.__name__ for kind in types]]))
        return super().__torch_dispatch__(func, types, args, kwargs or {})


below = torch.Tensor._make_subclass(Below, torch.ones(3))
results.append(("made below", [type(below).__name__, type(below + 1).__name__, (below * 2).tolist()]))

check(results, __file__)
