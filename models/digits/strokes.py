"""The shapes of the digits: polylines in a box from -1 to 1, x to the right, y downwards. A class may have several."""

import math


def arc(cx, cy, rx, ry, start, end, pieces=8):
    """Points on an ellipse; degrees clockwise from the right, since y points downwards."""
    angles = [math.radians(start + (end - start) * i / pieces) for i in range(pieces + 1)]
    return [(cx + rx * math.cos(a), cy + ry * math.sin(a)) for a in angles]


SHAPES = {
    0: [[arc(0, 0, 0.55, 0.85, 0, 360, 14)], [arc(0, 0, 0.75, 0.8, -60, 300, 14)]],
    1: [[[(0, -0.85), (0, 0.85)]], [[(-0.35, -0.5), (0.05, -0.85), (0.05, 0.85)]],
        [[(-0.35, -0.5), (0.05, -0.85), (0.05, 0.85)], [(-0.4, 0.85), (0.45, 0.85)]]],
    2: [[arc(0, -0.4, 0.55, 0.45, -170, 30, 8) + [(-0.55, 0.85), (0.6, 0.85)]],
        [arc(0, -0.4, 0.5, 0.45, -160, 50, 8) + [(-0.3, 0.65), (-0.55, 0.85), (-0.2, 0.7), (0.2, 0.85), (0.6, 0.75)]]],
    3: [[arc(-0.05, -0.42, 0.5, 0.42, -150, 90, 7) + arc(-0.05, 0.42, 0.6, 0.43, -90, 150, 8)],
        [[(-0.5, -0.85), (0.5, -0.85), (-0.05, -0.15)] + arc(-0.05, 0.35, 0.55, 0.5, -90, 150, 8)]],
    4: [[[(0.3, 0.85), (0.3, -0.85), (-0.6, 0.3), (0.65, 0.3)]],
        [[(-0.45, -0.85), (-0.5, 0.1), (0.55, 0.1)], [(0.4, -0.85), (0.35, 0.85)]]],
    5: [[[(0.55, -0.85), (-0.4, -0.85), (-0.45, -0.1)] + arc(-0.02, 0.3, 0.55, 0.53, -130, 140, 9)],
        [[(-0.35, -0.8), (-0.4, -0.15)] + arc(0, 0.32, 0.5, 0.5, -120, 140, 9), [(-0.35, -0.8), (0.5, -0.85)]]],
    6: [[[(0.4, -0.85), (-0.1, -0.45)] + arc(0, 0.35, 0.52, 0.5, -170, 190, 12)],
        [arc(0.35, 0.1, 0.9, 0.95, -90, -180, 5) + arc(0, 0.4, 0.55, 0.45, 180, 540, 11)]],
    7: [[[(-0.55, -0.8), (0.55, -0.8), (-0.1, 0.85)]], [[(-0.55, -0.6), (-0.5, -0.8), (0.55, -0.8), (0.0, 0.85)]],
        [[(-0.55, -0.8), (0.55, -0.8), (-0.1, 0.85)], [(-0.25, 0.05), (0.45, 0.05)]]],
    8: [[arc(0, -0.43, 0.42, 0.42, 90, 450, 10) + arc(0, 0.43, 0.52, 0.44, -90, 270, 10)],
        [[(0.4, -0.65), (-0.2, -0.8), (-0.45, -0.45), (0.35, 0.25), (0.4, 0.7), (-0.1, 0.85), (-0.45, 0.5), (0.4, -0.3),
          (0.4, -0.65)]]],
    9: [[arc(-0.02, -0.38, 0.5, 0.46, 0, 360, 11) + [(0.48, -0.3), (0.35, 0.85)]],
        [arc(-0.02, -0.38, 0.48, 0.46, -20, 340, 11) + [(0.45, -0.2), (0.3, 0.6), (-0.1, 0.85), (-0.4, 0.75)]]],
}  # fmt: skip


def segments(polylines):
    """The straight pieces of a shape: [(x0, y0), (x1, y1)]."""
    return [[a, b] for points in polylines for a, b in zip(points, points[1:])]


def table():
    """(segments of all shapes, filled up to one length by repeating the last; the class of each shape)"""
    shapes = [(digit, segments(polylines)) for digit, variants in SHAPES.items() for polylines in variants]
    longest = max(len(pieces) for _, pieces in shapes)
    return [pieces + [pieces[-1]] * (longest - len(pieces)) for _, pieces in shapes], [digit for digit, _ in shapes]
