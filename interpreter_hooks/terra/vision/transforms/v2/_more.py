"""Transforms that only the second form has."""

import _terra_C as C

from ..._pil import is_pil
from .. import functional as F
from ._transform import Transform
from .functional import to_dtype, to_image

__all__ = ["GaussianNoise", "Identity", "RGB", "RandomChannelPermutation", "ToDtype", "ToImage", "ToPureTensor"]


class Identity(Transform):
    def transform(self, inpt, params):
        return inpt


class ToPureTensor(Identity):
    """Images that are tensors are plain tensors here already."""


class ToImage(Transform):
    """Pillow's image or an array as a tensor [channels, height, width] of the same numbers."""

    def transform(self, inpt, params):
        return to_image(inpt)

    def forward(self, *inputs):
        if len(inputs) == 1 and not isinstance(inputs[0], (list, tuple, dict)):
            return to_image(inputs[0])
        return super().forward(*inputs)


class ToDtype(Transform):
    """Images in another dtype, with scale=True in its range of values."""

    def __init__(self, dtype, scale=False):
        super().__init__()
        self.dtype = dtype
        self.scale = scale

    def transform(self, inpt, params):
        return inpt if is_pil(inpt) else to_dtype(inpt, self.dtype, self.scale)

    def extra_repr(self):
        return f"dtype={self.dtype}, scale={self.scale}"


class RGB(Transform):
    """Images in three colors."""

    def transform(self, inpt, params):
        if is_pil(inpt):
            return inpt.convert("RGB")
        return inpt.expand(*inpt.shape[:-3], 3, *inpt.shape[-2:]) if inpt.shape[-3] == 1 else inpt[..., :3, :, :]


class GaussianNoise(Transform):
    """Normal noise added to floats."""

    def __init__(self, mean=0.0, sigma=0.1, clip=True):
        super().__init__()
        self.mean = mean
        self.sigma = sigma
        self.clip = clip

    def transform(self, inpt, params):
        if not inpt.is_floating_point():
            raise ValueError(f"Input tensor is expected to be in uint8 or float dtype, got dtype={inpt.dtype}")
        if self.sigma < 0:
            raise ValueError(f"sigma shouldn't be negative. Got {self.sigma}")
        noisy = inpt + self.mean + C.randn_like(inpt) * self.sigma
        return noisy.clamp(0, 1) if self.clip else noisy


class RandomChannelPermutation(Transform):
    """The channels in random order."""

    def make_params(self, flat_inputs):
        return {"permutation": C.randperm(F.get_dimensions(flat_inputs[0])[0])}

    def transform(self, inpt, params):
        if is_pil(inpt):
            return F.to_pil_image(F.pil_to_tensor(inpt)[params["permutation"]], mode=inpt.mode)
        return inpt.index_select(-3, params["permutation"])
