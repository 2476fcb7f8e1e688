"""CIFAR-10 and CIFAR-100, from the archives' pickled batches."""

import os
import pickle

import _terra_C as C

from .utils import check_integrity, download_and_extract_archive
from .vision_dataset import VisionDataset, array_of, image_of

__all__ = ["CIFAR10", "CIFAR100"]


class _Array:
    """An array of numpy in a pickle, taken apart without numpy: `bytes` and `shape`."""

    def __setstate__(self, state):
        _, self.shape, dtype, self.by_columns, data = state
        if dtype.code not in ("u1", "|u1"):
            raise pickle.UnpicklingError(f"the batch holds an array of {dtype.code}, not of bytes")
        self.bytes = data.encode("latin1") if isinstance(data, str) else data


class _Dtype:
    def __init__(self, code, *rest):
        self.code = code

    def __setstate__(self, state):
        pass


# What a batch may name beside Python's plain values.
_KNOWN = {
    ("numpy.core.multiarray", "_reconstruct"): lambda *arguments: _Array(),
    ("numpy._core.multiarray", "_reconstruct"): lambda *arguments: _Array(),
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Dtype,
    ("_codecs", "encode"): lambda text, encoding: text.encode(encoding),
}


class _BatchReader(pickle.Unpickler):
    """Reads batches and runs nothing of what a pickle could run."""

    def find_class(self, module, name):
        try:
            return _KNOWN[module, name]
        except KeyError:
            raise pickle.UnpicklingError(f"a CIFAR batch does not hold a {module}.{name}") from None


def read_batch(path):
    with open(path, "rb") as file:
        try:
            return _BatchReader(file, encoding="latin1").load()
        except (pickle.UnpicklingError, EOFError, ValueError, TypeError, AttributeError) as error:
            raise RuntimeError(f"{path} is not a batch of CIFAR: {error}") from None


def _images(array, path):
    """[n, 32, 32, 3] of the rows of a batch."""
    if not isinstance(array, _Array) or len(array.bytes) % 3072 or array.by_columns:
        raise RuntimeError(f"{path} is not a batch of CIFAR: its data are no rows of 3072 bytes")
    elements = C.frombuffer(bytearray(array.bytes), dtype=C.uint8).view(-1, 3, 32, 32)
    return elements.permute(0, 2, 3, 1).contiguous()


class CIFAR10(VisionDataset):
    """Images of 32 x 32 in ten classes, from root/cifar-10-batches-py.

    `data` is an array of numpy [n, 32, 32, 3], a tensor where numpy is not installed; `targets` is a list."""

    base_folder = "cifar-10-batches-py"
    url = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
    filename = "cifar-10-python.tar.gz"
    tgz_md5 = "c58f30108f718f92721af3b95e74349a"
    train_list = [
        ["data_batch_1", "c99cafc152244af753f735de768cd75f"],
        ["data_batch_2", "d4bba439e000b95fd0a9bffe97cbabec"],
        ["data_batch_3", "54ebc095f3ab1f0389bbae665268c751"],
        ["data_batch_4", "634d18415352ddfa80567beed471001a"],
        ["data_batch_5", "482c414d41f54cd18b22e5b47cb7c3cb"],
    ]
    test_list = [["test_batch", "40351d587109b95175f43aff81a1287e"]]
    meta = {"filename": "batches.meta", "key": "label_names", "md5": "5ff9c542aee3614f3951f8cda6e48888"}

    def __init__(self, root, train=True, transform=None, target_transform=None, download=False):
        super().__init__(os.fspath(root), transform=transform, target_transform=target_transform)
        self.train = train
        if download:
            self.download()
        if not self._check_integrity():
            raise RuntimeError(
                f"Dataset not found or corrupted: {self.base_folder} in {self.root}. Terra downloads no data: put "
                f"{self.filename} (from {self.url}) there and use download=True, which unpacks it."
            )
        images, self.targets = [], []
        for name, _ in self.train_list if train else self.test_list:
            path = os.path.join(self.root, self.base_folder, name)
            batch = read_batch(path)
            images.append(_images(batch["data"], path))
            self.targets.extend(batch["labels"] if "labels" in batch else batch["fine_labels"])
        self.data = array_of(C.cat(images))
        names = read_batch(os.path.join(self.root, self.base_folder, self.meta["filename"]))
        self.classes = names[self.meta["key"]]
        self.class_to_idx = {name: i for i, name in enumerate(self.classes)}

    def __getitem__(self, index):
        """The image (Pillow's, or without Pillow a uint8 tensor [3, 32, 32]) and the number of its class."""
        return self._transformed(image_of(self.data[index], "RGB"), self.targets[index])

    def __len__(self):
        return len(self.data)

    def _check_integrity(self):
        files = [*self.train_list, *self.test_list, [self.meta["filename"], self.meta["md5"]]]
        return all(check_integrity(os.path.join(self.root, self.base_folder, name), md5) for name, md5 in files)

    def download(self):
        """Unpacks the archive in root, unless the batches are there."""
        if not self._check_integrity():
            download_and_extract_archive(self.url, self.root, filename=self.filename, md5=self.tgz_md5)

    def extra_repr(self):
        return f"Split: {'Train' if self.train else 'Test'}"


class CIFAR100(CIFAR10):
    """As CIFAR10, with a hundred classes."""

    base_folder = "cifar-100-python"
    url = "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz"
    filename = "cifar-100-python.tar.gz"
    tgz_md5 = "eb9058c3a382ffc7106e4002c42a8d85"
    train_list = [["train", "16019d7e3df5f24257cddd939b257f8d"]]
    test_list = [["test", "f0ef6b0ae62326f3e7ffdfab6717acfc"]]
    meta = {"filename": "meta", "key": "fine_label_names", "md5": "7973b15100ade9c7d40fb424638fde48"}
