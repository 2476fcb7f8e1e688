"""The drawn digits as idx files, made once: below $XDG_CACHE_HOME/terra or ~/.cache/terra, in the layout in which MNIST
datasets are looked for."""

import os
import struct

import torch

from .draw import SIDE, draw_chunk

VERSION = 1  # part of the folder's name: raise it whenever the pictures change
COUNTS = {"train": 20000, "t10k": 4000}
CHUNK = 500


def digits_folder(say=lambda text: None):
    """The folder to give to a dataset as its root; draws the digits when it is not there yet."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    root = os.path.join(cache, "terra", f"digits-{VERSION}")
    folder = os.path.join(root, "MNIST", "raw")
    for part, count in COUNTS.items():
        images, labels = (os.path.join(folder, f"{part}-{kind}-ubyte") for kind in ("images-idx3", "labels-idx1"))
        if not (os.path.exists(images) and os.path.exists(labels)):
            os.makedirs(folder, exist_ok=True)
            say(f"drawing {count} digits into {folder}")
            _write_part(images, labels, count, seed=1 if part == "train" else 2)
    return root


def _write_part(images_path, labels_path, count, seed):
    """Under temporary names first, so that an interrupted run leaves no half a file behind."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(count) % 10
    labels = labels[torch.randperm(count, generator=generator)]
    images_temporary, labels_temporary = (f"{path}.{os.getpid()}" for path in (images_path, labels_path))
    with open(labels_temporary, "wb") as file:
        file.write(struct.pack(">II", 0x801, count))
        file.write(bytes(labels.tolist()))
    with open(images_temporary, "wb") as file:
        file.write(struct.pack(">IIII", 0x803, count, SIDE, SIDE))
        for start in range(0, count, CHUNK):
            chunk = draw_chunk(labels[start : start + CHUNK], generator)
            file.write(bytes(chunk.view(-1).tolist()))
    os.replace(images_temporary, images_path)
    os.replace(labels_temporary, labels_path)
