"""Images read at any places: grid_sample, and the grids of affine maps. Places are in [-1, 1], x first."""

import warnings

import _terra_C as C

from ..._dtypes import HALVES
from ._words import scalar_type

__all__ = ["GRID_SAMPLE_INTERPOLATION_MODES", "GRID_SAMPLE_PADDING_MODES", "affine_grid", "grid_sample"]

GRID_SAMPLE_INTERPOLATION_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
GRID_SAMPLE_PADDING_MODES = {"zeros": 0, "border": 1, "reflection": 2}


def _default_corners(name, align_corners):
    if align_corners is not None:
        return align_corners
    warnings.warn(
        f"Default {name} and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify "
        f"align_corners=True if the old behavior is desired. See the documentation of {name} for details.", stacklevel=3
    )
    return False


# ---- the grid of an affine map --------------------------------------------------------------------------------------
def _steps(size, align_corners, dtype, device):
    """The places of `size` pixels along one dimension."""
    if size == 1:
        return C.zeros(1, dtype=dtype, device=device)
    steps = C.linspace(-1, 1, size, dtype=dtype, device=device)
    return steps if align_corners else steps * ((size - 1) / size)


def affine_grid(theta, size, align_corners=None):
    """[N, H, W, 2] (or [N, D, H, W, 3]): where theta [N, 2, 3] (or [N, 3, 4]) takes each pixel of a result of that
    size."""
    align_corners = _default_corners("grid_sample", align_corners)
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    size = tuple(size)
    n = len(size) - 2
    if n not in (2, 3):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size "
            f"{size}."
        )
    if theta.dim() != 3 or tuple(theta.shape[1:]) != (n, n + 1):
        raise ValueError(
            f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {size}. Got {theta.shape}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {size}")
    spatial = size[2:]
    axes = []
    for i in reversed(range(n)):  # x first
        places = _steps(spatial[i], align_corners, theta.dtype, theta.device)
        axes.append(places.view([-1 if d == i else 1 for d in range(n)]).expand(*spatial).flatten())
    axes.append(C.ones_like(axes[0]))
    base = C.stack(axes, -1).expand(size[0], -1, -1)
    grid = C.bmm(base, theta.transpose(1, 2)).view(size[0], *spatial, n)
    return C._ops.named(grid, "AffineGridGeneratorBackward0")


# ---- reading --------------------------------------------------------------------------------------------------------
def _sizes(input, grid):
    return f"input with sizes {list(input.shape)} and grid with sizes {list(grid.shape)}"


def _check(input, grid, mode, padding_mode):
    n = input.dim() - 2
    if mode not in GRID_SAMPLE_INTERPOLATION_MODES:
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in GRID_SAMPLE_PADDING_MODES:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    if input.shape[:1] != grid.shape[:1]:
        raise RuntimeError(
            f"grid_sampler(): expected grid and input to have same batch size, but got {_sizes(input, grid)}"
        )
    if grid.size(-1) != n:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {n} in last dimension, but got grid with sizes "
            f"{list(grid.shape)}"
        )
    if n not in (2, 3) or grid.dim() != input.dim():
        expected = input.dim() if n in (2, 3) else 5
        raise RuntimeError(
            f"grid_sampler(): expected {expected}D input and grid with same number of dimensions, but got "
            f"{_sizes(input, grid)}"
        )
    for dim in range(2, input.dim()):
        if input.size(dim) == 0:
            raise RuntimeError(
                "grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes "
                f"{list(input.shape)} with dimension {dim} being empty"
            )
    if input.dtype != grid.dtype:
        raise RuntimeError(f"expected scalar type {scalar_type(input)} but found {scalar_type(grid)}")
    if not input.is_floating_point():
        raise NotImplementedError(f"grid_sample is not implemented for {input.dtype}")


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """input [N, C, H, W] read at grid [N, h, w, 2] (or with a depth each)."""
    input, grid = C._in_single(input, grid)
    _check(input, grid, mode, padding_mode)
    align_corners = _default_corners("grid_sample", align_corners)
    # As in PyTorch places are computed in the grid's precision, 16 bits too: it is they that say which pixels are read.
    rounded = grid.dtype if grid.dtype in HALVES else None
    images, places = (input, grid) if rounded is None else (input.to(C.float32), grid.to(C.float32))
    n = input.dim() - 2
    pixel, weight = C._ops.grid_taps(
        places.flatten(1, -2), input.shape[2:], GRID_SAMPLE_INTERPOLATION_MODES[mode],
        GRID_SAMPLE_PADDING_MODES[padding_mode], align_corners, [0] * n, rounded
    )
    read = C._ops.sample(images.flatten(2), pixel, weight).view(*input.shape[:2], *grid.shape[1:-1])
    return C._ops.named(read.to(input.dtype), f"GridSampler{n}DBackward0")
