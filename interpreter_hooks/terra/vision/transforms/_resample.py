"""Images that are tensors, at other positions: resized, blurred, turned, seen from elsewhere."""

import _terra_C as C

from ...nn import functional as F
from ._functional_tensor import as_float, get_dimensions, get_image_size

SMOOTH = ("bilinear", "bicubic")  # what can be made smaller without aliasing


def resize(image, size, mode, antialias=True):
    work, undo = as_float(image)
    smooth = mode in SMOOTH
    aligned = False if smooth else None
    result = F.interpolate(work, size=list(size), mode=mode, align_corners=aligned, antialias=antialias and smooth)
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


def _at(work, grid, mode):
    """The images at the positions of the grid [1, height, width, 2]; zero outside."""
    return F.grid_sample(work, grid.expand(work.shape[0], -1, -1, -1), mode, "zeros", align_corners=False)


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
