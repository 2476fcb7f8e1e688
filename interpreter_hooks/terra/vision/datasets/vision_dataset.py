"""What datasets of images share: a folder and transforms."""

import os

import _terra_C as C

from ...utils.data import Dataset
from .._pil import from_elements, has_pil

__all__ = ["StandardTransform", "VisionDataset"]


class StandardTransform:
    """One transform of the image, one of the target."""

    def __init__(self, transform=None, target_transform=None):
        self.transform = transform
        self.target_transform = target_transform

    def __call__(self, input, target):
        input = input if self.transform is None else self.transform(input)
        return input, target if self.target_transform is None else self.target_transform(target)

    def __repr__(self):
        lines = [type(self).__name__]
        for head, transform in (("Transform: ", self.transform), ("Target transform: ", self.target_transform)):
            if transform is not None:
                first, *rest = repr(transform).splitlines()
                lines += [head + first, *(" " * len(head) + line for line in rest)]
        return "\n".join(lines)


class VisionDataset(Dataset):
    """Pairs of images and targets; `transforms` is of both, `transform` and `target_transform` of each."""

    _repr_indent = 4

    def __init__(self, root=None, transforms=None, transform=None, target_transform=None):
        self.root = os.path.expanduser(root) if isinstance(root, str) else root
        separate = transform is not None or target_transform is not None
        if transforms is not None and separate:
            raise ValueError("Only transforms or transform/target_transform can be passed as argument")
        self.transform = transform
        self.target_transform = target_transform
        self.transforms = StandardTransform(transform, target_transform) if separate else transforms

    def __getitem__(self, index):
        raise NotImplementedError

    def __len__(self):
        raise NotImplementedError

    def _transformed(self, image, target):
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return image, target

    def __repr__(self):
        lines = [f"Number of datapoints: {len(self)}"]
        if self.root is not None:
            lines.append(f"Root location: {self.root}")
        lines += self.extra_repr().splitlines()
        if getattr(self, "transforms", None) is not None:
            lines.append(repr(self.transforms))
        return "\n".join([f"Dataset {type(self).__name__}", *(" " * self._repr_indent + line for line in lines)])

    def extra_repr(self):
        return ""


def array_of(tensor):
    """As an array of numpy, where that is installed."""
    try:
        return tensor.numpy()
    except ModuleNotFoundError:
        return tensor


def image_of(elements, mode):
    """What a dataset gives for the bytes [height, width] or [height, width, channels] of an image: Pillow's image, or
    where Pillow is not installed the tensor with its channels first."""
    elements = elements if isinstance(elements, C.Tensor) else C.from_numpy(elements)
    if has_pil():
        return from_elements(elements, mode)
    return elements.unsqueeze(0) if elements.dim() == 2 else elements.permute(2, 0, 1).contiguous()
