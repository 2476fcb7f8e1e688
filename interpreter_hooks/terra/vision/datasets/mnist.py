"""MNIST from its idx files."""

import os

from .idx import find_idx, read_idx
from .vision_dataset import VisionDataset


class MNIST(VisionDataset):
    """Looks for the four idx files in root/MNIST/raw, as torchvision lays them out, and in root itself."""

    classes = [
        "0 - zero", "1 - one", "2 - two", "3 - three", "4 - four", "5 - five", "6 - six", "7 - seven", "8 - eight",
        "9 - nine",
    ]  # fmt: skip

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        part = "train" if train else "t10k"
        folder = self._folder(part)
        self.data = read_idx(find_idx(folder, f"{part}-images-idx3-ubyte"))
        self.targets = read_idx(find_idx(folder, f"{part}-labels-idx1-ubyte")).long()

    @property
    def raw_folder(self):
        return os.path.join(self.root, type(self).__name__, "raw")

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
        """The image is a uint8 tensor of height x width (PIL is not needed), the label an int."""
        image, target = self.data[index], int(self.targets[index])
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return image, target


class FashionMNIST(MNIST):
    classes = [
        "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
    ]  # fmt: skip
