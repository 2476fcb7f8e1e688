"""exp() where results become subnormal and then nothing, as masks make them, in every lane: within a unit of libm's."""
import math
import struct

import terra

EDGES = [0.0, -87.0, -87.5, -100.0, -103.0, -103.9, -103.98, -104.0, -104.5, -1e9, -9e15, float("-inf")]
DOUBLE_EDGES = [0.0, -700.0, -708.5, -740.0, -745.0, -745.2, -746.0, -1e9, float("-inf")]


def rounded(x):
    return struct.unpack("f", struct.pack("f", x))[0]


for dtype, edges, tiny, wanted in ((terra.float32, EDGES, 1.5e-45, lambda x: rounded(math.exp(rounded(x)))),
                                   (terra.float64, DOUBLE_EDGES, 5e-324, math.exp)):
    for shift in range(17):
        xs = [edges[(i + shift) % len(edges)] for i in range(37)]
        for x, got in zip(xs, terra.tensor(xs, dtype=dtype).exp().tolist()):
            assert abs(got - wanted(x)) <= max(tiny, 1e-6 * wanted(x)), (dtype, x, got, wanted(x))
    assert math.isnan(terra.tensor([float("nan")] * 5, dtype=dtype).exp()[4].item())

mask = terra.full((4, 19), float("-inf"))
mask[:, :3] = terra.tensor([0.5, 0.25, -2.0])
row = mask.softmax(1)[2].tolist()
assert row[3:] == [0.0] * 16 and abs(sum(row) - 1) < 1e-6, row
assert all(math.isnan(x) for x in terra.full((2, 19), float("-inf")).softmax(1)[1].tolist())
