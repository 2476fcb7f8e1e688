"""What the tests of vision write down of a value: enough to tell any misplaced pixel, blind to the last bit."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402, F401


def elements(*shape, scale=1.0):
    """A tensor of numbers in 0..scale that look random, the same everywhere."""
    import torch

    count = 1
    for size in shape:
        count *= size
    numbers = torch.arange(count, dtype=torch.int64)
    numbers = (numbers * 7919 + numbers.div(13, rounding_mode="floor") * 104729) % 9973
    return (numbers.double() / 9972 * scale).float().view(shape)


def summary(value):
    """dtype, shape, mean, and the mean weighted by place: of each tensor in lists, tuples and dicts."""
    import torch

    if isinstance(value, dict):
        return [[key, summary(item)] for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return [summary(item) for item in value]
    if not isinstance(value, torch.Tensor):
        return value
    kind = str(value.dtype).split(".")[-1]
    if value.numel() == 0:
        return [kind, list(value.shape)]
    flat = value.detach().double().flatten()
    places = torch.arange(flat.numel(), dtype=torch.float64) * 31 % 17 / 17
    return [kind, list(value.shape), float(flat.mean()), float((flat * places).mean())]


def said(function):
    """What a function gives, summed up, or the kind of exception that it raises."""
    try:
        return summary(function())
    except (ValueError, TypeError, RuntimeError, AssertionError, AttributeError, LookupError, OSError) as error:
        return type(error).__name__
