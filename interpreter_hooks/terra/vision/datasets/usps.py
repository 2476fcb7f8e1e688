"""USPS: digits of 16 x 16 from envelopes."""

import bz2
import os

import _terra_C as C

from .utils import download_url
from .vision_dataset import VisionDataset, array_of, image_of

__all__ = ["USPS"]


class USPS(VisionDataset):
    """From root/usps.bz2 and root/usps.t.bz2, in which a row is a label from 1 and 256 values from -1 to 1."""

    split_list = {
        split: [f"https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/{name}", name, md5]
        for split, name, md5 in (
            ("train", "usps.bz2", "ec16c51db3855ca6c91edd34d0e9b197"),
            ("test", "usps.t.bz2", "8ea070ee2aca1ac39742fdd1ef5ed118"),
        )
    }

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(os.fspath(root), transform=transform, target_transform=target_transform)
        url, filename, md5 = self.split_list["train" if train else "test"]
        path = os.path.join(self.root, filename)
        if download or not os.path.exists(path):
            download_url(url, self.root, filename, md5)
        with bz2.open(path, "rt") as file:
            rows = [line.split() for line in file]
        values = C.tensor([[float(entry.partition(":")[2]) for entry in row[1:]] for row in rows], dtype=C.float64)
        self.data = array_of(((values + 1) / 2 * 255).to(C.uint8).view(-1, 16, 16))
        self.targets = [int(row[0]) - 1 for row in rows]

    def __getitem__(self, index):
        return self._transformed(image_of(self.data[index], "L"), int(self.targets[index]))

    def __len__(self):
        return len(self.data)
