"""Histograms of numbers and of points; loaded when one of them is first used."""

import collections
import math

import _terra_C as C

from .nn.functional._words import scalar_type

Histogram = collections.namedtuple("histogramdd", ("hist", "bin_edges"), module="torch.return_types")


def _filled(out, result):
    """The result, in the tensors of `out` where they are given."""
    if out is None:
        return result
    for target, value in zip(out, result):
        C.clone(value, out=target)
    return out


def histogram(input, bins=100, *, range=None, weight=None, density=False, out=None):  # noqa: A002
    """The weight of the elements in each of `bins` parts of a range, or between sorted ends; and the ends."""
    if isinstance(bins, C.Tensor):
        return _filled(out, C._ops.histogram_edges(input, bins, weight, density))
    ends = None if range is None else C.tensor([float(range[0]), float(range[1])], dtype=C.float64)
    return _filled(out, C._ops.histogram(input, bins, ends, weight, density))


def _ends(values, given, dim):
    """Of the range of one dimension: what is given, or from the least to the greatest; half to each side of nothing."""
    low, high = given if given is not None else (0.0, 1.0)
    if given is None and values.numel() > 0:
        low, high = values.min().item(), values.max().item()
    if low > high:
        raise RuntimeError(
            f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for dimension {dim}"
        )
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"torch.histogramdd: dimension {dim}'s range [{low}, {high}] is not finite")
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _edges(points, bins, range):  # noqa: A002
    """The sorted ends of the bins along each dimension."""
    count = points.size(1)
    if isinstance(bins, int):
        bins = [bins] * count
    if len(bins) != count:
        raise RuntimeError("histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    if all(isinstance(b, C.Tensor) for b in bins):
        return list(bins)
    if range is not None and len(range) != 2 * count:
        raise RuntimeError(
            f"torch.histogramdd: for a {count}-dimensional histogram range should have {2 * count} elements, but got "
            f"{len(range)}"
        )
    edges = []
    for dim, number in enumerate(bins):
        if number <= 0:
            raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {number} for dimension {dim}")
        given = None if range is None else range[2 * dim : 2 * dim + 2]
        edges.append(C.linspace(*_ends(points[:, dim], given, dim), number + 1, dtype=points.dtype))
    return edges


def histogramdd(input, bins, *, range=None, weight=None, density=False, out=None):  # noqa: A002
    """The weight of the points (the last dimension) in each cell of a grid; and the ends of the cells."""
    if input.dim() < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    if not input.is_floating_point():
        raise NotImplementedError(f"\"histogramdd\" not implemented for '{scalar_type(input)}'")
    points = input.reshape(-1, input.size(-1))
    edges = _edges(points, bins, range)
    if weight is not None and weight.shape != input.shape[:-1]:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor "
            f"excluding its innermost dimension, but got input with shape {list(input.shape)} and weight with shape "
            f"{list(weight.shape)}"
        )
    weights = C.ones(points.size(0), dtype=input.dtype) if weight is None else weight.reshape(-1).to(input.dtype)
    cell, sizes = C.zeros(points.size(0), dtype=C.int64), []
    for dim, ends in enumerate(edges):
        place, last = points[:, dim].contiguous(), ends.numel() - 2
        number = C.bucketize(place, ends, right=True) - 1
        weights = C.where((place >= ends[0]) & (place <= ends[-1]), weights, 0.0)
        cell = cell * (last + 1) + number.clamp(0, last)
        sizes.append(last + 1)
    total = C.zeros(math.prod(sizes), dtype=input.dtype).index_add(0, cell, weights).reshape(sizes)
    if density:
        total = total / weights.sum()
        for dim, ends in enumerate(edges):
            total = total / ends.diff().reshape([-1 if d == dim else 1 for d, _ in enumerate(sizes)])
    if out is None:
        return Histogram(total, tuple(edges))
    for target, result in zip(out, (total, *edges)):
        C.clone(result, out=target)
    return Histogram(out[0], tuple(out[1:]))
