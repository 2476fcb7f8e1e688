# run: --torch
"""Functions that one kernel computes, at ordinary and at odd numbers, and their gradients: as PyTorch's."""

import pathlib
import sys

import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

INF, NAN = float("inf"), float("nan")
T = torch.tensor
ODD = T([1.0, -2.0, 0.0, -0.0, INF, NAN])


def gradients(function, *inputs):
    """The value, and the gradients of its sum weighted by what is not alike."""
    inputs = [x.detach().clone().requires_grad_() for x in inputs]
    value = function(*inputs)
    (value * wave(*value.shape).to(value.dtype)).sum().backward()
    return value, [x.grad for x in inputs]


def read_at_grids():
    for n, size in ((2, (5, 7)), (3, (3, 4, 5))):
        grid = 1.4 * wave(2, *[3] * n, n)
        for mode in ("bilinear", "nearest", "bicubic")[: 4 - n + 1]:
            for padding in ("zeros", "border", "reflection"):
                for corners in (False, True):
                    yield f"{n} {mode} {padding} {corners}", gradients(
                        lambda x, g: F.grid_sample(x, g, mode, padding, corners), wave(2, 2, *size), grid
                    )
    for dtype in (torch.float16, torch.bfloat16):
        image, grid = wave(1, 2, 4, 4).to(dtype), wave(1, 3, 3, 2).to(dtype)
        yield f"{dtype}", F.grid_sample(image, grid, "nearest", align_corners=False)
    yield "none", F.grid_sample(wave(1, 2, 3, 3), torch.zeros(1, 0, 3, 2, dtype=torch.float64), align_corners=False)
    far = T([[[[NAN, 0.0], [INF, 0.0], [-INF, 0.0], [-1e30, 1e30], [0.0, NAN]]]], dtype=torch.float64)
    for mode in ("bilinear", "nearest", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            yield f"far {mode} {padding}", F.grid_sample(wave(1, 1, 3, 3), far, mode, padding, align_corners=False)


def normalized_groups():
    for shape, groups in (((2, 6, 5, 2), 3), ((4, 8), 2), ((1, 4, 9), 4), ((0, 4, 3), 2)):
        x, w, b = wave(*shape), wave(shape[1]) + 2, wave(shape[1])
        yield f"{shape} {groups}", gradients(lambda x, w, b: F.group_norm(x, groups, w, b), x, w, b)
        yield f"{shape} {groups} plain", gradients(lambda x: F.group_norm(x, groups), x)
    x, w = wave(2, 4, 3).bfloat16(), wave(4).float()
    yield "mixed", F.group_norm(x, 2, w, w)
    twice = torch.autograd.gradgradcheck(
        lambda x, w, b: F.group_norm(x, 2, w, b),
        (wave(2, 4, 3).requires_grad_(), wave(4).requires_grad_(), wave(4).requires_grad_()),
    )
    yield "twice", twice


def arithmetic():
    signs = T([-1.0, -0.0, 1.0, -1.0, -3.0, 2.0])
    yield "copysign", gradients(torch.copysign, ODD, signs)
    yield "copysign number", gradients(lambda x: torch.copysign(x, -0.0), ODD)
    x = ODD.clone().requires_grad_()
    yield "copysign nodes", [type(torch.copysign(x, other).grad_fn).__name__ for other in (signs, -1.0)]
    yield "copysign whole", torch.copysign(T([1, -2]), T([-3, 4]))
    for dtype in (torch.float16, torch.bfloat16):
        yield f"copysign {dtype}", torch.copysign(ODD.to(dtype), signs.to(dtype))
        yield f"logaddexp {dtype}", torch.logaddexp(ODD.to(dtype), signs.to(dtype))
    x, y = T([1.0, INF, -INF, INF, -INF, NAN, 0.0, 1e3, -1e3]), T([2.0, INF, -INF, -INF, 1.0, 0.0, NAN, 1.0, -1001.0])
    yield "logaddexp", gradients(torch.logaddexp, x, y)
    yield "logaddexp complex", torch.logaddexp(torch.complex(wave(3), wave(3)), torch.complex(wave(3) + 1, wave(3)))
    for weight in (0.25, 0.75):
        yield f"lerp {weight}", gradients(lambda a, b: torch.lerp(a, b, weight), wave(4), wave(4) + 1)
    yield "erfinv", torch.erfinv(T([0.0, -0.0, 0.5, -0.999, 1 - 1e-12, 1.0, -1.0, 1.5, NAN, 1e-30], dtype=torch.float64))
    yield "trigamma", torch.polygamma(1, T([0.1, 1.0, 3.5, 20.0, -0.5]))
    a = T([7, -7, 7, -7, 0, 2**62, 2**53 + 1, -(2**53) - 1, 2**52, -(2**52)])
    b = T([3, 3, -3, -3, 5, 7, 3, 3, 7, -7])
    yield "whole", [a // b, a % b, torch.fmod(a, b), torch.div(a, b, rounding_mode="trunc"), a // 3, a % -3, a // -1]
    x = T([5.5, -5.5, INF, NAN, 1e300, 0.0, -0.0, 3.0], dtype=torch.float64)
    y = T([2.0, 2.0, 2.0, 2.0, 3.0, 2.0, -2.0, 0.0], dtype=torch.float64)
    yield "remainders", [torch.fmod(x, y), torch.remainder(x, y), torch.floor_divide(x, y)]


def moved():
    for k in (0, 1, -2, 5, -7):
        yield f"diag {k}", gradients(lambda x: torch.diag(x, k), wave(3))
        yield f"diag_embed {k}", torch.diag_embed(T([[1, 2], [3, 4]]), k, 0, 2)
    yield "no diagonal", [torch.diag(torch.zeros(0)), torch.diag_embed(torch.zeros(2, 0)), torch.diag_embed(torch.zeros(0, 3))]
    for mode in ("reflect", "replicate", "circular"):
        for size, pad in (((2, 1, 20), (2, 3)), ((1, 2, 12, 11), (1, 2, 3, 4)), ((2, 3, 5), (2, 1)), ((1, 2, 30), (-2, 3))):
            yield f"{mode} {size}", gradients(lambda x: F.pad(x, pad, mode), wave(*size))
    x = torch.arange(60).reshape(3, 20)
    yield "runs", [x[:, [3, 4, 5, 6, 7, 8, 9, 10, 0, 1]], x.index_select(1, T([1, 2, 3, 4, 5, 6, 7, 8, 9, 19, 18, 0]))]
    bounds, values = T([1.0, 3.0, 3.0, 5.0, 7.0]), T([0.0, 1.0, 2.0, 3.0, 4.0, 7.0, 8.0, NAN, INF])
    for right in (False, True):
        yield f"places {right}", [
            torch.searchsorted(bounds, values, right=right), torch.bucketize(values, T([]), right=right),
            torch.searchsorted(bounds.expand(2, 5), values.expand(2, 9), right=right)
        ]
    yield "topk", [wave(3, 40).topk(5), T([1, 1, 2, 2, 3, 3]).topk(3).values, wave(200).topk(70, largest=False).values]
    for n in (3, 9):
        yield f"inverse {n}", torch.linalg.inv(wave(2, n, n) + torch.eye(n, dtype=torch.float64) * 2)
    for to in (torch.float16, torch.bfloat16, torch.int64, torch.bool, torch.float64):
        yield f"to {to}", [T([0.5, -2.75, 300.0, 0.0]).to(half).to(to) for half in (torch.float16, torch.bfloat16)]
    yield "whole to halves", [T([3, -70000, 2049]).to(torch.float16), T([3, -70000, 257]).to(torch.bfloat16)]


PARTS = (read_at_grids, normalized_groups, arithmetic, moved)
check([(f"{part.__name__} {name}", value) for part in PARTS for name, value in part()], __file__)
