"""Functions of images that are tensors [..., channels, height, width]: colors, cuts, flips and borders."""

import _terra_C as C

from ...nn import functional as F

GRAY = (0.2989, 0.587, 0.114)
LARGEST = {C.uint8: 255, C.int8: 127, C.int16: 32767, C.int32: 2**31 - 1, C.int64: 2**63 - 1}


def check_image(image):
    if not isinstance(image, C.Tensor) or image.ndim < 2:
        raise TypeError("Tensor is not a torch image.")


def get_dimensions(image):
    """[channels, height, width]."""
    check_image(image)
    return [1 if image.ndim == 2 else image.shape[-3], image.shape[-2], image.shape[-1]]


def get_image_size(image):
    _, height, width = get_dimensions(image)
    return [width, height]


def get_image_num_channels(image):
    return get_dimensions(image)[0]


def _max_value(dtype):
    """The value that stands for full brightness."""
    return LARGEST.get(dtype, 1)


def _check_channels(image, permitted):
    channels = get_image_num_channels(image)
    if channels not in permitted:
        raise TypeError(f"Input image tensor permitted channel values are {permitted}, but found {channels}")
    return channels


def convert_image_dtype(image, dtype=C.float32):
    """Between integers up to their largest and floats up to 1."""
    if image.dtype == dtype:
        return image
    if image.is_floating_point():
        if dtype.is_floating_point:
            return image.to(dtype)
        if (image.dtype == C.float32 and dtype in (C.int32, C.int64)) or (
            image.dtype == C.float64 and dtype == C.int64
        ):
            raise RuntimeError(f"The cast from {image.dtype} to {dtype} cannot be performed safely.")
        return image.mul(float(_max_value(dtype)) + 1.0 - 1e-3).to(dtype)
    largest, wanted = _max_value(image.dtype), _max_value(dtype)
    if dtype.is_floating_point:
        return image.to(dtype) / float(largest)
    if largest > wanted:
        return C.div(image, (largest + 1) // (wanted + 1), rounding_mode="floor").to(dtype)
    return image.to(dtype) * ((wanted + 1) // (largest + 1))


def as_float(image):
    """[batch, channels, height, width] of floats, and how to undo that: for functions that know no other form."""
    dtype, lacking = image.dtype, 4 - image.ndim
    for _ in range(lacking):
        image = image.unsqueeze(0)
    image = image if dtype in (C.float32, C.float64) else image.to(C.float32)

    def undo(result, rounded=True):
        for _ in range(lacking):
            result = result.squeeze(0)
        if result.dtype == dtype:
            return result
        return (result.round() if rounded and not dtype.is_floating_point else result).to(dtype)

    return image, undo


# Cuts, flips, borders.


def hflip(image):
    check_image(image)
    return image.flip(-1)


def vflip(image):
    check_image(image)
    return image.flip(-2)


def crop(image, top, left, height, width):
    """The window, with zeros where it lies outside."""
    _, rows, columns = get_dimensions(image)
    right, bottom = left + width, top + height
    if left < 0 or top < 0 or right > columns or bottom > rows:
        image = image[..., max(top, 0) : max(bottom, 0), max(left, 0) : max(right, 0)]
        outside = [max(-left + min(0, right), 0), max(right - max(columns, left), 0),
                   max(-top + min(0, bottom), 0), max(bottom - max(rows, top), 0)]  # fmt: skip
        return F.pad(image, outside, mode="constant", value=0.0)
    return image[..., top:bottom, left:right]


def mirrored(size, before, after, edge):
    """Where the elements of a row come from that is continued by its mirror image, with or without its edge twice."""
    period = max(1, 2 * size if edge else 2 * size - 2)
    positions = (i % period for i in range(-before, size + after))
    return [i if i < size else period - i - (1 if edge else 0) for i in positions]


def pad(image, border, fill=0, mode="constant"):
    """`border` is (left, top, right, bottom); negative ones cut."""
    check_image(image)
    left, top, right, bottom = border
    if mode == "constant":
        if isinstance(fill, (list, tuple)):
            raise TypeError("Got inappropriate fill arg")
        return F.pad(image, [left, right, top, bottom], mode="constant", value=float(0 if fill is None else fill))
    rows, columns = image.shape[-2] + min(top, 0) + min(bottom, 0), image.shape[-1] + min(left, 0) + min(right, 0)
    image = image[..., max(-top, 0) : max(-top, 0) + rows, max(-left, 0) : max(-left, 0) + columns]
    for dim, size, before, after in ((-1, columns, left, right), (-2, rows, top, bottom)):
        before, after = max(before, 0), max(after, 0)
        if mode == "edge":
            places = [min(max(i, 0), size - 1) for i in range(-before, size + after)]
        else:
            places = mirrored(size, before, after, mode == "symmetric")
        image = image.index_select(dim, C.tensor(places))
    return image


# Colors.


def rgb_to_grayscale(image, num_output_channels=1):
    if image.ndim < 3:
        raise TypeError(f"Input image tensor should have at least 3 dimensions, but found {image.ndim}")
    if num_output_channels not in (1, 3):
        raise ValueError("num_output_channels should be either 1 or 3")
    if _check_channels(image, [1, 3]) == 3:
        r, g, b = image.unbind(dim=-3)
        gray = (GRAY[0] * r + GRAY[1] * g + GRAY[2] * b).to(image.dtype).unsqueeze(dim=-3)
    else:
        gray = image.clone()
    return gray.expand(image.shape) if num_output_channels == 3 else gray


def _blend(first, second, ratio):
    """Between two images, or beyond the first."""
    bound = _max_value(first.dtype)
    return (float(ratio) * first + (1.0 - float(ratio)) * second).clamp(0, bound).to(first.dtype)


def adjust_brightness(image, brightness_factor):
    if brightness_factor < 0:
        raise ValueError(f"brightness_factor ({brightness_factor}) is not non-negative.")
    _check_channels(image, [1, 3])
    return _blend(image, C.zeros_like(image), brightness_factor)


def adjust_contrast(image, contrast_factor):
    if contrast_factor < 0:
        raise ValueError(f"contrast_factor ({contrast_factor}) is not non-negative.")
    colors = _check_channels(image, [1, 3]) == 3
    dtype = image.dtype if image.is_floating_point() else C.float32
    gray = rgb_to_grayscale(image) if colors else image
    return _blend(image, gray.to(dtype).mean(dim=(-3, -2, -1), keepdim=True), contrast_factor)


def adjust_saturation(image, saturation_factor):
    if saturation_factor < 0:
        raise ValueError(f"saturation_factor ({saturation_factor}) is not non-negative.")
    if _check_channels(image, [1, 3]) == 1:
        return image
    return _blend(image, rgb_to_grayscale(image), saturation_factor)


def adjust_hue(image, hue_factor):
    if not -0.5 <= hue_factor <= 0.5:
        raise ValueError(f"hue_factor ({hue_factor}) is not in [-0.5, 0.5].")
    if _check_channels(image, [1, 3]) == 1:
        return image
    dtype = image.dtype
    hue, saturation, value = _rgb2hsv(convert_image_dtype(image, C.float32)).unbind(dim=-3)
    turned = C.stack([(hue + hue_factor) % 1.0, saturation, value], dim=-3)
    return convert_image_dtype(_hsv2rgb(turned), dtype)


def _rgb2hsv(image):
    r, g, b = image.unbind(dim=-3)
    most, least = image.max(dim=-3).values, image.min(dim=-3).values
    gray, spread = most == least, most - least
    ones = C.ones_like(most)
    saturation = spread / C.where(gray, ones, most)
    divisor = C.where(gray, ones, spread)
    from_r, from_g, from_b = (most - r) / divisor, (most - g) / divisor, (most - b) / divisor
    hue = (most == r) * (from_b - from_g)
    hue = hue + ((most == g) & (most != r)) * (2.0 + from_r - from_b)
    hue = hue + ((most != g) & (most != r)) * (4.0 + from_g - from_r)
    return C.stack([C.fmod(hue / 6.0 + 1.0, 1.0), saturation, most], dim=-3)


def _hsv2rgb(image):
    h, s, v = image.unbind(dim=-3)
    sixth = C.floor(h * 6.0)
    f = h * 6.0 - sixth
    sixth = sixth.to(C.int32) % 6
    p = (v * (1.0 - s)).clamp(0.0, 1.0)
    q = (v * (1.0 - s * f)).clamp(0.0, 1.0)
    t = (v * (1.0 - s * (1.0 - f))).clamp(0.0, 1.0)
    rows = ((v, q, p, p, t, v), (t, v, v, q, p, p), (p, p, t, v, v, q))  # red, green, blue in each sixth of the circle
    channels = []
    for choices in rows:
        channel = choices[5]
        for i in range(5):
            channel = C.where(sixth == i, choices[i], channel)
        channels.append(channel)
    return C.stack(channels, dim=-3)


def adjust_gamma(image, gamma, gain=1):
    if gamma < 0:
        raise ValueError("Gamma should be a non-negative real number")
    _check_channels(image, [1, 3])
    result = image if image.is_floating_point() else convert_image_dtype(image, C.float32)
    return convert_image_dtype((gain * result**gamma).clamp(0, 1), image.dtype)


def invert(image):
    _check_channels(image, [1, 3])
    return _max_value(image.dtype) - image


def posterize(image, bits):
    if image.dtype != C.uint8:
        raise TypeError(f"Only torch.uint8 image tensors are supported, but found {image.dtype}")
    _check_channels(image, [1, 3])
    return image & (256 - 2 ** (8 - bits))


def solarize(image, threshold):
    _check_channels(image, [1, 3])
    if threshold > _max_value(image.dtype):
        raise TypeError("Threshold should be less than bound of img.")
    return C.where(image >= threshold, invert(image), image)


def adjust_sharpness(image, sharpness_factor):
    if sharpness_factor < 0:
        raise ValueError(f"sharpness_factor ({sharpness_factor}) is not non-negative.")
    _check_channels(image, [1, 3])
    if image.size(-1) <= 2 or image.size(-2) <= 2:
        return image
    return _blend(image, _blurred_inside(image), sharpness_factor)


def _blurred_inside(image):
    """The image smoothed by its neighbours, its border as it is."""
    dtype = image.dtype if image.is_floating_point() else C.float32
    kernel = C.ones((3, 3), dtype=dtype)
    kernel[1, 1] = 5.0
    kernel = (kernel / kernel.sum()).expand(image.shape[-3], 1, 3, 3)
    work, undo = as_float(image)
    inside = undo(F.conv2d(work, kernel.to(work.dtype), groups=image.shape[-3]))
    result = image.clone()
    result[..., 1:-1, 1:-1] = inside
    return result


def autocontrast(image):
    _check_channels(image, [1, 3])
    bound = float(_max_value(image.dtype))
    dtype = image.dtype if image.is_floating_point() else C.float32
    least = image.amin(dim=(-2, -1), keepdim=True).to(dtype)
    spread = image.amax(dim=(-2, -1), keepdim=True).to(dtype) - least
    scale = spread.reciprocal() * bound
    flat = ~C.isfinite(scale)
    least = C.where(flat, C.zeros_like(least), least)
    scale = C.where(flat, C.ones_like(scale), scale)
    return ((image - least) * scale).clamp(0, bound).to(image.dtype)


def equalize(image):
    if not 3 <= image.ndim <= 4:
        raise TypeError(f"Input image tensor should have 3 or 4 dimensions, but found {image.ndim}")
    if image.dtype != C.uint8:
        raise TypeError(f"Only torch.uint8 image tensors are supported, but found {image.dtype}")
    _check_channels(image, [1, 3])
    if image.ndim == 4:
        return C.stack([equalize(single) for single in image])
    return C.stack([_equalized(channel) for channel in image])


def _equalized(channel):
    """Gray values by the number of pixels that are darker."""
    counts = C.bincount(channel.reshape(-1).long(), minlength=256)
    step = int(counts[counts != 0][:-1].sum()) // 255
    if step == 0:
        return channel
    table = (C.cumsum(counts, 0) + step // 2) // step
    table = F.pad(table, [1, 0])[:-1].clamp(0, 255)
    return table[channel.long()].to(C.uint8)


def erase(image, i, j, h, w, v, inplace=False):
    check_image(image)
    image = image if inplace else image.clone()
    image[..., i : i + h, j : j + w] = v
    return image


def normalize(tensor, mean, std, inplace=False):
    check_image(tensor)
    if not tensor.is_floating_point():
        raise TypeError(f"Input tensor should be a float tensor. Got {tensor.dtype}.")
    if tensor.ndim < 3:
        raise ValueError(
            f"Expected tensor to be a tensor image of size (..., C, H, W). Got tensor.size() = {tensor.size()}"
        )
    mean = C.as_tensor(mean, dtype=tensor.dtype, device=tensor.device)
    std = C.as_tensor(std, dtype=tensor.dtype, device=tensor.device)
    if (std == 0).any():
        raise ValueError(f"std evaluated to zero after conversion to {tensor.dtype}, leading to division by zero.")
    mean = mean.view(-1, 1, 1) if mean.ndim == 1 else mean
    std = std.view(-1, 1, 1) if std.ndim == 1 else std
    return (tensor if inplace else tensor.clone()).sub_(mean).div_(std)
