# run: --torch
# run: --torch --capture=off
"""Gradients of functions over sparse tensors, by their values and by the dense side, as PyTorch's."""

import pathlib
import sys
import warnings

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

warnings.simplefilter("ignore")

ORDERED = torch.tensor([[0, 0, 1, 2], [1, 3, 0, 2]])
REPEATED = torch.tensor([[2, 0, 2, 1], [2, 1, 2, 0]])
M = torch.Tensor.to_dense

FUNCTIONS = {
    "sparse.mm": lambda a, d: torch.sparse.mm(a, d), "@": lambda a, d: a @ d,
    "spmm": lambda a, d: torch.spmm(a, d), "mv": lambda a, d: a @ d[:, 0],
    "dense @ sparse": lambda a, d: d.t() @ a.t(),
    "addmm": lambda a, d: torch.sparse.addmm(torch.ones(3, 2, dtype=d.dtype), a, d, beta=2, alpha=3),
    "mm of 2a": lambda a, d: torch.sparse.mm(a * 2, d),
    "to_dense": lambda a, d: M(a) @ d, "coalesced": lambda a, d: a.coalesce() @ d,
    "transposed": lambda a, d: a.t() @ d[:3], "sum": lambda a, d: torch.sparse.sum(a) * d,
    "sum 0": lambda a, d: M(torch.sparse.sum(a, 0)) @ d,
    "softmax": lambda a, d: M(torch.sparse.softmax(a.coalesce(), 1)) @ d,
    "log_softmax": lambda a, d: M(torch.sparse.log_softmax(a.coalesce(), 1)) @ d,
    "a + a": lambda a, d: M(a + a) @ d, "d + a": lambda a, d: (d.t()[:1] + M(a)) @ d,
    "dense plus": lambda a, d: (wave(3, 4) + a) @ d,
    "values": lambda a, d: a.coalesce().values().pow(2).sum() * d,
    "neg": lambda a, d: (-a) @ d, "sparse @ sparse": lambda a, d: M(torch.sparse.mm(a, a.t())) @ d[:3],
}  # fmt: skip


def by_values(function, places):
    """From values through the constructor, and the dense operand."""
    values, dense = wave(4).requires_grad_(), wave(4, 2).requires_grad_()
    result = function(torch.sparse_coo_tensor(places, values, (3, 4)), dense)
    (result * wave(*result.shape)).sum().backward()
    return [result.detach(), values.grad, dense.grad]


def by_leaf(function, places):
    """From a sparse leaf: its gradient at its places, whatever layout that has (PyTorch's may be dense)."""
    leaf, dense = torch.sparse_coo_tensor(places, wave(4), (3, 4), requires_grad=True), wave(4, 2)
    function(leaf, dense).sum().backward()
    return [leaf.is_leaf, leaf.grad.to_dense()[leaf.detach().to_dense() != 0]]


def of_leaf(use):
    leaf, dense = torch.sparse_coo_tensor(ORDERED, wave(4), (3, 4), requires_grad=True), wave(4, 2)
    loss = lambda: torch.sparse.mm(leaf, dense).sum()  # noqa: E731
    return use(leaf, loss)


def hooked(leaf, loss):
    leaf.register_hook(lambda g: g * 2)
    loss().backward()
    return leaf.grad.to_dense()


def twice(leaf, loss):
    loss().backward()
    loss().backward()
    return leaf.grad.to_dense()


def asked(leaf, loss):
    return torch.autograd.grad(loss(), leaf)[0].to_dense()


def moved(leaf, loss):
    optimizer = torch.optim.SGD([leaf], lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
    return [leaf.detach().to_dense(), leaf.requires_grad, leaf.is_leaf]


def scaled(leaf, loss):
    with torch.no_grad():
        leaf.mul_(2)
    return [leaf.requires_grad, leaf.is_leaf, leaf.detach().to_dense(), asked(leaf, loss)]


def changed(leaf, loss):
    return leaf.mul_(2)


def through_sparse(leaf, loss):
    values = wave(4).requires_grad_()
    (torch.sparse_coo_tensor(ORDERED, values, (3, 4)) * 2).backward(torch.sparse_coo_tensor(ORDERED, wave(4), (3, 4)))
    return values.grad


def scaler(leaf, loss):
    table = torch.nn.Embedding(4, 2, sparse=True, _weight=torch.ones(4, 2))
    optimizer, scale = torch.optim.SGD(table.parameters(), lr=0.1), torch.amp.GradScaler("cpu", init_scale=4.0)
    scale.scale(table(torch.tensor([1, 1])).sum()).backward()
    scale.unscale_(optimizer)
    scale.step(optimizer)
    return table.weight.detach()


def attention():
    """The product of a graph attention layer, with a backward of its own."""

    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, indices, values, shape, b):
            assert not indices.requires_grad
            a = torch.sparse_coo_tensor(indices, values, shape)
            ctx.save_for_backward(a, b)
            ctx.N = shape[0]
            return torch.matmul(a, b)

        @staticmethod
        def backward(ctx, grad_output):
            a, b = ctx.saved_tensors
            grad_values = grad_b = None
            if ctx.needs_input_grad[1]:
                edges = a._indices()[0, :] * ctx.N + a._indices()[1, :]
                grad_values = grad_output.matmul(b.t()).view(-1)[edges]
            if ctx.needs_input_grad[3]:
                grad_b = a.t().matmul(grad_output)
            return None, grad_values, None, grad_b

    values, dense = wave(4).requires_grad_(), wave(4, 2).requires_grad_()
    result = Product.apply(ORDERED, values, torch.Size([4, 4]), dense)
    (result * wave(4, 2)).sum().backward()
    return [result.detach(), values.grad, dense.grad]


def said(function, *arguments):
    try:
        return function(*arguments)
    except Exception as error:  # noqa: BLE001
        return type(error).__name__


def items():
    for name, function in FUNCTIONS.items():
        for kind, places in (("in order", ORDERED), ("as they come", REPEATED)):
            yield f"{name} {kind} values", said(by_values, function, places)
            if name not in ("values", "dense plus", "d + a"):
                yield f"{name} {kind} leaf", said(by_leaf, function, places)
    for use in (hooked, twice, asked, moved, scaled, changed, through_sparse, scaler):
        yield use.__name__, said(of_leaf, use)
    yield "attention", said(attention)
    for _ in range(8):  # as a hot frame
        yield "attention again", said(attention)
        yield "mm again", said(by_values, FUNCTIONS["sparse.mm"], ORDERED)


check(items(), __file__)
