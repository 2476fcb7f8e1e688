"""Images that are tensors, at other positions: resized, blurred, turned, seen from elsewhere."""

import _terra_C as C

from ...nn import functional as F
from ._functional_tensor import as_float, get_dimensions, get_image_size

SHARPNESS = {"bilinear": 1.0, "bicubic": 2.0}  # how far the filter of a mode reaches, in pixels of the smaller image
CUBIC = -0.5  # the slope of the smoothing cubic filter at distance 1


def _filter(mode, x):
    x = x.abs()
    if mode == "bilinear":
        return (1.0 - x).clamp(min=0.0)
    near = ((CUBIC + 2.0) * x - (CUBIC + 3.0)) * x * x + 1
    far = (((x - 5.0) * x + 8.0) * x - 4.0) * CUBIC
    return C.where(x < 1.0, near, C.where(x < 2.0, far, C.zeros_like(x)))


def _smoothing(size, out, mode, dtype):
    """[out, size]: the weights of all pixels of a row in each of the new pixels, with a filter as wide as these."""
    scale = size / out
    reach = SHARPNESS[mode] * max(scale, 1.0)
    centre = (C.arange(out).to(dtype) + 0.5) * scale
    first = (centre - reach + 0.5).to(C.int64).clamp(min=0).unsqueeze(1)
    last = (centre + reach + 0.5).to(C.int64).clamp(max=size).unsqueeze(1)
    place = C.arange(size).unsqueeze(0)
    weights = _filter(mode, (place.to(dtype) - centre.unsqueeze(1) + 0.5) * (1.0 / max(scale, 1.0)))
    weights = C.where((place >= first) & (place < last), weights, C.zeros_like(weights))
    return weights / weights.sum(1, keepdim=True)


def resize(image, size, mode, antialias=True):
    work, undo = as_float(image)
    height, width = size
    if antialias and mode in SHARPNESS:
        result = work.matmul(_smoothing(work.shape[-1], width, mode, work.dtype).t())
        result = _smoothing(work.shape[-2], height, mode, work.dtype).matmul(result)
    else:
        aligned = False if mode in SHARPNESS else None
        result = F.interpolate(work, size=[height, width], mode=mode, align_corners=aligned)
    if mode == "bicubic" and image.dtype == C.uint8:
        result = result.clamp(min=0, max=255)
    return undo(result)


def _gauss(size, sigma, dtype):
    half = (size - 1) * 0.5
    density = C.exp(-0.5 * (C.linspace(-half, half, steps=size, dtype=dtype) / sigma).pow(2))
    return density / density.sum()


def gaussian_blur(image, kernel_size, sigma):
    """`kernel_size` and `sigma` are (of x, of y)."""
    dtype = image.dtype if image.is_floating_point() else C.float32
    across, down = _gauss(kernel_size[0], sigma[0], dtype), _gauss(kernel_size[1], sigma[1], dtype)
    kernel = down.unsqueeze(1).mm(across.unsqueeze(0)).expand(image.shape[-3], 1, kernel_size[1], kernel_size[0])
    work, undo = as_float(image)
    x, y = kernel_size[0] // 2, kernel_size[1] // 2
    work = F.pad(work, [x, x, y, y], mode="reflect")
    return undo(F.conv2d(work, kernel.to(work.dtype), groups=work.shape[-3]))


# Maps from the positions of the new image to those of the old, both from -1 to 1 across the image.


def _positions(first_x, first_y, width, height, dtype):
    """[height * width, 3]: x, y and 1 of each pixel, in rows."""
    x = C.linspace(first_x, first_x + width - 1, steps=width).to(dtype)
    y = C.linspace(first_y, first_y + height - 1, steps=height).to(dtype)
    x = x.unsqueeze(0).expand(height, width).reshape(-1)
    y = y.unsqueeze(1).expand(height, width).reshape(-1)
    return C.stack([x, y, C.ones(height * width, dtype=dtype)], 1)


def _half_size(width, height, dtype):
    return C.tensor([0.5 * width, 0.5 * height], dtype=dtype)


def affine_grid(matrix, width, height, out_width, out_height, dtype):
    theta = C.tensor(matrix, dtype=dtype).view(2, 3).t() / _half_size(width, height, dtype)
    places = _positions(-out_width * 0.5 + 0.5, -out_height * 0.5 + 0.5, out_width, out_height, dtype)
    return places.mm(theta).view(1, out_height, out_width, 2)


def perspective_grid(coefficients, width, height, dtype):
    a, b, c, d, e, f, g, h = coefficients
    above = C.tensor([[a, b, c], [d, e, f]], dtype=dtype).t() / _half_size(width, height, dtype)
    below = C.tensor([[g, h, 1.0], [g, h, 1.0]], dtype=dtype).t()
    places = _positions(0.5, 0.5, width, height, dtype)
    return (places.mm(above) / places.mm(below) - 1.0).view(1, height, width, 2)


def identity_grid(height, width):
    y = C.linspace((-height + 1) / height, (height - 1) / height, height)
    x = C.linspace((-width + 1) / width, (width - 1) / width, width)
    y = y.unsqueeze(1).expand(height, width)
    x = x.unsqueeze(0).expand(height, width)
    return C.stack([x, y], -1).unsqueeze(0)


def _taken(work, row, column):
    """work[..., row, column], and zero outside."""
    height, width = work.shape[-2:]
    inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
    place = row.clamp(0, height - 1) * width + column.clamp(0, width - 1)
    values = work.flatten(-2).index_select(-1, place.reshape(-1)).view(*work.shape[:-2], *place.shape)
    return values * inside.to(work.dtype)


def _at(work, grid, mode):
    """The image at the positions of the grid [1, height, width, 2]; zero outside."""
    height, width = work.shape[-2:]
    x = ((grid[0, ..., 0] + 1.0) * width - 1.0) / 2.0
    y = ((grid[0, ..., 1] + 1.0) * height - 1.0) / 2.0
    if mode == "nearest":
        return _taken(work, y.round().to(C.int64), x.round().to(C.int64))
    left, top = x.floor(), y.floor()
    right_part, lower_part = x - left, y - top
    left, top = left.to(C.int64), top.to(C.int64)
    result = _taken(work, top, left) * ((1 - right_part) * (1 - lower_part))
    result = result + _taken(work, top, left + 1) * (right_part * (1 - lower_part))
    result = result + _taken(work, top + 1, left) * ((1 - right_part) * lower_part)
    return result + _taken(work, top + 1, left + 1) * (right_part * lower_part)


def sample(image, grid, mode, fill=None):
    """The image at the positions of the grid, `fill` where these lie outside."""
    if mode not in ("nearest", "bilinear"):
        raise ValueError(f"Resampling mode '{mode}' is unsupported with Tensor input")
    channels = get_dimensions(image)[0]
    if isinstance(fill, (tuple, list)) and len(fill) not in (1, channels):
        raise ValueError(
            "The number of elements in 'fill' cannot broadcast to match the number of channels of the image "
            f"({len(fill)} != {channels})"
        )
    work, undo = as_float(image)
    grid = grid.to(work.dtype)
    if fill is None:
        return undo(_at(work, grid, mode))
    mask = _at(C.ones(work.shape[0], 1, *work.shape[-2:], dtype=work.dtype), grid, mode)
    fill = fill if isinstance(fill, (tuple, list)) else [float(fill)]
    color = C.tensor([float(v) for v in fill], dtype=work.dtype).view(1, -1, 1, 1)
    result = _at(work, grid, mode)
    if mode == "nearest":
        result = C.where(mask < 0.5, color.expand_as(result), result)
    else:
        result = result * mask + (-mask + 1.0) * color
    return undo(result)


def _grid_dtype(image):
    return image.dtype if image.is_floating_point() else C.float32


def affine(image, matrix, interpolation="nearest", fill=None):
    width, height = get_image_size(image)
    return sample(image, affine_grid(matrix, width, height, width, height, _grid_dtype(image)), interpolation, fill)


def turned_size(matrix, width, height):
    """(width, height) of the image that the corners of a turned one fit into."""
    corners = C.tensor([[0.5 * width * x, 0.5 * height * y, 1.0] for x in (-1, 1) for y in (-1, 1)])
    places = corners.mm(C.tensor(matrix, dtype=C.float32).view(2, 3).t())
    half = C.tensor([width * 0.5, height * 0.5])
    least, most = places.min(dim=0).values + half, places.max(dim=0).values + half
    # four digits count, so that the noise of sines adds no pixel
    size = C.ceil(C.trunc(most * 1e4) * 1e-4) - C.floor(C.trunc(least * 1e4) * 1e-4)
    return int(size[0]), int(size[1])


def rotate(image, matrix, interpolation="nearest", expand=False, fill=None):
    width, height = get_image_size(image)
    out_width, out_height = turned_size(matrix, width, height) if expand else (width, height)
    grid = affine_grid(matrix, width, height, out_width, out_height, _grid_dtype(image))
    return sample(image, grid, interpolation, fill)


def perspective(image, coefficients, interpolation="bilinear", fill=None):
    width, height = get_image_size(image)
    return sample(image, perspective_grid(coefficients, width, height, _grid_dtype(image)), interpolation, fill)


def elastic_transform(image, displacement, interpolation="bilinear", fill=None):
    width, height = get_image_size(image)
    return sample(image, identity_grid(height, width) + displacement, interpolation, fill)
