"""MNIST and data sets like it, from their idx files."""

import os

from .idx import find_idx, read_idx
from .utils import extract_archive, verify_str_arg
from .vision_dataset import VisionDataset, image_of

__all__ = ["EMNIST", "FashionMNIST", "KMNIST", "MNIST"]


class MNIST(VisionDataset):
    """Looks for the four idx files in root/MNIST/raw, as torchvision lays them out, and in root itself."""

    training_file = "training.pt"
    test_file = "test.pt"
    classes = [
        "0 - zero", "1 - one", "2 - two", "3 - three", "4 - four", "5 - five", "6 - six", "7 - seven", "8 - eight",
        "9 - nine",
    ]  # fmt: skip

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        """`download` changes nothing: the files are there, or the error says where they are to be put."""
        super().__init__(os.fspath(root), transform=transform, target_transform=target_transform)
        self.train = train
        self.data, self.targets = self._load()

    def _part(self):
        return "train" if self.train else "t10k"

    def _load(self):
        part = self._part()
        folder = self._folder(part)
        images = read_idx(find_idx(folder, f"{part}-images-idx3-ubyte"))
        return images, read_idx(find_idx(folder, f"{part}-labels-idx1-ubyte")).long()

    @property
    def raw_folder(self):
        return os.path.join(self.root, type(self).__name__, "raw")

    @property
    def processed_folder(self):
        return os.path.join(self.root, type(self).__name__, "processed")

    @property
    def class_to_idx(self):
        return {name: i for i, name in enumerate(self.classes)}

    @property
    def train_data(self):
        return self.data

    test_data = train_data

    @property
    def train_labels(self):
        return self.targets

    test_labels = train_labels

    def _folder(self, part):
        for folder in (self.raw_folder, self.root):
            try:
                find_idx(folder, f"{part}-labels-idx1-ubyte")
                return folder
            except FileNotFoundError:
                continue
        raise RuntimeError(
            f"Dataset not found: no {part}-labels-idx1-ubyte[.gz] in {self.raw_folder} or {self.root}. "
            "Put the four idx files into one of them; this package downloads nothing."
        )

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        """The image (Pillow's, or without Pillow a uint8 tensor [1, height, width]) and the label, an int."""
        return self._transformed(image_of(self.data[index], "L"), int(self.targets[index]))

    def extra_repr(self):
        return f"Split: {'Train' if self.train else 'Test'}"


class FashionMNIST(MNIST):
    classes = [
        "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
    ]  # fmt: skip


class KMNIST(MNIST):
    classes = ["o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"]


_DIGITS, _SMALL = "0123456789", "abcdefghijklmnopqrstuvwxyz"
_MERGED = [*_DIGITS, *_SMALL.upper(), *"abdefghnqrt"]  # small letters that look like their capitals are left out


class EMNIST(MNIST):
    """Letters and digits in six splits, from root/EMNIST/raw or root; download=True unpacks EMNIST/raw/gzip.zip."""

    classes_split_dict = {
        "byclass": [*_DIGITS, *_SMALL.upper(), *_SMALL],
        "bymerge": _MERGED,
        "balanced": _MERGED,
        "letters": ["N/A", *_SMALL],
        "digits": [*_DIGITS],
        "mnist": [*_DIGITS],
    }
    splits = tuple(classes_split_dict)

    def __init__(self, root, split, download=False, **kwargs):
        self.split = verify_str_arg(split, "split", self.splits)
        self.classes = self.classes_split_dict[self.split]
        archive = os.path.join(os.path.expanduser(root), "EMNIST", "raw", "gzip.zip")
        unpacked = os.path.join(os.path.dirname(archive), "gzip")
        if download and os.path.exists(archive) and not os.path.isdir(unpacked):
            extract_archive(archive, os.path.dirname(archive))
        super().__init__(root, **kwargs)

    def _part(self):
        return f"emnist-{self.split}-{'train' if self.train else 'test'}"

    def _folder(self, part):
        unpacked = os.path.join(self.raw_folder, "gzip")
        return unpacked if os.path.isdir(unpacked) else super()._folder(part)
