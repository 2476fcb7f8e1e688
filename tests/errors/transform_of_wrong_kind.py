# run: --torch
"""A list where an image is expected."""

from torchvision import transforms

transforms.CenterCrop(2)([[1, 2, 3]])
