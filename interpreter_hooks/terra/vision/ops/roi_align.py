"""RoIAlign: windows of feature maps, averaged to one size."""

import math

import _terra_C as C

from ... import nn
from ._rois import pair_of, rows_of

__all__ = ["RoIAlign", "roi_align"]


def _linear(positions, size):
    """[bins, samples] positions to their two neighbours and weights; -1 to `size` is inside, the rest counts zero."""
    inside = (positions >= -1.0) & (positions <= size)
    place = positions.clamp(min=0.0)
    low = place.floor().to(C.int64)
    last = low >= size - 1
    low = low.clamp(max=size - 1)
    high = (low + 1).clamp(max=size - 1)
    part = C.where(last, C.zeros_like(place), place - low.to(place.dtype))
    inside = inside.to(place.dtype)
    return (low, (1 - part) * inside), (high, part * inside)


def _weights(start, length, bins, samples, size):
    """[bins, size]: how much each position of a row counts in each bin, by the mean of its samples."""
    step = length / bins
    numbers = C.arange(bins).to(start.dtype).unsqueeze(1)
    inner = (C.arange(samples).to(start.dtype) + 0.5).unsqueeze(0)
    positions = start + numbers * step + inner * step / samples
    total = C.zeros(bins, size, dtype=start.dtype)
    for index, weight in _linear(positions, size):
        total = total + ((index.unsqueeze(-1) == C.arange(size)).to(start.dtype) * weight.unsqueeze(-1)).sum(1)
    return total / max(samples, 1)


def roi_align(input, boxes, output_size, spatial_scale=1.0, sampling_ratio=-1, aligned=False):
    """[n, channels, *output_size]: means of values between pixels inside each box of [batch, channels, height, width].

    A bin's weights are those of its rows times those of its columns: each box takes two products of matrices."""
    rows, (bins_y, bins_x) = rows_of(boxes), pair_of(output_size)
    height, width = input.shape[-2:]
    shift = 0.5 if aligned else 0.0
    results = []
    for row in rows:
        image = int(row[0])
        x1, y1, x2, y2 = (row[1:] * spatial_scale - shift).unbind()
        roi_width, roi_height = x2 - x1, y2 - y1
        if not aligned:
            roi_width, roi_height = roi_width.clamp(min=1.0), roi_height.clamp(min=1.0)
        samples_y = sampling_ratio if sampling_ratio > 0 else math.ceil(float(roi_height) / bins_y)
        samples_x = sampling_ratio if sampling_ratio > 0 else math.ceil(float(roi_width) / bins_x)
        down = _weights(y1, roi_height, bins_y, max(samples_y, 0), height)
        across = _weights(x1, roi_width, bins_x, max(samples_x, 0), width)
        results.append(down.matmul(input[image]).matmul(across.t()))
    if not results:
        return input.new_zeros((0, input.shape[1], bins_y, bins_x))
    return C.stack(results)


class RoIAlign(nn.Module):
    def __init__(self, output_size, spatial_scale, sampling_ratio, aligned=False):
        super().__init__()
        self.output_size = output_size
        self.spatial_scale = spatial_scale
        self.sampling_ratio = sampling_ratio
        self.aligned = aligned

    def forward(self, input, rois):
        return roi_align(input, rois, self.output_size, self.spatial_scale, self.sampling_ratio, self.aligned)

    def __repr__(self):
        return (
            f"{type(self).__name__}(output_size={self.output_size}, spatial_scale={self.spatial_scale}, "
            f"sampling_ratio={self.sampling_ratio}, aligned={self.aligned})"
        )
