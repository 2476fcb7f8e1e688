"""Transforms made of others."""

import random

import _terra_C as C

from ... import nn

__all__ = ["Compose", "Lambda", "RandomApply", "RandomChoice", "RandomOrder", "RandomTransforms"]


def _listing(owner, transforms, before=""):
    lines = "".join(f"\n    {transform}" for transform in transforms)
    return f"{type(owner).__name__}({before}{lines}\n)"


class Compose:
    """One transform after the other."""

    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, img):
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self):
        return _listing(self, self.transforms)


class Lambda:
    """Any function."""

    def __init__(self, lambd):
        if not callable(lambd):
            raise TypeError(f"Argument lambd should be callable, got {type(lambd).__name__!r}")
        self.lambd = lambd

    def __call__(self, img):
        return self.lambd(img)

    def __repr__(self):
        return f"{type(self).__name__}()"


class RandomTransforms:
    """Several transforms, some of which are drawn."""

    def __init__(self, transforms):
        if not isinstance(transforms, (list, tuple)):
            raise TypeError("Argument transforms should be a sequence")
        self.transforms = transforms

    def __call__(self, *args, **kwargs):
        raise NotImplementedError

    def __repr__(self):
        return _listing(self, self.transforms)


class RandomApply(nn.Module):
    """All of them with probability p, else none."""

    def __init__(self, transforms, p=0.5):
        super().__init__()
        self.transforms = transforms
        self.p = p

    def forward(self, img):
        if self.p < C.rand(1):
            return img
        for transform in self.transforms:
            img = transform(img)
        return img

    def __repr__(self):
        return _listing(self, self.transforms, f"\n    p={self.p}")


class RandomOrder(RandomTransforms):
    """All of them in an order that Python's `random` draws."""

    def __call__(self, img):
        order = list(range(len(self.transforms)))
        random.shuffle(order)
        for i in order:
            img = self.transforms[i](img)
        return img


class RandomChoice(RandomTransforms):
    """One of them, which Python's `random` draws."""

    def __init__(self, transforms, p=None):
        super().__init__(transforms)
        if p is not None and not isinstance(p, (list, tuple)):
            raise TypeError("Argument p should be a sequence")
        self.p = p

    def __call__(self, *args):
        return random.choices(self.transforms, weights=self.p)[0](*args)

    def __repr__(self):
        return f"{super().__repr__()}(p={self.p})"
