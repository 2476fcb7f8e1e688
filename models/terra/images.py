"""Images: coloured shapes that the program draws itself, one of them for a class or several in a scene, and
CIFAR-10."""

import sys

import numpy as np

from common import read_file

CIFAR_FILE, CIFAR_BYTES = "data_batch_small.bin", 3073  # a record: the label, then 3 x 32 x 32 bytes

# Which points of the box from -1 to 1 belong to a shape; x to the right, y downwards.
SHAPES = {
    "disc": lambda x, y: x * x + y * y < 1,
    "square": lambda x, y: np.maximum(abs(x), abs(y)) < 0.9,
    "triangle": lambda x, y: (abs(x) < (y + 1) / 2) & (y < 0.9),
    "plus": lambda x, y: (np.minimum(abs(x), abs(y)) < 0.3) & (np.maximum(abs(x), abs(y)) < 1),
    "diamond": lambda x, y: abs(x) + abs(y) < 1,
    "ring": lambda x, y: abs(x * x + y * y - 0.7) < 0.3,
    "frame": lambda x, y: abs(np.maximum(abs(x), abs(y)) - 0.7) < 0.25,
    "cross": lambda x, y: (abs(abs(x) - abs(y)) < 0.35) & (np.maximum(abs(x), abs(y)) < 0.9),
    "lying bars": lambda x, y: (np.sin(8 * y) > 0) & (np.maximum(abs(x), abs(y)) < 0.95),
    "standing bars": lambda x, y: (np.sin(8 * x) > 0) & (np.maximum(abs(x), abs(y)) < 0.95),
}
KINDS = tuple(SHAPES.values())


def background(draw, side, noise):
    colour = draw.uniform(-0.6, 0.2, size=(3, 1, 1))
    return (colour + noise * draw.standard_normal((3, side, side))).astype(np.float32)


def paint(draw, image, kind, x, y, radius):
    """A shape in a bright colour, its middle at (x, y) in pixels."""
    rows, columns = np.mgrid[: image.shape[1], : image.shape[2]] + 0.5
    colour = draw.uniform(0.3, 1.0, size=3) * draw.permutation([1.0, 1.0, draw.uniform(-1, 1)])
    image[:, KINDS[kind]((columns - x) / radius, (rows - y) / radius)] = colour.reshape(3, 1)


def drawn_images(draw, count, side=32, noise=0.3):
    """(images [count, 3, side, side], the kind of the shape on each)"""
    labels = draw.integers(len(KINDS), size=count)
    images = np.empty((count, 3, side, side), dtype=np.float32)
    for image, kind in zip(images, labels):
        image[:] = background(draw, side, noise)
        x, y = draw.uniform(0.4 * side, 0.6 * side, size=2)
        paint(draw, image, kind, x, y, draw.uniform(0.25 * side, 0.38 * side))
    return images, labels


def cifar_images(folder):
    """(images from -1 to 1, labels) of the CIFAR-10 file in the folder."""
    records = np.frombuffer(read_file(folder, CIFAR_FILE), dtype=np.uint8)
    if len(records) == 0 or len(records) % CIFAR_BYTES:
        sys.exit(f"{CIFAR_FILE} in {folder} is damaged: its size is no multiple of {CIFAR_BYTES} bytes")
    records = records.reshape(-1, CIFAR_BYTES)
    images = records[:, 1:].reshape(-1, 3, 32, 32).astype(np.float32) / 127.5 - 1
    return images, records[:, 0].astype(np.int64)


def labelled_images(draw, folder=None, count=2000):
    return cifar_images(folder) if folder else drawn_images(draw, count)


def drawn_scene(draw, side=64, kinds=4, most=4):
    """(image, boxes [n, 4] with the corners in pixels, their kinds), 1 to `most` objects that hardly overlap."""
    image = background(draw, side, noise=0.1)
    boxes, labels = [], []
    for _ in range(draw.integers(1, most + 1)):
        radius = draw.uniform(6, 13)
        x, y = draw.uniform(radius, side - radius, size=2)
        if any(abs(x - (a + c) / 2) + abs(y - (b + d) / 2) < radius + (c - a) / 2 for a, b, c, d in boxes):
            continue
        kind = draw.integers(kinds)
        paint(draw, image, kind, x, y, radius)
        boxes.append((x - radius, y - radius, x + radius, y + radius))
        labels.append(kind)
    return image, np.array(boxes, dtype=np.float32), np.array(labels, dtype=np.int64)
