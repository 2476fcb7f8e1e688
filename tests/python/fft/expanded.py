# run: --torch
"""Transforms of tensors in which one element stands for many, as the gradients of sums are: the same as of their copies."""

import torch

DIMS = ([0], [1], [2], [0, 1], [1, 2], [2, 0], [0, 1, 2])
NAMES = ("fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn")
SHAPES = (((1, 1, 1), (5, 6, 8)), ((5, 1, 8), (5, 6, 8)), ((5, 6, 1), (5, 6, 8)), ((1, 6, 8), (4, 6, 8)), ((1, 1, 1), (3, 7, 9)))

torch.manual_seed(0)
checked = 0
for dtype in (torch.float32, torch.float64, torch.complex64, torch.complex128):
    for small, large in SHAPES:
        x = torch.randn(small, dtype=dtype).expand(large)
        for dims in DIMS:
            for name in NAMES:
                if dtype.is_complex and name in ("rfftn", "ihfftn"):
                    continue
                transform = getattr(torch.fft, name)
                found, wanted = transform(x, dim=dims), transform(x.clone(memory_format=torch.contiguous_format), dim=dims)
                torch.testing.assert_close(found, wanted, msg=lambda m: f"{name} {dtype} {small} {dims}: {m}")
                checked += 1

# The sum of all real numbers is the first of their spectrum, times their number.
for n in (10, 11):
    half = torch.randn(4, 6, dtype=torch.complex128, requires_grad=True)
    torch.fft.irfftn(half, s=(4, n)).sum().backward()
    wanted = torch.zeros(4, 6, dtype=torch.complex128)
    wanted[0, 0] = 1
    torch.testing.assert_close(half.grad, wanted)
    checked += 1
print(f"{checked} passed")
