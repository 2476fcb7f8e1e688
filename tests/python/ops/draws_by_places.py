# run: --torch
# run: --torch --capture=off
"""Random numbers go by places in memory: what is drawn for tensors that lie otherwise than row by row, as PyTorch's."""

import pathlib
import sys

import torch
from torch.nn import functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

ROWS = torch.ones(3, 7, 5)
OPERANDS = {
    "rows": lambda: ROWS.clone(), "transposed": lambda: ROWS.clone().transpose(0, 1), "permuted": lambda: ROWS.clone().permute(2, 0, 1),
    "with gaps": lambda: ROWS.clone()[:, ::2], "transposed, with gaps": lambda: ROWS.clone().transpose(0, 1)[1:],
    "channels last": lambda: torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last), "with a dimension of 1": lambda: ROWS.clone().unsqueeze(1).transpose(0, 2),
}  # fmt: skip
DRAWS = {
    "dropout": lambda t: F.dropout(t, 0.3), "dropout in place": lambda t: F.dropout(t, 0.3, inplace=True), "alpha dropout": lambda t: F.alpha_dropout(t, 0.3, True),
    "dropout of channels": lambda t: F.dropout1d(t, 0.3) if t.dim() == 3 else F.dropout2d(t, 0.3), "rrelu": lambda t: F.rrelu(t - 2, training=True),
    "normal": lambda t: t.normal_(1, 2), "uniform": lambda t: t.uniform_(-1, 1), "exponential": lambda t: t.exponential_(), "bernoulli": lambda t: t.bernoulli_(0.3),
    "bernoulli by tensor": lambda t: t.bernoulli_(torch.linspace(0, 1, t.numel()).view(t.shape)), "fresh bernoulli": lambda t: torch.bernoulli(t, 0.3),
    "bernoulli of each": lambda t: torch.bernoulli(t * 0.5), "random": lambda t: t.random_(5), "random from": lambda t: t.random_(2, 9), "cauchy": lambda t: t.cauchy_().clamp(-9, 9),
    "geometric": lambda t: t.geometric_(0.4), "log normal": lambda t: t.log_normal_(0, 0.5), "gumbel softmax": F.gumbel_softmax, "rand like": torch.rand_like, "randn like": torch.randn_like,
    "randn like in rows": lambda t: torch.randn_like(t, memory_format=torch.contiguous_format), "randint like": lambda t: torch.randint_like(t, 9),
}  # fmt: skip


def drawn(draw, t):
    made = draw(t)
    weights = torch.arange(made.numel(), dtype=torch.float64).view(made.shape).cos()
    return (made.double() * weights).sum(), made.stride()


items = []
for kind, operand in OPERANDS.items():
    for name, draw in DRAWS.items():
        torch.manual_seed(3)
        total, strides = [(drawn(draw, operand())) for _ in range(8)][-1]  # the last ones are drawn by a graph
        items.append((f"{name}, {kind}", [total, list(strides), torch.rand(1)]))
check(items, __file__)
