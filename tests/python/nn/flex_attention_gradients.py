# run: --torch
"""Gradients of attention with functions of scores and masks, which PyTorch lacks on the CPU, are those of the formula; and
the named causal masks."""

import torch
from torch.nn.attention.bias import causal_lower_right, causal_upper_left
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

torch.manual_seed(0)
q, k, v = (torch.randn(2, 2, 5, 4, dtype=torch.float64) for _ in range(3))
slope = torch.tensor([0.3, -0.2], dtype=torch.float64)


def gradients(attend):
    leaves = [t.clone().requires_grad_() for t in (q, k, v, slope)]
    out = attend(*leaves)
    return [out, *torch.autograd.grad(out.sin().sum(), leaves)]


def by_functions(q, k, v, slope):
    mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, 5, 5, device="cpu")
    return flex_attention(q, k, v, lambda s, b, h, i, j: s + slope[h] * (i - j), mask)


def by_formula(q, k, v, slope):
    apart = torch.arange(5).unsqueeze(1) - torch.arange(5)
    scores = q @ k.mT / 2 + slope.view(2, 1, 1) * apart
    return scores.masked_fill(apart < 0, -torch.inf).softmax(-1) @ v


for got, wanted in zip(gradients(by_functions), gradients(by_formula)):
    torch.testing.assert_close(got, wanted)

for bias, wanted in ((causal_upper_left(2, 3), [[1, 0, 0], [1, 1, 0]]), (causal_lower_right(2, 3), [[1, 1, 0], [1, 1, 1]])):
    assert bias.int().tolist() == wanted
