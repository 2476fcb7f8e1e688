# run: --torch
"""A hook of the user's that raises in backward."""

import torch


def hook(grad):
    raise ValueError(f"gradient {grad.tolist()} refused")


x = torch.ones(2, requires_grad=True)
x.register_hook(hook)
(x * 3).sum().backward()
