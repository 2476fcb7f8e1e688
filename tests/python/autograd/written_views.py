# run: --torch
# run: --torch --capture=off
# run: --torch --capture=stress
"""Views written in place whose base then gets a gradient that lies otherwise in memory than the base does."""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

results = []


def diagonal(k):
    k.view(-1)[:: k.size(1) + 1] += 2.0
    return k


def rows(k):
    k.view(-1)[2:6] *= 3.0
    return k


def column(k):
    k.t()[1].mul_(0.75)
    return k


def pixels(k):
    k.view(2, -1)[:, 1] = 0.5
    return k


USES = {
    "transposed": lambda k: (k.t() * wave(4, 4)).t().contiguous(),
    "cholesky": lambda k: torch.linalg.cholesky(k @ k.t() + 4 * torch.eye(4, dtype=k.dtype)),
    "product": lambda k: k.t() @ wave(4, 4),
    "expanded": lambda k: k.sum(0).expand(3, 4),
}
for write in (diagonal, rows, column, pixels):
    for use, function in USES.items():
        x = wave(4, 4).requires_grad_()
        for _ in range(6):
            x.grad = None
            function(write(x * 1.5)).sum().backward()
        results.append((f"{write.__name__} {use}", x.grad))

# A base that lies by columns, and one whose gradient comes as a transposed tensor.
x = wave(4, 3).t().requires_grad_()
for _ in range(6):
    x.grad = None
    k = x * 2
    k.t().view(-1)[::5] *= -1
    k.backward(wave(3, 4))
results.append(("by columns", [k.stride(), x.grad]))
images = wave(2, 3, 2, 2).requires_grad_()
for _ in range(6):
    images.grad = None
    k = (images * 2).contiguous(memory_format=torch.channels_last)
    k.permute(0, 2, 3, 1).view(-1)[::4] += 1
    (k * wave(2, 3, 2, 2)).pow(2).sum().backward()
results.append(("images", images.grad))
check(results, pathlib.Path(__file__).with_suffix(".txt"))
