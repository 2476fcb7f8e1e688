# run: --torch
# run: --torch --capture=off
"""Tensor.new, numbers and texts in one sequence, distinct elements as plain tuples, rounding as a quantized tensor would;
lengths that are too few, futures of calls, dimensions without names."""

import pathlib
import sys

import numpy
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

items = []


def told(name, function):
    try:
        items.append((name, function()))
    except (RuntimeError, ValueError, TypeError, IndexError) as error:
        items.append((name, f"{type(error).__name__} {error}"))


x = torch.ones(2, dtype=torch.float64)
for data in ((2, 3), (1.5, 2), [1, 2], range(3), numpy.arange(3), numpy.ones((1, 2), dtype=numpy.float32), "a", 1.5):
    told(f"new({data!r})", lambda: x.new(data))
told("new of sizes", lambda: [list(t.shape) for t in (x.new(), x.new(3), x.new(numpy.int64(3)), x.new(2, 3), x.new(torch.Size([2, 3])), x.new(size=(2,)), x.new(2, device="cpu"))])

for data in (
    [1, "a"], ["a", 1], ["a"], [1.0, "a"], [[1], ["a"]], [[1], "a"], [1, [2]], [1.0, [2]], [[1], 2], [1j, (1,)], [1, None],
):  # fmt: skip
    told(f"tensor({data})", lambda: torch.tensor(data))

numbers = torch.tensor([3, 1, 3, 2])
for name, result in (
    ("counts", numbers.unique(return_counts=True)), ("inverse", torch.unique(numbers, return_inverse=True)),
    ("both", torch.unique(numbers, return_inverse=True, return_counts=True)),
    ("along", torch.unique(numbers.view(2, 2), dim=0, return_counts=True)),
    ("runs", torch.unique_consecutive(numbers, return_counts=True)),
    ("runs, both", numbers.unique_consecutive(return_inverse=True, return_counts=True)),
):  # fmt: skip
    items.append((name, [type(result).__name__, result]))

x = torch.tensor([-1.0, 0.04, 0.05, 0.15, 0.5, 2.0, float("inf"), float("nan")], requires_grad=True)
y = torch.fake_quantize_per_tensor_affine(x, 0.1, 3, 0, 15)
y.sum().backward()
items.append(("quantized", [y, x.grad, y.grad_fn.name()]))
items.append(("of tensors", torch.fake_quantize_per_tensor_affine(x, torch.tensor(0.1), torch.tensor(3, dtype=torch.int32), -128, 127)))
w = torch.tensor([[0.55, -3.0], [0.31, 30.0]], requires_grad=True)
scales, zeros = torch.tensor([0.1, 2.0]), torch.zeros(2, dtype=torch.int32)
for _ in range(14):
    w.grad = None
    by_column = torch.fake_quantize_per_channel_affine(w, scales, zeros, 1, -8, 7)
    (by_column * 2).sum().backward()
items.append(("by column", [by_column, w.grad, by_column.grad_fn.name(), torch.fake_quantize_per_channel_affine(w, scales, zeros, 0, -8, 7)]))
told("outside", lambda: torch.fake_quantize_per_tensor_affine(x, 0.1, 300, 0, 255))
told("no range", lambda: torch.fake_quantize_per_tensor_affine(x, 0.1, 0, 10, 1))
told("one scale", lambda: torch.fake_quantize_per_channel_affine(w, scales[:1], zeros, 1, 0, 3))
told("three", lambda: torch.fake_quantize_per_channel_affine(w, torch.ones(3), torch.zeros(3, dtype=torch.int32), 1, 0, 3))
told("a zero point outside", lambda: torch.fake_quantize_per_channel_affine(w, scales, zeros - 1, 1, 0, 3))

told("unpad", lambda: torch.nn.utils.rnn.unpad_sequence(torch.ones(2, 3), torch.tensor([2, 1, 0])))
told("unpad by too few lengths", lambda: torch.nn.utils.rnn.unpad_sequence(torch.ones(2, 3), torch.tensor([2, 1])))
future = torch.jit.fork(lambda a, b: a + b, torch.ones(1), b=2)
items.append(("future", [future.wait(), torch.jit.wait(future), future.done(), future.then(lambda done: done.wait() * 2).wait()]))
items.append(("names", [hasattr(torch.Tensor, name) for name in ("names", "rename", "align_to", "refine_names")]))
for make in (torch.zeros, torch.ones, torch.empty):
    told(make.__name__, lambda: make(2, names=("N",)))

check(items, __file__)
