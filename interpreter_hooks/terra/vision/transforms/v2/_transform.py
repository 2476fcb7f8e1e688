"""Transforms of nests, and those made of several."""

import _terra_C as C

from .... import nn
from ....utils._pytree import tree_flatten, tree_unflatten
from ..._pil import is_pil

__all__ = ["Compose", "RandomApply", "RandomChoice", "RandomOrder", "Transform", "of_nests"]


def image_places(leaves):
    """Which leaves of a nest are images."""
    places = [i for i, leaf in enumerate(leaves) if is_pil(leaf)]
    return places or [i for i, leaf in enumerate(leaves) if isinstance(leaf, C.Tensor)][:1]


def apply_to_images(inputs, function):
    """The nest with function(image) for each image. Each call draws the random numbers that the first one draws."""
    inputs = inputs if len(inputs) > 1 else inputs[0]
    leaves, nest = tree_flatten(inputs)
    places = image_places(leaves)
    state = C.get_rng_state() if len(places) > 1 else None
    for number, place in enumerate(places):
        if number:
            C.set_rng_state(state)
        leaves[place] = function(leaves[place])
    return tree_unflatten(leaves, nest)


class Transform(nn.Module):
    """A user's own transform: transform(image, params) changes an image by what make_params(images) draws."""

    def make_params(self, flat_inputs):
        return {}

    def transform(self, inpt, params):
        raise NotImplementedError

    def forward(self, *inputs):
        leaves, _ = tree_flatten(inputs)
        params = self.make_params([leaves[i] for i in image_places(leaves)])
        return apply_to_images(inputs, lambda image: self.transform(image, params))


def of_nests(first, module):
    """The class of a transform of single images, made one of nests."""

    class Nested(first):
        def __call__(self, *inputs):
            return apply_to_images(inputs, super().__call__)

    Nested.__name__ = Nested.__qualname__ = first.__name__
    Nested.__module__, Nested.__doc__ = module, first.__doc__
    return Nested


def _called(transform, inputs):
    outputs = transform(*inputs)
    return outputs if len(inputs) > 1 else (outputs,)


class _Several(nn.Module):
    def __init__(self, transforms):
        super().__init__()
        if not isinstance(transforms, (list, tuple, nn.ModuleList)):
            raise TypeError("Argument transforms should be a sequence of callables")
        self.transforms = transforms

    def _chosen(self):
        """The transforms of this call, in order."""
        return self.transforms

    def forward(self, *inputs):
        for transform in self._chosen():
            inputs = _called(transform, inputs)
        return inputs if len(inputs) > 1 else inputs[0]

    def extra_repr(self):
        return "\n".join(repr(transform) for transform in self.transforms)


class Compose(_Several):
    """One transform after the other."""

    def __init__(self, transforms):
        super().__init__(transforms)
        if not transforms:
            raise ValueError("Pass at least one transform")


class RandomApply(_Several):
    """All of them with probability p, else none."""

    def __init__(self, transforms, p=0.5):
        super().__init__(transforms)
        if not 0.0 <= p <= 1.0:
            raise ValueError("`p` should be a floating point value in the interval [0.0, 1.0].")
        self.p = p

    def _chosen(self):
        return [] if C.rand(1) >= self.p else self.transforms


class RandomChoice(_Several):
    """One of them, with probabilities p."""

    def __init__(self, transforms, p=None):
        super().__init__(transforms)
        p = [1] * len(transforms) if p is None else p
        if len(p) != len(transforms):
            raise ValueError(f"Length of p doesn't match the number of transforms: {len(p)} != {len(transforms)}")
        self.p = [weight / sum(p) for weight in p]

    def _chosen(self):
        return [self.transforms[int(C.multinomial(C.tensor(self.p), 1))]]


class RandomOrder(_Several):
    """All of them in random order."""

    def _chosen(self):
        return [self.transforms[i] for i in C.randperm(len(self.transforms)).tolist()]
