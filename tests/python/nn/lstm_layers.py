# run: --torch
"""Whole layers of LSTM: gradients by inputs, states and weights, gradients of gradients, steps again and again, as
PyTorch's."""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402


def made(*shape, start=0.0):
    count = int(torch.tensor(shape).prod())
    return torch.sin(torch.arange(count, dtype=torch.float64) * 0.7 + start).reshape(shape)


def layer_of(bidirectional, bias=True):
    layer = nn.LSTM(3, 5, bias=bias, bidirectional=bidirectional, dtype=torch.float64)
    with torch.no_grad():
        for i, weight in enumerate(layer.parameters()):
            weight.copy_(made(*weight.shape, start=i) * 0.5)
    return layer


def told(tensors):
    return " ".join(f"{t.sum().item():.6f}/{t.square().sum().item():.6f}" for t in tensors)


def walk():
    for steps, examples in ((1, 1), (4, 2), (6, 9)):
        for bidirectional in (False, True):
            layer, directions = layer_of(bidirectional), 1 + bidirectional
            x = made(steps, examples, 3).requires_grad_()
            state = tuple(made(directions, examples, 5, start=i).requires_grad_() for i in (1.0, 2.0))
            output, (h, c) = layer(x, state)
            wanted = [x, *state, *layer.parameters()]
            for name, loss in (
                ("output", (output * made(*output.shape)).sum()), ("h", h.square().sum()), ("c", c.square().sum()),
                ("all", (output.sum() + h.square().sum()) * c.sum()),
            ):  # fmt: skip
                grads = torch.autograd.grad(loss, wanted, retain_graph=True, allow_unused=True)
                yield f"{steps} {examples} {bidirectional} {name}: {told(g for g in grads if g is not None)}"
            grads = torch.autograd.grad(output.square().sum() + (h * c).sum(), wanted, create_graph=True)
            again = torch.autograd.grad(sum((g * made(*g.shape)).sum() for g in grads), wanted)
            yield f"{steps} {examples} {bidirectional} again: {told(again)}"
    layer = layer_of(False, bias=False)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.05)
    for step in range(20):
        optimizer.zero_grad()
        loss = (layer(made(5, 2, 3, start=step))[0] - 0.3).square().mean()
        loss.backward()
        optimizer.step()
        yield f"step {step}: {loss.item():.6f}"
    with torch.no_grad():
        for step in range(16):
            output, (h, c) = layer(made(3 + step % 2, 2, 3, start=step))
            yield f"without gradient {step}: {told([output, h, c])}"
    single = layer_of(True).float()
    x = made(4, 2, 3).float()
    for layer in (nn.LSTM(3, 5), layer_of(False)):
        yield f"node: {layer(made(4, 2, 3).to(layer.weight_hh_l0.dtype))[0].grad_fn.name()}"
    yield f"float32: {tuple(single(x)[0].shape)} {single(x)[0].sum().item():.4f}"
    yield f"no examples: {tuple(single(x[:, :0])[0].shape)}"


check([line.split(": ", 1) for line in walk()], __file__)
