# run: --torch
# run: --torch --capture=off
# run: --torch --capture=stress
"""A function that passes over its own history, called outside of vmap first: below vmap, where calls leave histories to each
other, its graph is another one."""

import torch
from torch.func import vmap

w = torch.tensor([2.0, 3.0], requires_grad=True)


def asked(x):
    y = (w * x).square().sum()
    (slope,) = torch.autograd.grad(y, w)
    return y, slope


def again(x):
    y, slope = asked(x)
    return torch.autograd.grad(y, w)[0] - slope


for k in range(12):
    y, slope = asked(torch.ones(2) * k)
    assert slope.tolist() == [4.0 * k * k, 6.0 * k * k], slope
    try:
        torch.autograd.grad(y, w)
    except RuntimeError as e:
        assert "second time" in str(e), e
    else:
        raise AssertionError("a pass kept its graph")
rows = torch.arange(8.0).reshape(4, 2)
for _ in range(3):
    assert vmap(again)(rows).tolist() == [[0.0, 0.0]] * 4
    y, slope = asked(torch.ones(2))
    assert slope.tolist() == [4.0, 6.0], slope
