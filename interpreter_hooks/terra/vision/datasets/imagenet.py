"""ImageNet (ILSVRC 2012), in folders as torchvision's scripts unpack it."""

import os

from ...serialization import load
from .folder import ImageFolder
from .utils import verify_str_arg

__all__ = ["ImageNet", "load_meta_file"]

META_FILE = "meta.bin"


def load_meta_file(root, file=None):
    """({folder: names of the class}, folders of the validation images), as torchvision writes them from the devkit."""
    path = os.path.join(root, file or META_FILE)
    if not os.path.exists(path):
        raise RuntimeError(
            f"The meta file {os.path.basename(path)} is not present in the root directory {root}. Terra does not make "
            "it from the devkit archive; torchvision does, at the first use of ImageNet, and ImageFolder needs none."
        )
    return load(path, weights_only=True)


class ImageNet(ImageFolder):
    """Images below root/train or root/val, in folders named by WordNet's numbers; `classes` are tuples of names."""

    def __init__(self, root, split="train", **kwargs):
        root = os.path.expanduser(root)
        self.split = verify_str_arg(split, "split", ("train", "val"))
        names = load_meta_file(root)[0]
        super().__init__(os.path.join(root, self.split), **kwargs)
        self.root = root
        self.wnids = self.classes
        self.wnid_to_idx = self.class_to_idx
        self.classes = [names[wnid] for wnid in self.wnids]
        self.class_to_idx = {name: i for i, names in enumerate(self.classes) for name in names}

    @property
    def split_folder(self):
        return os.path.join(self.root, self.split)

    def extra_repr(self):
        return f"Split: {self.split}"
