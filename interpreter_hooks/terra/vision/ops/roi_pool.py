"""RoIPool: the maxima of windows of feature maps, pooled to one size."""

import math

import _terra_C as C

from ... import nn
from ._rois import pair_of, rows_of

__all__ = ["RoIPool", "roi_pool"]


def _rounded(value):
    """The nearest whole number, halves away from zero."""
    return int(math.floor(abs(value) + 0.5) * (1 if value >= 0 else -1))


def roi_pool(input, boxes, output_size, spatial_scale=1.0):
    """[n, channels, *output_size]: maxima inside each box, whose borders and bins are whole pixels."""
    rows, (bins_y, bins_x) = rows_of(boxes), pair_of(output_size)
    height, width = input.shape[-2:]

    def bins(first, last, count, size):
        step = max(last - first + 1, 1) / count
        starts = [min(max(math.floor(i * step) + first, 0), size) for i in range(count)]
        return list(zip(starts, [min(max(math.ceil((i + 1) * step) + first, 0), size) for i in range(count)]))

    results = []
    for row in rows.tolist():
        features = input[int(row[0])]
        x1, y1, x2, y2 = (_rounded(v * spatial_scale) for v in row[1:])
        zero = features.new_zeros(features.shape[0])
        cells = []
        for top, bottom in bins(y1, y2, bins_y, height):
            for left, right in bins(x1, x2, bins_x, width):
                cell = features[:, top:bottom, left:right]
                cells.append(cell.amax((-2, -1)) if cell.numel() else zero)
        results.append(C.stack(cells, 1).view(-1, bins_y, bins_x))
    if not results:
        return input.new_zeros((0, input.shape[1], bins_y, bins_x))
    return C.stack(results)


class RoIPool(nn.Module):
    def __init__(self, output_size, spatial_scale):
        super().__init__()
        self.output_size = output_size
        self.spatial_scale = spatial_scale

    def forward(self, input, rois):
        return roi_pool(input, rois, self.output_size, self.spatial_scale)

    def __repr__(self):
        return f"{type(self).__name__}(output_size={self.output_size}, spatial_scale={self.spatial_scale})"
