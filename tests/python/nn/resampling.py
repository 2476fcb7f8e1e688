# run: --torch
"""interpolate, grid_sample and affine_grid in all modes: values, gradients and errors as PyTorch's."""

import itertools
import pathlib
import sys
import warnings

import torch
from torch.nn import functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes  # noqa: E402

warnings.simplefilter("ignore")


def numbers(*sizes, dtype=torch.float64):
    return (torch.arange(1.0, 1 + torch.Size(sizes).numel(), dtype=torch.float64) ** 1.3).reshape(sizes).sin().to(dtype)


def run(function, *inputs):
    """Values, and gradients by the inputs."""
    inputs = [x.clone().requires_grad_(x.is_floating_point()) for x in inputs]
    result = function(*inputs)
    if not result.requires_grad:
        return result
    return [result, torch.autograd.grad((result * numbers(*result.shape).to(result.dtype)).sum(), inputs)]


def resized():
    images = {1: numbers(1, 2, 5), 2: numbers(1, 2, 5, 4), 3: numbers(1, 1, 3, 4, 3)}
    modes = {1: ("linear",), 2: ("bilinear", "bicubic"), 3: ("trilinear",)}
    how = ({"size": 3}, {"scale_factor": 1.7}, {"scale_factor": 0.6}, {"scale_factor": 1.7, "recompute_scale_factor": True})
    for n, image in images.items():
        for kwargs in how:
            for mode in ("nearest", "nearest-exact", "area"):
                yield f"{n} {mode} {kwargs}", run(lambda x: F.interpolate(x, mode=mode, **kwargs), image)
            for mode, corners in itertools.product(modes[n], (False, True)):
                yield f"{n} {mode} {kwargs} {corners}", run(
                    lambda x: F.interpolate(x, mode=mode, align_corners=corners, **kwargs), image
                )
    for mode, kwargs in itertools.product(("bilinear", "bicubic", "lanczos"), ({"size": (3, 7)}, {"scale_factor": (0.4, 0.7)}, {"size": 9})):
        yield f"{mode} smooth {kwargs}", run(lambda x: F.interpolate(x, mode=mode, antialias=True, **kwargs), numbers(1, 1, 8, 5))
    yield "corners", run(lambda x: F.interpolate(x, (3, 2), mode="bilinear", antialias=True, align_corners=True), numbers(1, 1, 8, 5))
    bytes = (numbers(1, 1, 4, 4) * 120 + 120).to(torch.uint8)
    for mode in ("nearest", "bilinear", "bicubic"):
        sizes = ((3, 5), (7, 2), (4, 4))
        yield f"bytes {mode}", [F.interpolate(bytes, size, mode=mode) for size in sizes]
        if mode != "nearest":
            yield "  smooth", [F.interpolate(bytes, size, mode=mode, antialias=True) for size in sizes]
    yield "old names", [F.upsample_nearest(images[2], size=3), F.upsample_bilinear(images[2], scale_factor=2), F.upsample(images[2], 2)]
    yield "half", F.interpolate(images[2].to(torch.bfloat16), 2, mode="bilinear")


def sampled():
    modes, paddings, corners = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (False, True)
    for n, image in ((2, numbers(2, 2, 4, 3)), (3, numbers(1, 1, 3, 2, 3))):
        grid = numbers(image.size(0), *(3, 4, 2)[:n], n) * 1.9
        for mode, padding, corner in itertools.product(modes, paddings, corners):
            yield f"{n} {mode} {padding} {corner}", run(lambda x, g: F.grid_sample(x, g, mode, padding, corner), image, grid)
    for n, dtype, padding, corner in itertools.product((2, 3), (torch.float16, torch.bfloat16), paddings, corners):
        image, grid = numbers(1, 1, *(7, 9, 5)[:n], dtype=dtype), (numbers(1, *(12, 9, 2)[:n], n) * 1.9).to(dtype)
        yield f"{n} nearest {padding} {corner} {dtype}", F.grid_sample(image, grid, "nearest", padding, corner)
    edges = torch.tensor([[[[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [0.0, 0.0], [3.0, -5.0], [1e9, 0.0]]]], dtype=torch.float64)
    for padding, corner in itertools.product(paddings, corners):
        yield f"edges {padding} {corner}", run(lambda x, g: F.grid_sample(x, g, "bilinear", padding, corner), numbers(1, 1, 3, 3), edges)
    yield "one pixel", [F.grid_sample(numbers(1, 1, 1, 1), edges[:, :, :4], padding_mode=p, align_corners=c) for p in paddings for c in corners]
    yield "default", F.grid_sample(numbers(1, 1, 3, 3), edges)


def grids():
    for size, corner in itertools.product(((2, 1, 3, 2), (1, 3, 1, 4), (1, 1, 2, 3, 2)), (False, True)):
        n = len(size) - 2
        yield f"affine_grid {size} {corner}", run(lambda theta: F.affine_grid(theta, size, corner), numbers(size[0], n, n + 1))
    image, theta = numbers(1, 1, 4, 4), numbers(1, 2, 3)
    whole = lambda x, t: F.grid_sample(x, F.affine_grid(t, (1, 1, 3, 3), True), align_corners=True)  # noqa: E731
    yield "together", run(whole, image, theta)


x, v, g, t = numbers(1, 2, 4, 4), numbers(1, 1, 2, 2, 2), numbers(1, 3, 3, 2), numbers(2, 2, 3)
ERRORS = """
F.grid_sample(x, numbers(2, 5, 6, 2)) | F.grid_sample(x, numbers(1, 5, 6, 3)) | F.grid_sample(x, numbers(1, 5, 6)) | F.grid_sample(x[0], numbers(2, 5, 1))
F.grid_sample(x, g, mode='x') | F.grid_sample(x, g, padding_mode='x') | F.grid_sample(x.float(), g) | F.grid_sample(x[:, :, :0], g)
F.affine_grid(t, (2, 1, 3, 4, 5)) | F.affine_grid(numbers(2, 3, 4), (2, 1, 3, 4)) | F.affine_grid(t, (2, 1, 3)) | F.affine_grid(t, (2, 1, 0, 4)) | F.affine_grid(t.long(), (2, 1, 3, 4))
F.interpolate(x[..., 0], size=2, mode='linear', antialias=True) | F.interpolate(x, size=2, antialias=True) | F.interpolate(x, size=(2, 2, 2))
F.interpolate(x, size=2, scale_factor=2) | F.interpolate(x) | F.interpolate(x, size=2, recompute_scale_factor=True) | F.interpolate(x, size=2, mode='linear')
F.interpolate(x, size=2, mode='foo') | F.interpolate(x, size=2, align_corners=True) | F.interpolate(x[0, 0], size=2) | F.interpolate(x, scale_factor=(2, 2, 2))
F.interpolate(x, size=0) | F.interpolate(x, scale_factor=-1) | F.interpolate(v, size=2, mode='bicubic') | F.interpolate(x[:, :0], size=2)
F.interpolate(x, size=2, mode='lanczos') | F.interpolate(x, size=2, mode='lanczos', antialias=True, align_corners=True)
"""


check([*resized(), *sampled(), *grids(), *outcomes(ERRORS, globals())], __file__)
