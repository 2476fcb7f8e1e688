# run: --torch
# run: --torch --capture=stress
"""Factors in front of what they multiply, as PyTorch took them before it took them by keyword, and what still is an error;
bounds of randint_like by keyword."""

import pathlib
import sys
import warnings

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

warnings.simplefilter("ignore")
a, b, c, v = torch.ones(2, 2), torch.full((2, 2), 3.0), torch.tensor([[2.0, 1.0], [0.5, 4.0]]), torch.tensor([1.0, 2.0])
A, B, Z = a[None], b[None], c[None]
CALLS = """
torch.add(a, 2, b); a.add(2, b); a.clone().add_(-0.5, b); torch.add(a, 2, b, out=torch.empty(2, 2)); a.add(torch.tensor(2.0), b)
torch.sub(a, 2, b); a.sub(2, b); a.clone().sub_(2, b)
torch.addcmul(a, 2, b, c); a.addcmul(2, b, c); a.clone().addcmul_(2, b, c)
torch.addcdiv(a, 2, b, c); a.addcdiv(2, b, c); a.clone().addcdiv_(-0.1, b, c)
torch.addmm(2, a, 3, b, c); torch.addmm(2, a, b, c); a.addmm(2, 3, b, c); a.addmm(2, b, c); a.clone().addmm_(2, 3, b, c)
torch.addmv(2, v, 3, b, v); torch.addmv(2, v, b, v); v.addmv(2, 3, b, v); v.clone().addmv_(2, 3, b, v)
torch.addr(2, a, 3, v, v); a.addr(2, 3, v, v); a.clone().addr_(2, v, v)
torch.baddbmm(2, A, 3, B, Z); A.baddbmm(2, B, Z); A.clone().baddbmm_(2, 3, B, Z)
torch.addbmm(2, a, 3, B, Z); a.addbmm(2, 3, B, Z)
torch.randint_like(a, high=1); torch.randint_like(a, 1); torch.randint_like(a, low=4, high=5); torch.randint_like(a, 4, 5)
"""
WRONG = "a.add(b, c); a.add(1, 2, b); torch.add(a, b, c, b); a.addcmul(b, c, b); torch.addmm(1, 2, 3, a, b, c); a.mul(2, b)"

results = []
for text in (call.strip() for line in CALLS.strip().splitlines() for call in line.split(";")):
    results.append((text, eval(text)))
for text in WRONG.split("; "):
    try:
        results.append((text, eval(text)))
    except (TypeError, RuntimeError) as error:
        results.append((text, type(error).__name__))

p = torch.tensor([1.0, 2.0], requires_grad=True)
torch.add(p * p, 3, p).sum().backward()
results.append(("gradient", p.grad))


def step(p, grad, average, square):
    """Adam as it was written in 2018."""
    average.mul_(0.9).add_(1 - 0.9, grad)
    square.mul_(0.99).addcmul_(1 - 0.99, grad, grad)
    p.addcdiv_(-0.1, average, square.sqrt().add_(1e-8))


state = [torch.tensor([1.0, -2.0]), torch.tensor([0.5, 0.1]), torch.zeros(2), torch.zeros(2)]
for _ in range(5):
    step(*state)
results.append(("steps", state[0]))
check(results, __file__)
