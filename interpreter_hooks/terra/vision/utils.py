"""Grids of images, image files, and drawing on images."""

import math
import warnings

import _terra_C as C

from .._missing_parts import sentence
from ._pil import pil
from .transforms.functional import to_pil_image, to_tensor

__all__ = [
    "draw_bounding_boxes",
    "draw_keypoints",
    "draw_segmentation_masks",
    "flow_to_image",
    "make_grid",
    "save_image",
]

flow_to_image = sentence("torchvision.utils.flow_to_image")


def _to_unit(image, low, high):
    """Writes (image - low) / (high - low), cut off at 0 and 1, over the image."""
    image.clamp_(min=low, max=high)
    image.sub_(low).div_(max(high - low, 1e-5))


def _normalized(tensor, value_range, scale_each):
    if value_range is not None and not isinstance(value_range, tuple):
        raise TypeError("value_range has to be a tuple (min, max) if specified. min and max are numbers")
    tensor = tensor.clone()
    for image in tensor if scale_each else (tensor,):
        low, high = (float(image.min()), float(image.max())) if value_range is None else value_range
        _to_unit(image, low, high)
    return tensor


@C.no_grad()
def make_grid(tensor, nrow=8, padding=2, normalize=False, value_range=None, scale_each=False, pad_value=0.0):
    """One image [3, height, width] of many, `nrow` in a row, with borders of `padding` pixels."""
    if not isinstance(tensor, C.Tensor):
        if not isinstance(tensor, list):
            raise TypeError(f"tensor or list of tensors expected, got {type(tensor)}")
        for t in tensor:
            if not isinstance(t, C.Tensor):
                raise TypeError(f"tensor or list of tensors expected, got a list containing {type(t)}")
        tensor = C.stack(tensor, dim=0)
    if tensor.dim() == 2:
        tensor = tensor.unsqueeze(0)
    if tensor.dim() == 3:
        tensor = C.cat((tensor, tensor, tensor), 0) if tensor.size(0) == 1 else tensor
        tensor = tensor.unsqueeze(0)
    if tensor.dim() == 4 and tensor.size(1) == 1:
        tensor = C.cat((tensor, tensor, tensor), 1)
    if normalize:
        tensor = _normalized(tensor, value_range, scale_each)
    if tensor.size(0) == 1:
        return tensor.squeeze(0)
    images = tensor.size(0)
    columns = min(nrow, images)
    height, width = int(tensor.size(2) + padding), int(tensor.size(3) + padding)
    rows = int(math.ceil(float(images) / columns))
    grid = tensor.new_full((tensor.size(1), height * rows + padding, width * columns + padding), pad_value)
    for i in range(images):
        top, left = (i // columns) * height + padding, (i % columns) * width + padding
        grid[:, top : top + height - padding, left : left + width - padding] = tensor[i]
    return grid


@C.no_grad()
def save_image(tensor, fp, format=None, **kwargs):
    """Writes an image, or the grid of several, into a file; values are 0..1. Further arguments are make_grid's."""
    grid = make_grid(tensor, **kwargs)
    bytes_ = grid.mul(255).add_(0.5).clamp_(0, 255).to("cpu", C.uint8)
    to_pil_image(bytes_).save(fp, format=format)


def _palette(count):
    """That many colors that differ."""
    base = (2**25 - 1, 2**15 - 1, 2**21 - 1)
    return [tuple(i * b % 255 for b in base) for i in range(count)]


def _colors(colors, count):
    """`count` triples of a color, a list of them, or None."""
    if colors is None:
        return _palette(count)
    if isinstance(colors, list):
        if len(colors) < count:
            raise ValueError(
                f"Number of colors must be equal or larger than the number of objects, but got {len(colors)} < {count}."
            )
        colors = colors[:count]
    elif isinstance(colors, (tuple, str)):
        colors = [colors] * count
    else:
        raise ValueError("colors must be a tuple or a string, or a list thereof")
    return [pil("ImageColor").getrgb(c) if isinstance(c, str) else c for c in colors]


def _checked(image):
    if not isinstance(image, C.Tensor):
        raise TypeError(f"Tensor expected, got {type(image)}")
    if not (image.dtype == C.uint8 or image.is_floating_point()):
        raise ValueError(f"The image dtype must be uint8 or float, got {image.dtype}")
    if image.dim() != 3:
        raise ValueError("Pass individual images, not batches")


def _canvas(image):
    """Pillow's image for a tensor of bytes or of floats up to 1."""
    image = (image * 255).to(C.uint8) if image.is_floating_point() else image
    return to_pil_image(image)


def _drawn(canvas, image):
    """The tensor of what was drawn, in the dtype of the image."""
    drawn = to_tensor(canvas)
    return drawn.to(image.dtype) if image.is_floating_point() else (drawn * 255).round().to(C.uint8)


@C.no_grad()
def draw_bounding_boxes(
    image, boxes, labels=None, colors=None, fill=False, width=1, font=None, font_size=None, label_colors=None,
    label_background_colors=None, fill_labels=False,
):  # fmt: skip
    """The image with boxes (x1, y1, x2, y2) and their labels."""
    _checked(image)
    if image.size(0) not in (1, 3):
        raise ValueError("Only grayscale and RGB images are supported")
    if (boxes[:, 0] > boxes[:, 2]).any() or (boxes[:, 1] > boxes[:, 3]).any():
        raise ValueError(
            "Boxes need to be in (xmin, ymin, xmax, ymax) format. Use torchvision.ops.box_convert to convert them"
        )
    count = boxes.shape[0]
    if count == 0:
        warnings.warn("boxes doesn't contain any box. No box was drawn", stacklevel=2)
        return image
    labels = [None] * count if labels is None else labels
    if len(labels) != count:
        raise ValueError(
            f"Number of boxes ({count}) and labels ({len(labels)}) mismatch. Please specify labels for each box."
        )
    colors = _colors(colors, count)
    usual = ["black"] * count if fill_labels else colors
    texts = _colors(usual if label_colors is None else label_colors, count)
    grounds = _colors(label_background_colors, count) if label_background_colors else colors
    fonts = pil("ImageFont")
    font = fonts.load_default() if font is None else fonts.truetype(font=font, size=font_size or 10)
    canvas = _canvas(image.expand(3, *image.shape[1:]) if image.size(0) == 1 else image)
    draw = pil("ImageDraw").Draw(canvas, "RGBA" if fill else None)
    for box, color, label, text, ground in zip(boxes.to(C.int64).tolist(), colors, labels, texts, grounds):
        draw.rectangle(box, width=width, outline=color, fill=(*color, 100) if fill else None)
        if label is None:
            continue
        margin = width + 1
        if fill_labels:
            left, top, right, bottom = draw.textbbox((box[0] + margin, box[1] + margin), label, font=font)
            draw.rectangle((left - 1, top - 1, right + 1, bottom + 1), fill=ground)
        draw.text((box[0] + margin, box[1] + margin), label, fill=text, font=font)
    return _drawn(canvas, image)


@C.no_grad()
def draw_segmentation_masks(image, masks, alpha=0.8, colors=None):
    """The image with each mask of [n, height, width] in a color, over the image by `alpha`."""
    _checked(image)
    if image.size()[0] != 3:
        raise ValueError("Pass an RGB image. Other Image formats are not supported")
    masks = masks[None, :, :] if masks.ndim == 2 else masks
    if masks.ndim != 3:
        raise ValueError("masks must be of shape (H, W) or (batch_size, H, W)")
    if masks.dtype != C.bool:
        raise ValueError(f"The masks must be of dtype bool. Got {masks.dtype}")
    if masks.shape[-2:] != image.shape[-2:]:
        raise ValueError("The image and the masks must have the same height and width")
    painted = image.detach().clone()
    for mask, color in zip(masks, _colors(colors, masks.size(0))):
        value = C.tensor(color, dtype=C.uint8)
        value = value.to(image.dtype) / 255 if image.is_floating_point() else value
        painted[:, mask] = value[:, None]
    painted[:, masks.sum(0) > 1] = 0
    return (image * (1 - alpha) + painted * alpha).to(image.dtype)


@C.no_grad()
def draw_keypoints(image, keypoints, connectivity=None, colors=None, radius=2, width=3, visibility=None):
    """The image with points [instances, points, 2] and lines between those that `connectivity` pairs."""
    _checked(image)
    if image.size()[0] != 3:
        raise ValueError("Pass an RGB image. Other Image formats are not supported")
    if keypoints.ndim != 3:
        raise ValueError("keypoints must be of shape (num_instances, K, 2)")
    color = pil("ImageColor").getrgb(colors) if isinstance(colors, str) else colors
    seen = C.ones(keypoints.shape[:-1], dtype=C.bool) if visibility is None else visibility.bool()
    seen = seen.squeeze(-1) if seen.ndim == 3 else seen
    canvas = _canvas(image)
    draw = pil("ImageDraw").Draw(canvas)
    for points, visible in zip(keypoints.to(C.int64).tolist(), seen.tolist()):
        for (x, y), shown in zip(points, visible):
            if shown:
                draw.ellipse([x - radius, y - radius, x + radius, y + radius], fill=color, outline=None, width=0)
        for first, second in connectivity or ():
            if visible[first] and visible[second]:
                draw.line((*points[first], *points[second]), width=width)
    return _drawn(canvas, image)
