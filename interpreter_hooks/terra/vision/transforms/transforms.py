"""Transforms: callables on images. Images are tensors, [H, W] of uint8 before ToTensor and [C, H, W] after it."""

import _terra_C as C

from ...nn import functional as F
from ...nn.modules.module import Module


class Compose:
    """One transform after the other."""

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, image):
        for transform in self.transforms:
            image = transform(image)
        return image

    def __repr__(self):
        lines = "".join(f"\n    {transform}" for transform in self.transforms)
        return f"{type(self).__name__}({lines}\n)"


class ToTensor:
    """[H, W] or [H, W, C] of uint8 to [C, H, W] of float32 in 0..1; other dtypes keep their values."""

    def __call__(self, image):
        tensor = C.as_tensor(image)
        if tensor.dim() == 2:
            tensor = tensor.unsqueeze(0)
        elif tensor.dim() == 3:
            tensor = tensor.permute(2, 0, 1).contiguous()
        else:
            raise ValueError(f"pic should be 2/3 dimensional. Got {tensor.dim()} dimensions.")
        return tensor.to(C.float32) / 255 if tensor.dtype == C.uint8 else tensor

    def __repr__(self):
        return f"{type(self).__name__}()"


class Normalize(Module):
    """(image - mean) / std per channel."""

    def __init__(self, mean, std, inplace=False):
        super().__init__()
        self.mean = mean
        self.std = std
        self.inplace = inplace

    def forward(self, tensor):
        mean = C.as_tensor(self.mean, dtype=tensor.dtype).view(-1, 1, 1)
        std = C.as_tensor(self.std, dtype=tensor.dtype).view(-1, 1, 1)
        if (std == 0).any():
            raise ValueError(f"std evaluated to zero after conversion to {tensor.dtype}, leading to division by zero.")
        return tensor.sub_(mean).div_(std) if self.inplace else (tensor - mean) / std

    def __repr__(self):
        return f"{type(self).__name__}(mean={self.mean}, std={self.std})"


class Lambda:
    """Any function."""

    def __init__(self, lambd):
        if not callable(lambd):
            raise TypeError(f"Argument lambd should be callable, got {type(lambd).__name__!r}")
        self.lambd = lambd

    def __call__(self, image):
        return self.lambd(image)

    def __repr__(self):
        return f"{type(self).__name__}()"


class ConvertImageDtype(Module):
    """Between uint8 in 0..255 and floats in 0..1."""

    def __init__(self, dtype):
        super().__init__()
        self.dtype = dtype

    def forward(self, image):
        if image.dtype == self.dtype:
            return image
        if image.dtype == C.uint8 and self.dtype.is_floating_point:
            return image.to(self.dtype) / 255
        if image.is_floating_point() and self.dtype == C.uint8:
            return (image * (255 + 1 - 1e-3)).to(C.uint8)
        return image.to(self.dtype)


class RandomHorizontalFlip(Module):
    def __init__(self, p=0.5):
        super().__init__()
        self.p = p

    def forward(self, image):
        return image.flip([-1]) if C.rand(1) < self.p else image


class RandomCrop(Module):
    """A window of `size` at a random place, after padding with zeros."""

    def __init__(self, size, padding=None):
        super().__init__()
        self.size = (size, size) if isinstance(size, int) else tuple(size)
        self.padding = padding

    def forward(self, image):
        if self.padding is not None:
            image = F.pad(image, [self.padding] * 4 if isinstance(self.padding, int) else list(self.padding))
        height, width = image.shape[-2:]
        h, w = self.size
        if height < h or width < w:
            raise ValueError(f"Required crop size {(h, w)} is larger than input image size {(height, width)}")
        if (height, width) == (h, w):
            return image
        top = int(C.randint(0, height - h + 1, (1,)))
        left = int(C.randint(0, width - w + 1, (1,)))
        return image[..., top : top + h, left : left + w]
