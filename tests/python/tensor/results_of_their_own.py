# run: --torch
# run: --torch --capture=off
# run: --torch --capture=stress
"""Ops that arrange their results at the end make tensors of their own: no views, which can forget their history in place."""

import pathlib
import sys

import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

x = wave(2, 3, 4, 4).float()
MADE = {
    "product of batches": lambda x: x @ x,
    "matrix times vector": lambda x: x @ x[0, 0, 0],
    "vector times matrix": lambda x: x[0, 0, 0] @ x[0, 0],
    "linear": lambda x: F.linear(x, x[0, 0]),
    "turned on its side": lambda x: x.mT.flatten(),
    "reshaped across": lambda x: x.permute(1, 0, 3, 2).reshape(6, 16),
    "tile": lambda x: x.tile(2),
    "roll": lambda x: x.roll(1),
    "rot90": lambda x: x.rot90(),
    "conv1d": lambda x: F.conv1d(x[0], x[0, :2, :, :2]),
    "attention": lambda x: F.scaled_dot_product_attention(x, x, x),
    "kron": lambda x: torch.kron(x[0, 0], x[0, 0]),
    "diag": lambda x: torch.diag(x[0, 0, 0]),
    "diag_embed": lambda x: torch.diag_embed(x),
    "cholesky": lambda x: torch.linalg.cholesky(x @ x.mT + 4 * torch.eye(4)),
    "inverse": lambda x: torch.linalg.inv(x @ x.mT + 4 * torch.eye(4)),
    "solve": lambda x: torch.linalg.solve(x @ x.mT + 4 * torch.eye(4), x),
    "solve_triangular": lambda x: torch.linalg.solve_triangular(x.tril() + 4 * torch.eye(4), x, upper=False),
    "logsumexp": lambda x: x.logsumexp(0),
    "quantile": lambda x: x.quantile(0.5),
    "unfold": lambda x: F.unfold(x, 2),
    "pixel_shuffle": lambda x: F.pixel_shuffle(x.reshape(1, 4, 6, 4), 2),
}
# What is a view to PyTorch as well.
VIEWS = {
    "einsum": lambda x: torch.einsum("abij,abjk->abik", x, x),
    "tensordot": lambda x: torch.tensordot(x, x[0, 0], 1),
    "reshaped along": lambda x: x.reshape(-1),
    "flatten": lambda x: x.flatten(1),
    "squeeze": lambda x: x[:1].squeeze(0),
    "split": lambda x: x.split(1)[0],
    "empty": lambda x: x[:0].reshape(0, 2),
}
items = []


def told(name, function):
    try:
        items.append((name, function()))
    except RuntimeError as error:
        items.append((name, f"RuntimeError {error}"))


def one(make, wants_grad):
    result = make((x + 0.0).requires_grad_() * 1 if wants_grad else x + 0.0)
    return [result._is_view(), result._base is None, result.requires_grad]


def history_forgotten(make):
    result = make((x + 0.0).requires_grad_() * 1)
    kept = result.clone()
    result.detach_()
    return [result.requires_grad, result.is_leaf, bool(result.isclose(kept).all()), result.mul_(2).grad_fn]


def written(make):
    """The gradient through a result that was written to."""
    leaf = (x + 0.0).requires_grad_()
    result = make(leaf)
    result.mul_(2)
    result.view(-1)[0] = 0.5
    result.square().mean().backward()
    return [type(result.grad_fn).__name__, leaf.grad]


for round_number in range(3):
    for name, make in (MADE | VIEWS).items():
        told(name, lambda: [one(make, False), one(make, True)])
for name, make in MADE.items():
    told(name + ", forgotten", lambda: history_forgotten(make))
for name in ("product of batches", "linear", "tile", "roll", "conv1d", "kron", "diag_embed", "turned on its side", "unfold", "einsum"):
    told(name + ", written", lambda: written((MADE | VIEWS)[name]))

check(items, __file__)
