# run: --torch
"""Transforms of tensors: values, random draws and errors, as torchvision's. pil.py has those of Pillow's images."""

import random

import torch
from _cases import CASES, made
from _tables import check, elements, said
from torchvision.transforms import functional as F

INPUTS = {
    "floats": elements(3, 37, 53),
    "bytes": elements(3, 37, 53, scale=255).to(torch.uint8),
    "gray": elements(1, 30, 40),
    "batch": elements(2, 3, 20, 24, scale=255).to(torch.uint8),
    "double": elements(3, 21, 25).double(),
}
I = torch.zeros(3, 5, 6)
# Calls whose outcome is mostly an exception.
CALLS = {
    "resize of three": lambda: F.resize(I, [1, 2, 3]),
    "resize with max_size and both": lambda: F.resize(I, [1, 2], max_size=3),
    "max_size too small": lambda: F.resize(I, 5, max_size=4),
    "pad of three": lambda: F.pad(I, (1, 2, 3)),
    "pad mode": lambda: F.pad(I, 1, padding_mode="mirror"),
    "pad by text": lambda: F.pad(I, "1"),
    "crop outside": lambda: F.crop(I + 1, -2, -1, 4, 12),
    "five_crop too big": lambda: F.five_crop(I, 9),
    "normalize bytes": lambda: F.normalize(I.to(torch.uint8), [0.5], [0.5]),
    "normalize by zero": lambda: F.normalize(I, [0.5], [0.0]),
    "normalize text": lambda: F.normalize("x", [0.5], [0.5]),
    "normalize in place": lambda: F.normalize(elements(3, 2, 2), [0.1, 0.2, 0.3], [0.5, 0.5, 2.0], inplace=True),
    "hue": lambda: F.adjust_hue(I, 0.6),
    "brightness": lambda: F.adjust_brightness(I, -1),
    "gamma": lambda: F.adjust_gamma(elements(3, 4, 5), 2.2, gain=1.5),
    "gamma below zero": lambda: F.adjust_gamma(I, -1),
    "posterize": lambda: F.posterize(I, 3),
    "posterize bits": lambda: F.posterize(I.to(torch.uint8), 9),
    "solarize": lambda: F.solarize(I, 2.0),
    "equalize floats": lambda: F.equalize(I),
    "blur even": lambda: F.gaussian_blur(I, 4),
    "blur sigma": lambda: F.gaussian_blur(I, 3, sigma=0),
    "affine scale": lambda: F.affine(I, 0, [0, 0], 0.0, [0.0]),
    "affine shear": lambda: F.affine(elements(1, 8, 9), 20, [1, -2], 1.3, [10.0, 5.0]),
    "affine translate": lambda: F.affine(I, 0, [0], 1.0, [0.0, 0.0]),
    "rotate by text": lambda: F.rotate(I, "1"),
    "rotate fill": lambda: F.rotate(I, 30, fill=[1.0, 2.0]),
    "rotate bicubic": lambda: F.rotate(I, 30, interpolation=F.InterpolationMode.BICUBIC),
    "perspective": lambda: F.perspective(
        elements(3, 9, 8), [[0, 0], [7, 0], [7, 8], [0, 8]], [[1, 1], [6, 0], [7, 7], [0, 8]], fill=1
    ),
    "erase": lambda: F.erase(elements(3, 6, 6), 1, 2, 3, 2, torch.tensor(9.0)),
    "erase text": lambda: F.erase("x", 1, 2, 3, 2, 0),
    "dtype": lambda: [F.convert_image_dtype(elements(2, 3), d) for d in (torch.uint8, torch.int16, torch.float64)],
    "dtype of bytes": lambda: [
        F.convert_image_dtype(elements(2, 3, scale=255).to(torch.uint8), d)
        for d in (torch.float32, torch.int16, torch.int8)
    ],
    "dtype unsafe": lambda: F.convert_image_dtype(I, torch.int64),
    "grayscale": lambda: F.rgb_to_grayscale(elements(3, 4, 5), 3),
    "grayscale of four": lambda: F.rgb_to_grayscale(torch.zeros(4, 2, 2)),
    "dimensions": lambda: [F.get_dimensions(I), F.get_image_size(I), F.get_image_num_channels(I)],
    "not an image": lambda: F.hflip([1, 2]),
    "one dimension": lambda: F.hflip(torch.zeros(3)),
    "to_tensor of text": lambda: F.to_tensor("x"),
}

items = []
for name, arguments, options in CASES:
    transform = made(name, arguments, options)
    items.append((f"{name} {arguments} {options} repr", repr(transform)))
    for kind, image in INPUTS.items():
        for seed in (0, 1):
            torch.manual_seed(seed)
            random.seed(seed)
            outcome = said(lambda: transform(image.clone()))  # noqa: B023
            items.append((f"{name} {arguments} {options} {kind} {seed}", [outcome, float(torch.rand(1))]))
items += [(name, said(function)) for name, function in CALLS.items()]
check(items, __file__)
