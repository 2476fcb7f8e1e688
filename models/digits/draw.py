"""Shapes into pixels. Every image is its own random pen stroke: which variant, bent points, slant, turn, size, place,
thickness, ink and noise; all images of a chunk at once."""

import torch

from .strokes import table

SIDE = 28


def draw_chunk(labels, generator):
    """uint8 images [len(labels), 28, 28]."""
    shapes, classes = table()
    shapes, classes = torch.tensor(shapes), torch.tensor(classes)
    n, pieces = len(labels), shapes.size(1)

    def uniform(low, high, *size):
        return torch.rand(n, *size, generator=generator) * (high - low) + low

    # one of the variants of the label's class: the largest of random scores, -1 where the class is another
    scores = torch.rand(n, len(classes), generator=generator)
    scores = torch.where(labels[:, None] == classes[None, :], scores, torch.full_like(scores, -1.0))
    points = shapes[scores.argmax(1)].view(n, pieces * 2, 2)
    points = bend(points, generator)
    points = place(points, uniform)
    ends = points.view(n, pieces, 2, 2)
    distance = distance_to_segments(ends[:, :, 0], ends[:, :, 1])
    thickness = uniform(0.9, 1.9, 1)
    ink = uniform(0.75, 1.0, 1)
    image = (thickness - distance + 0.5).clamp(0.0, 1.0) * ink
    image = image + torch.randn(n, SIDE * SIDE, generator=generator) * uniform(0.0, 0.08, 1)
    return (image.clamp(0.0, 1.0) * 255).to(torch.uint8).view(n, SIDE, SIDE)


def bend(points, generator):
    """A smooth random warp: equal points stay equal, so strokes stay connected."""
    n = points.size(0)
    waves = torch.randn(n, 1, 2, generator=generator) * 0.07
    phases = torch.rand(n, 1, 2, generator=generator) * 6.2832
    swapped = points.flip([2])
    return points + waves * torch.sin(2.5 * swapped + phases)


def place(points, uniform):
    """Slant, size, turn and shift, into pixel coordinates."""
    x, y = points[:, :, 0], points[:, :, 1]
    angle, slant = uniform(-0.26, 0.26, 1), uniform(-0.3, 0.3, 1)
    x = (x - slant * y) * uniform(0.75, 1.1, 1)
    y = y * uniform(0.85, 1.1, 1)
    cos, sin = torch.cos(angle), torch.sin(angle)
    scale, middle = 9.5, (SIDE - 1) / 2
    px = (cos * x - sin * y) * scale + middle + uniform(-2.0, 2.0, 1)
    py = (sin * x + cos * y) * scale + middle + uniform(-2.0, 2.0, 1)
    return torch.stack([px, py], 2)


def distance_to_segments(a, b):
    """From each pixel to the nearest of its image's segments: a, b [n, pieces, 2] -> [n, 784]."""
    rows = torch.arange(SIDE).repeat_interleave(SIDE).to(a.dtype)
    columns = torch.arange(SIDE).repeat(SIDE).to(a.dtype)
    nearest = None
    for i in range(a.size(1)):  # one segment at a time: [n, 784] stays in cache where [n, pieces, 784] would not
        ax, ay = a[:, i, 0:1], a[:, i, 1:2]
        dx, dy = b[:, i, 0:1] - ax, b[:, i, 1:2] - ay
        length = (dx * dx + dy * dy).clamp(min=1e-6)
        px, py = columns - ax, rows - ay
        along = ((px * dx + py * dy) / length).clamp(0.0, 1.0)
        ex, ey = px - along * dx, py - along * dy
        squared = ex * ex + ey * ey
        nearest = squared if nearest is None else torch.minimum(nearest, squared)
    return nearest.sqrt()
