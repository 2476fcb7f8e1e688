# run: --torch
"""A view that was there before its base got a history through another view. Values were taken from PyTorch."""
import torch

w = torch.tensor([0.5, -1.0], requires_grad=True)


def gradient(loss):
    w.grad = None
    (loss + 0 * w.sum()).backward()
    return w.grad.tolist()


def through_a_slice_of_it():
    z = torch.zeros(2, 3)
    row = z[1]
    row[:2] += w
    assert row.requires_grad and z.requires_grad and not row.is_leaf
    assert gradient((row * row).sum()) == [1.0, -2.0]


def through_a_sibling():
    z = torch.arange(3.0) * 2
    a, b = z[:2], z[1:]
    a.mul_(w)
    assert b.requires_grad and gradient(b.sum()) == [0.0, 2.0]


def whose_base_is_gone():
    z = torch.arange(3.0) * 2
    a, b = z[:2], z[1:]
    del z
    a.mul_(w)
    assert gradient((b * b).sum()) == [0.0, -8.0]


def of_a_view():
    z = torch.arange(4.0)
    square = z.view(2, 2)
    row, other = square[1], z[2:]
    other.mul_(w)
    assert row.requires_grad and gradient(row.sum()) == [2.0, 3.0]


def without_gradients():
    z = torch.zeros(3)
    a, b = z[:2], z[1:]
    with torch.no_grad():
        a.add_(w)
    assert not b.requires_grad and not z.requires_grad


tests = [through_a_slice_of_it, through_a_sibling, whose_base_is_gone, of_a_view, without_gradients]
for test in tests:
    test()
print(len(tests), "passed")
