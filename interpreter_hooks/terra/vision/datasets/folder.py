"""Images in folders, one folder per class."""

import os

from .._pil import pil
from .vision_dataset import VisionDataset

__all__ = [
    "IMG_EXTENSIONS", "DatasetFolder", "ImageFolder", "default_loader", "find_classes", "has_file_allowed_extension",
    "is_image_file", "make_dataset", "pil_loader",
]  # fmt: skip

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def has_file_allowed_extension(filename, extensions):
    return filename.lower().endswith(extensions if isinstance(extensions, str) else tuple(extensions))


def is_image_file(filename):
    return has_file_allowed_extension(filename, IMG_EXTENSIONS)


def find_classes(directory):
    """The names of the folders in order, and their numbers."""
    classes = sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())
    if not classes:
        raise FileNotFoundError(f"Couldn't find any class folder in {directory}.")
    return classes, {name: i for i, name in enumerate(classes)}


def make_dataset(directory, class_to_idx=None, extensions=None, is_valid_file=None, allow_empty=False):
    """[(path, number of the class)] of all files, class after class, in the order of their names."""
    directory = os.path.expanduser(directory)
    if class_to_idx is None:
        _, class_to_idx = find_classes(directory)
    elif not class_to_idx:
        raise ValueError("'class_to_index' must have at least one entry to collect any samples.")
    if (extensions is None) == (is_valid_file is None):
        raise ValueError("Both extensions and is_valid_file cannot be None or not None at the same time")
    if is_valid_file is None:

        def is_valid_file(path):
            return has_file_allowed_extension(path, extensions)

    samples, found = [], set()
    for name in sorted(class_to_idx):
        for place, _, files in sorted(os.walk(os.path.join(directory, name), followlinks=True)):
            paths = [os.path.join(place, file) for file in sorted(files)]
            paths = [path for path in paths if is_valid_file(path)]
            samples += [(path, class_to_idx[name]) for path in paths]
            found.update([name] if paths else ())
    empty = set(class_to_idx) - found
    if empty and not allow_empty:
        message = f"Found no valid file for the classes {', '.join(sorted(empty))}. "
        if extensions is not None:
            shown = extensions if isinstance(extensions, str) else ", ".join(extensions)
            message += f"Supported extensions are: {shown}"
        raise FileNotFoundError(message)
    return samples


def pil_loader(path):
    """The image of a file, in colors."""
    with open(path, "rb") as file:
        return pil().open(file).convert("RGB")


def default_loader(path):
    return pil_loader(path)


class DatasetFolder(VisionDataset):
    """Files below root/CLASS, read by `loader`."""

    def __init__(
        self,
        root,
        loader,
        extensions=None,
        transform=None,
        target_transform=None,
        is_valid_file=None,
        allow_empty=False,
    ):
        super().__init__(root, transform=transform, target_transform=target_transform)
        classes, class_to_idx = self.find_classes(self.root)
        self.loader = loader
        self.extensions = extensions
        self.classes = classes
        self.class_to_idx = class_to_idx
        self.samples = self.make_dataset(self.root, class_to_idx, extensions, is_valid_file, allow_empty=allow_empty)
        self.targets = [target for _, target in self.samples]

    @staticmethod
    def make_dataset(directory, class_to_idx, extensions=None, is_valid_file=None, allow_empty=False):
        if class_to_idx is None:
            raise ValueError("The class_to_idx parameter cannot be None.")
        return make_dataset(directory, class_to_idx, extensions, is_valid_file, allow_empty)

    def find_classes(self, directory):
        return find_classes(directory)

    def __getitem__(self, index):
        path, target = self.samples[index]
        return self._transformed(self.loader(path), target)

    def __len__(self):
        return len(self.samples)


class ImageFolder(DatasetFolder):
    """Images below root/CLASS."""

    def __init__(
        self, root, transform=None, target_transform=None, loader=default_loader, is_valid_file=None, allow_empty=False
    ):
        super().__init__(
            root, loader, IMG_EXTENSIONS if is_valid_file is None else None, transform, target_transform, is_valid_file,
            allow_empty,
        )  # fmt: skip
        self.imgs = self.samples
