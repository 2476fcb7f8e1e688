"""Food-101: photographs of dishes."""

import json
import os

from .folder import default_loader
from .utils import download_and_extract_archive, verify_str_arg
from .vision_dataset import VisionDataset

__all__ = ["Food101"]


class Food101(VisionDataset):
    """From root/food-101."""

    _URL = "http://data.vision.ee.ethz.ch/cvl/food-101.tar.gz"
    _MD5 = "85eeb15f3717b99a5da872d97d918f87"

    def __init__(
        self, root, split="train", transform=None, target_transform=None, download=False, loader=default_loader
    ):
        super().__init__(os.fspath(root), transform=transform, target_transform=target_transform)
        self._split = verify_str_arg(split, "split", ("train", "test"))
        self.loader = loader
        folder = os.path.join(self.root, "food-101")
        meta, images = os.path.join(folder, "meta"), os.path.join(folder, "images")
        there = os.path.isdir(meta) and os.path.isdir(images)
        if download and not there:
            download_and_extract_archive(self._URL, self.root, md5=self._MD5)
        elif not there:
            raise RuntimeError(
                f"Dataset not found: {folder}. Terra downloads no data: put {os.path.basename(self._URL)} (from "
                f"{self._URL}) into {self.root} and use download=True, which unpacks it."
            )
        with open(os.path.join(meta, f"{split}.json"), encoding="utf-8") as file:
            names = json.load(file)
        self.classes = sorted(names)
        self.class_to_idx = {name: i for i, name in enumerate(self.classes)}
        self._labels = [self.class_to_idx[label] for label, paths in names.items() for _ in paths]
        self._image_files = [
            os.path.join(images, *f"{path}.jpg".split("/")) for paths in names.values() for path in paths
        ]

    def __getitem__(self, index):
        return self._transformed(self.loader(self._image_files[index]), self._labels[index])

    def __len__(self):
        return len(self._image_files)

    def extra_repr(self):
        return f"split={self._split}"
