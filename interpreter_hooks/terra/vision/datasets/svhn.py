"""SVHN: house numbers, from the files of MATLAB that scipy reads."""

import os

from .utils import check_integrity, download_url, verify_str_arg
from .vision_dataset import VisionDataset, image_of

__all__ = ["SVHN"]


class SVHN(VisionDataset):
    """From root/train_32x32.mat and its kin. `data` is an array of numpy [n, 3, 32, 32]."""

    split_list = {
        split: [f"http://ufldl.stanford.edu/housenumbers/{split}_32x32.mat", f"{split}_32x32.mat", md5]
        for split, md5 in (
            ("train", "e26dedcc434d2e4c54c9b2d4a06d8373"),
            ("test", "eb5a983be6a315427106f1b164d9cef3"),
            ("extra", "a93ce644f1a588dc4d68dda5feec44a7"),
        )
    }

    def __init__(self, root, split="train", transform=None, target_transform=None, download=False):
        super().__init__(os.fspath(root), transform=transform, target_transform=target_transform)
        self.split = verify_str_arg(split, "split", self.split_list)
        self.url, self.filename, self.file_md5 = self.split_list[split]
        path = os.path.join(self.root, self.filename)
        if download or not check_integrity(path, self.file_md5):
            download_url(self.url, self.root, self.filename, self.file_md5)
        try:
            import scipy.io
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                f"SVHN: scipy, which reads {self.filename}, is not installed: pip install scipy, or python3-scipy.",
                name="scipy",
            ) from None
        contents = scipy.io.loadmat(path)
        self.labels = contents["y"].astype("int64").squeeze()
        self.labels[self.labels == 10] = 0  # the file counts the digit 0 as 10
        self.data = contents["X"].transpose((3, 2, 0, 1))

    def __getitem__(self, index):
        return self._transformed(image_of(self.data[index].transpose((1, 2, 0)), "RGB"), int(self.labels[index]))

    def __len__(self):
        return len(self.data)

    def extra_repr(self):
        return f"Split: {self.split.capitalize()}"
