# run: --torch
"""Hot frames that meet sparse tensors: one as an argument, made inside, changed between calls, in the place of a dense
one, as a gradient that was dense before. Each call gives what plain execution gives."""

import torch
import torch.nn.functional as F
from torch import capture, nn

torch.manual_seed(3)
PLACES = torch.tensor([[0, 1, 1, 3], [2, 0, 2, 1]])


def matrix(scale=1.0):
    return torch.sparse_coo_tensor(PLACES, torch.tensor([1.0, 2.0, 3.0, 4.0]) * scale, (4, 4))


def dense(value):
    return value.to_dense() if isinstance(value, torch.Tensor) else value


def product(a, x):
    y = x * 2 + 1
    return (a @ y).relu() + torch.spmm(a, x)


def reflected(a, x):
    return (x @ a) * 2 + (x + a)


def made(values, x):
    a = torch.sparse_coo_tensor(PLACES, values, (4, 4))
    return torch.sparse.mm(a * 2, x).sum() + torch.sparse.sum(a)


def attributes(a, x):
    return x * a._nnz() + a._values().sum() + len(a.shape) if a.is_sparse else x * a


def entries(a, x):
    return a.coalesce().values().sum() * x + a.t().to_dense()


def differentiated(values, x):
    values = values.detach().requires_grad_()
    loss = (torch.sparse_coo_tensor(PLACES, values, (4, 4)) @ x).square().sum()
    loss.backward()
    return values.grad * 1


def refused(a, x):
    try:
        return a.cos() + x
    except NotImplementedError:
        return x * 3


def calls(function):
    x = torch.randn(4, 4)
    if function in (made, differentiated):
        for i in range(40):
            yield torch.arange(1.0, 5.0) + i, x
        return
    a, b = matrix(), matrix(2.0)
    for i in range(30):
        yield a, x
    a.mul_(3)  # other values behind the same object
    for _ in range(4):
        yield a, x
    a._values().add_(1)
    for _ in range(4):
        yield a, x
    a.zero_()
    yield a, x
    for _ in range(6):
        yield b, x
        yield torch.sparse_coo_tensor(PLACES[:, :2], torch.tensor([5.0, 6.0]), (4, 4)), x
    if function is not entries:
        for _ in range(6):
            yield b.to_dense(), x
            yield b, x
    yield b.coalesce(), x.clone().requires_grad_()
    yield b.to_sparse_csr(), x


def outcome(function, arguments):
    try:
        return dense(function(*arguments)).detach().clone()
    except Exception as error:  # noqa: BLE001
        return f"{type(error).__name__}: {error}"


for function in (product, reflected, made, attributes, entries, differentiated, refused):
    for number, arguments in enumerate(calls(function)):
        captured = outcome(function, arguments)
        with capture.mode("off"):
            plain = outcome(function, arguments)
        if isinstance(plain, torch.Tensor) and isinstance(captured, torch.Tensor):
            same = torch.equal(captured, plain)
        else:
            same = captured == plain
        assert same, f"{function.__name__}, call {number}: {captured}, plainly {plain}"


# ---- a step whose gradients become sparse, and dense again ----
def steps(mode):
    torch.manual_seed(5)
    table, other = nn.Embedding(9, 3), nn.Linear(3, 1)
    optimizer = torch.optim.SGD([*table.parameters(), *other.parameters()], lr=0.1)
    where = torch.tensor([1, 4, 4, 7])

    def step():
        optimizer.zero_grad()
        loss = (other(table(where)) ** 2).sum()
        loss.backward()
        nn.utils.clip_grad_norm_(table.parameters(), 1.0)
        optimizer.step()
        return loss.item()

    def accumulate():
        (F.embedding(where, table.weight, sparse=True).sum() + table.weight.sum()).backward()

    losses, layouts = [], []
    with capture.mode(mode):
        for i in range(90):
            table.sparse = 30 <= i < 60
            losses.append(step())
            layouts.append(table.weight.grad.layout)
            if i % 7 == 0:
                accumulate()
                losses.append(table.weight.grad.to_dense().sum().item())
    return losses, layouts, table.weight.detach().tolist()


plain, captured = steps("off"), steps("auto")
assert plain == captured, [(i, a, b) for i, (a, b) in enumerate(zip(plain[0], captured[0])) if a != b][:5]
assert plain[1][0] is torch.strided and plain[1][45] is torch.sparse_coo and plain[1][-1] is torch.strided

# ---- a table that is computed: what comes before the rows gets the gradient that dense ones give ----
WHERE = torch.tensor([1, 1, 4])


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def computed(w):
    x = w * 2 + 1
    return (x * x).tanh() * w


def written(w):
    x = w * 1
    x[:2].mul_(3)
    return x


def both(w):
    x = computed(w)
    return x + F.embedding(WHERE, x, sparse=True).sum()


for table in (computed, Doubled.apply, written, both):
    for _ in range(40):
        gradients = []
        for sparse in (True, False):
            w = torch.linspace(-1.0, 1.0, 15).view(5, 3).requires_grad_()
            F.embedding(WHERE, table(w), sparse=sparse).sum().backward()
            gradients.append(w.grad.to_dense())
        assert torch.allclose(*gradients), (table, gradients)
