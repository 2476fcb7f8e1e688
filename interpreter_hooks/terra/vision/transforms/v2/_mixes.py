"""Batches whose images are mixed with each other, and their labels with them."""

import math

import _terra_C as C

from .... import nn
from ....nn import functional as NF
from ....utils._pytree import tree_flatten, tree_unflatten

__all__ = ["CutMix", "MixUp"]


class _Mix(nn.Module):
    """Of a batch of images and its labels: numbers of classes, or [batch, classes]. Mixed labels are floats."""

    def __init__(self, *, alpha=1.0, num_classes=None, labels_getter="default"):
        super().__init__()
        self.alpha = float(alpha)
        self.num_classes = num_classes
        self.labels_getter = labels_getter

    def _labels(self, inputs, leaves):
        if callable(self.labels_getter):
            return self.labels_getter(inputs)
        return next((leaf for leaf in leaves if isinstance(leaf, C.Tensor) and leaf.ndim in (1, 2)), None)

    def forward(self, *inputs):
        inputs = inputs if len(inputs) > 1 else inputs[0]
        leaves, nest = tree_flatten(inputs)
        labels = self._labels(inputs, leaves)
        if labels is None:
            raise ValueError(f"{type(self).__name__}: no labels were found beside the images")
        if labels.ndim == 1 and self.num_classes is None:
            raise ValueError("num_classes must be passed if the labels are index-based (1D)")
        if labels.ndim == 1:
            hot = NF.one_hot(labels, num_classes=self.num_classes)
        else:
            hot = labels
        share = float(C._sample_dirichlet(C.tensor([self.alpha, self.alpha]))[0])
        images = [
            i for i, leaf in enumerate(leaves) if isinstance(leaf, C.Tensor) and leaf is not labels and leaf.ndim >= 4
        ]
        height, width = leaves[images[0]].shape[-2:]
        mix, share = self._mixer(share, height, width)
        for i in images:
            leaves[i] = mix(leaves[i])
        hot = hot if hot.is_floating_point() else hot.float()
        mixed = hot.roll(1, 0).mul(1.0 - share).add(hot.mul(share))
        leaves = [mixed if leaf is labels else leaf for leaf in leaves]
        return tree_unflatten(leaves, nest)


class MixUp(_Mix):
    """Each image, and the one before it in the batch, added in random parts."""

    def _mixer(self, share, height, width):
        return lambda images: images.roll(1, 0).mul(1.0 - share).add(images.mul(share)), share


class CutMix(_Mix):
    """A random window of each image from the one before it in the batch."""

    def _mixer(self, share, height, width):
        x, y = int(C.randint(width, size=(1,))), int(C.randint(height, size=(1,)))
        part = 0.5 * math.sqrt(1.0 - share)
        across, down = int(part * width), int(part * height)
        left, right = max(x - across, 0), min(x + across, width)
        top, bottom = max(y - down, 0), min(y + down, height)

        def mix(images):
            images = images.clone()
            images[..., top:bottom, left:right] = images.roll(1, 0)[..., top:bottom, left:right]
            return images

        return mix, 1 - (right - left) * (bottom - top) / (width * height)
