"""What datasets of images share: a folder and transforms."""

import os

from ...utils.data import Dataset


class VisionDataset(Dataset):
    def __init__(self, root=None, transforms=None, transform=None, target_transform=None):
        self.root = os.path.expanduser(os.fspath(root)) if root is not None else root
        self.transforms = transforms
        self.transform = transform
        self.target_transform = target_transform

    def __repr__(self):
        return f"Dataset {type(self).__name__}\n    Number of datapoints: {len(self)}\n    Root location: {self.root}"
