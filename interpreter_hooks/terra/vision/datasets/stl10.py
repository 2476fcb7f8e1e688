"""STL-10: images of 96 x 96 in ten classes, and many without a class."""

import os

import _terra_C as C

from .utils import check_integrity, download_and_extract_archive, verify_str_arg
from .vision_dataset import VisionDataset, array_of, image_of

__all__ = ["STL10"]


class STL10(VisionDataset):
    """From root/stl10_binary; `data` is an array of numpy [n, 3, 96, 96]. Images without a class have the target -1."""

    base_folder = "stl10_binary"
    url = "http://ai.stanford.edu/~acoates/stl10/stl10_binary.tar.gz"
    filename = "stl10_binary.tar.gz"
    tgz_md5 = "91f7769df0f17e558f3565bffb0c7dfb"
    class_names_file = "class_names.txt"
    folds_list_file = "fold_indices.txt"
    train_list = [
        ["train_X.bin", "918c2871b30a85fa023e0c44e0bee87f"],
        ["train_y.bin", "5a34089d4802c674881badbb80307741"],
        ["unlabeled_X.bin", "5242ba1fed5e4be9e1e742405eb56ca4"],
    ]
    test_list = [
        ["test_X.bin", "7f263ba9f9e0b06b93213547f721ac82"],
        ["test_y.bin", "36f9794fa4beb8a2c72628de14fa638e"],
    ]
    splits = ("train", "train+unlabeled", "unlabeled", "test")

    def __init__(self, root, split="train", folds=None, transform=None, target_transform=None, download=False):
        super().__init__(os.fspath(root), transform=transform, target_transform=target_transform)
        self.split = verify_str_arg(split, "split", self.splits)
        if folds is not None and not 0 <= folds <= 9:
            raise ValueError(f"Value for argument folds should be in the range [0, 10), but got {folds}.")
        self.folds = folds
        if download and not self._check_integrity():
            download_and_extract_archive(self.url, self.root, filename=self.filename, md5=self.tgz_md5)
        if not self._check_integrity():
            raise RuntimeError(
                f"Dataset not found or corrupted: {self.base_folder} in {self.root}. Terra downloads no data: put "
                f"{self.filename} (from {self.url}) there and use download=True, which unpacks it."
            )
        parts = [self._read(part) for part in self.split.split("+")]
        images, labels = C.cat([p[0] for p in parts]), C.cat([p[1] for p in parts])
        if folds is not None and self.split.startswith("train"):
            kept = C.cat([self._fold(folds), C.arange(len(parts[0][0]), len(images))])
            images, labels = images[kept], labels[kept]
        self.data, self.labels = array_of(images), array_of(labels)
        with open(self._path(self.class_names_file), encoding="ascii") as file:
            self.classes = file.read().splitlines()

    def _path(self, name):
        return os.path.join(self.root, self.base_folder, name)

    def _fold(self, number):
        """The rows of the labelled images that belong to one of the ten folds."""
        with open(self._path(self.folds_list_file), encoding="ascii") as file:
            return C.tensor([int(row) for row in file.read().splitlines()[number].split()])

    def _read(self, part):
        """Images [n, 3, 96, 96] and labels of a part. The files have the pixels column by column, labels from 1."""
        with open(self._path(f"{part}_X.bin"), "rb") as file:
            images = (
                C.frombuffer(bytearray(file.read()), dtype=C.uint8).view(-1, 3, 96, 96).transpose(2, 3).contiguous()
            )
        if part == "unlabeled":
            return images, C.full((len(images),), -1)
        with open(self._path(f"{part}_y.bin"), "rb") as file:
            return images, C.frombuffer(bytearray(file.read()), dtype=C.uint8).long() - 1

    def __getitem__(self, index):
        return self._transformed(
            image_of(C.as_tensor(self.data[index]).permute(1, 2, 0), "RGB"), int(self.labels[index])
        )

    def __len__(self):
        return len(self.data)

    def _check_integrity(self):
        return all(check_integrity(self._path(name), md5) for name, md5 in [*self.train_list, *self.test_list])

    def extra_repr(self):
        return f"Split: {self.split}"
