"""The Oxford-IIIT pets: cats and dogs of 37 breeds, with masks."""

import os

from .._pil import pil
from .utils import download_and_extract_archive, verify_str_arg
from .vision_dataset import VisionDataset

__all__ = ["OxfordIIITPet"]


class OxfordIIITPet(VisionDataset):
    """From root/oxford-iiit-pet. The target is a breed, cat or dog, a mask, or several of them."""

    _RESOURCES = (
        ("https://www.robots.ox.ac.uk/~vgg/data/pets/data/images.tar.gz", "5c4f3ee8e5d25df40f4fd59a7f44e54c"),
        ("https://www.robots.ox.ac.uk/~vgg/data/pets/data/annotations.tar.gz", "95a8c909bbe2e81eed6a22bccdf3f68f"),
    )
    _VALID_TARGET_TYPES = ("category", "binary-category", "segmentation")

    def __init__(
        self, root, split="trainval", target_types="category", transforms=None, transform=None, target_transform=None,
        download=False,
    ):  # fmt: skip
        self._split = verify_str_arg(split, "split", ("trainval", "test"))
        target_types = [target_types] if isinstance(target_types, str) else target_types
        self._target_types = [verify_str_arg(t, "target_types", self._VALID_TARGET_TYPES) for t in target_types]
        super().__init__(root, transforms, transform, target_transform)
        folder = os.path.join(self.root, "oxford-iiit-pet")
        images, annotations = os.path.join(folder, "images"), os.path.join(folder, "annotations")
        there = os.path.isdir(images) and os.path.isdir(annotations)
        if download and not there:
            for url, md5 in self._RESOURCES:
                download_and_extract_archive(url, download_root=folder, md5=md5)
        elif not there:
            raise RuntimeError(
                f"Dataset not found: {folder}. Terra downloads no data: put images.tar.gz and annotations.tar.gz (from "
                f"{os.path.dirname(self._RESOURCES[0][0])}) there and use download=True, which unpacks them."
            )
        with open(os.path.join(annotations, f"{split}.txt"), encoding="utf-8") as file:
            rows = [line.split() for line in file]
        names = [row[0] for row in rows]
        self._labels = [int(row[1]) - 1 for row in rows]
        self._bin_labels = [int(row[2]) - 1 for row in rows]
        breeds = sorted({(label, name.rpartition("_")[0]) for name, label in zip(names, self._labels)})
        self.classes = [" ".join(part.title() for part in breed.split("_")) for _, breed in breeds]
        self.bin_classes = ["Cat", "Dog"]
        self.class_to_idx = {name: i for i, name in enumerate(self.classes)}
        self.bin_class_to_idx = {name: i for i, name in enumerate(self.bin_classes)}
        self._images = [os.path.join(images, name + ".jpg") for name in names]
        self._segs = [os.path.join(annotations, "trimaps", name + ".png") for name in names]

    def __len__(self):
        return len(self._images)

    def _target(self, kind, index):
        if kind == "category":
            return self._labels[index]
        return self._bin_labels[index] if kind == "binary-category" else pil().open(self._segs[index])

    def __getitem__(self, index):
        image = pil().open(self._images[index]).convert("RGB")
        target = tuple(self._target(kind, index) for kind in self._target_types)
        target = target[0] if len(target) == 1 else target or None
        return (image, target) if self.transforms is None else self.transforms(image, target)
