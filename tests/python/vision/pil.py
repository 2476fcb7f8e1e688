# run: --torch
"""Transforms of Pillow's images, image files and drawing, as torchvision's. Skipped where Pillow is not installed."""

import io
import random
import sys
import warnings

import torch
from _cases import CASES, made
from _tables import check, elements, said

try:
    from PIL import Image
except ModuleNotFoundError:
    print("skipped: Pillow is not installed")
    sys.exit()

from torchvision import io as files  # noqa: E402
from torchvision import utils  # noqa: E402
from torchvision.transforms import functional as F  # noqa: E402
from torchvision.transforms import v2  # noqa: E402

warnings.simplefilter("ignore")
BYTES = elements(3, 37, 53, scale=255).to(torch.uint8)
RGB = F.to_pil_image(BYTES)
IMAGES = {"rgb": RGB, "gray": RGB.convert("L"), "rgba": RGB.crop((0, 0, 24, 20)).convert("RGBA")}


def plain(value):
    """Pillow's images as their mode and their numbers."""
    if isinstance(value, Image.Image):
        return [value.mode, F.pil_to_tensor(value)]
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def encoded(image, **options):
    out = io.BytesIO()
    utils.save_image(image, out, format="png", **options)
    return files.decode_image(torch.frombuffer(bytearray(out.getvalue()), dtype=torch.uint8))


BOXES = torch.tensor([[2.0, 3.0, 20.0, 22.0], [10, 10, 45, 35]])
MASKS = elements(3, 37, 53) > 0.7
POINTS = elements(2, 3, 2, scale=35)
CALLS = {
    "to_tensor": lambda: [F.to_tensor(image) for image in IMAGES.values()],
    "to_tensor of one bit": lambda: F.to_tensor(IMAGES["gray"].convert("1")),
    "pil_to_tensor of one bit": lambda: F.pil_to_tensor(IMAGES["gray"].convert("1")),
    "to_tensor of numbers": lambda: [F.to_tensor(IMAGES["gray"].convert(mode)) for mode in ("I", "F")],
    "pil_to_tensor of a tensor": lambda: F.pil_to_tensor(BYTES),
    "to_pil_image": lambda: plain([F.to_pil_image(elements(c, 4, 5)) for c in (1, 2, 3, 4)]),
    "to_pil_image of rows": lambda: plain(F.to_pil_image(elements(4, 5))),
    "to_pil_image of floats": lambda: plain(F.to_pil_image(elements(1, 4, 5), mode="F")),
    "to_pil_image of numbers": lambda: plain([F.to_pil_image((elements(1, 4, 5) * 99).to(d)) for d in (torch.int32,)]),
    "to_pil_image of five": lambda: F.to_pil_image(elements(5, 4, 5)),
    "to_pil_image mode": lambda: F.to_pil_image(elements(3, 4, 5), mode="L"),
    "to_pil_image hsv": lambda: plain(F.to_pil_image(elements(3, 4, 5), mode="HSV")),
    "to_grayscale": lambda: plain([F.to_grayscale(RGB, n) for n in (1, 3)]),
    "pad of a palette": lambda: F.pad(RGB.convert("P"), 2).size,
    "pad with colors": lambda: plain(F.pad(RGB, 2, fill=(1, 2, 3))),
    "pad with two colors": lambda: F.pad(RGB, 2, fill=(1, 2)),
    "gamma": lambda: plain(F.adjust_gamma(RGB, 2.2)),
    "hue": lambda: plain([F.adjust_hue(RGB, h) for h in (-0.5, -0.1, 0.0, 0.2)]),
    "resize by Lanczos": lambda: plain(F.resize(RGB, 20, F.InterpolationMode.LANCZOS)),
    "normalize": lambda: F.normalize(RGB, [0.5], [0.5]),
    "make_grid": lambda: [
        utils.make_grid(elements(5, 3, 6, 7), **o)
        for o in (
            {},
            {"nrow": 2, "padding": 0},
            {"normalize": True},
            {"normalize": True, "scale_each": True, "pad_value": 0.5},
            {"normalize": True, "value_range": (0.2, 0.6)},
        )
    ],
    "make_grid of gray": lambda: [
        utils.make_grid(elements(4, 1, 5, 5)),
        utils.make_grid(elements(5, 5)),
        utils.make_grid(list(elements(2, 3, 4, 4))),
    ],
    "make_grid range": lambda: utils.make_grid(elements(2, 3, 4, 4), normalize=True, value_range=[0, 1]),
    "make_grid of text": lambda: utils.make_grid("x"),
    "save_image": lambda: encoded(elements(5, 3, 6, 7), nrow=3),
    "draw boxes": lambda: [
        utils.draw_bounding_boxes(BYTES, BOXES, **o)
        for o in ({}, {"colors": "red"}, {"colors": ["red", (1, 2, 3)], "width": 3}, {"fill": True})
    ],
    "draw boxes on floats": lambda: utils.draw_bounding_boxes(BYTES / 255, BOXES),
    "draw boxes on gray": lambda: utils.draw_bounding_boxes(BYTES[:1], BOXES, colors="blue"),
    "draw boxes upside down": lambda: utils.draw_bounding_boxes(BYTES, BOXES.flip(1)),
    "draw boxes on ints": lambda: utils.draw_bounding_boxes(BYTES.int(), BOXES),
    "draw masks": lambda: [
        utils.draw_segmentation_masks(BYTES, MASKS, **o) for o in ({}, {"alpha": 0.5}, {"colors": "red"})
    ],
    "draw a mask": lambda: utils.draw_segmentation_masks(BYTES, MASKS[0], colors=(1, 2, 3)),
    "draw masks of ints": lambda: utils.draw_segmentation_masks(BYTES, MASKS.int()),
    "draw points": lambda: utils.draw_keypoints(
        BYTES, POINTS, connectivity=[(0, 1), (1, 2)], colors="red", radius=3, width=2
    ),
    "png": lambda: [files.decode_png(files.encode_png(BYTES)), files.decode_image(files.encode_png(BYTES[:1]))],
    "png modes": lambda: [
        files.decode_image(files.encode_png(BYTES), mode)
        for mode in (files.ImageReadMode.UNCHANGED, files.ImageReadMode.RGB)
    ],
    "png of two": lambda: files.encode_png(BYTES[:2]),
    "png of floats": lambda: files.encode_png(BYTES.float()),
    "no image": lambda: files.decode_image(BYTES.flatten()),
    "no bytes": lambda: files.decode_image(BYTES.float().flatten()),
    "no file": lambda: files.read_image("/nowhere.png"),
    "jpeg": lambda: list(files.decode_jpeg(files.encode_jpeg(BYTES, 95)).shape),
    "v2": lambda: plain(
        v2.Compose([v2.RandomHorizontalFlip(1.0), v2.ToImage(), v2.ToDtype(torch.float32, scale=True)])(RGB, 3)
    ),
    "v2 pair": lambda: plain(v2.RandomCrop(12)(RGB, {"same": RGB, "label": 3})[1]["same"]),
}

items = []
for name, arguments, options in CASES:
    transform = made(name, arguments, options)
    for kind, image in IMAGES.items():
        for seed in (0, 1):
            torch.manual_seed(seed)
            random.seed(seed)
            outcome = said(lambda: plain(transform(image)))  # noqa: B023
            items.append((f"{name} {arguments} {options} {kind} {seed}", [outcome, float(torch.rand(1))]))
for name, function in CALLS.items():
    torch.manual_seed(2)
    items.append((name, said(function)))
check(items, __file__)
