# run: --capture=auto
"""Functions that make views alone, at places that differ between calls, compute nothing and are left alone."""
import terra
from terra.utils.data import DataLoader, TensorDataset

import _terra_C as C


def rows(x, i):
    return x[i], x[i : i + 2].t()


def twice(x, i):
    return x[i] * 2


x = terra.arange(60.0).reshape(20, 3)
for i in range(40):
    a, b = rows(x, i % 18)
    assert a.tolist() == [3.0 * (i % 18) + k for k in range(3)] and b.shape == (3, 2)
for i in range(200):
    assert twice(x, i % 4).tolist() == [6.0 * (i % 4) + 2 * k for k in range(3)]
frame = C.capture_frame(rows)
assert frame["hits"] <= 2 and frame["recordings"] <= 8, frame
assert C.capture_frame(twice)["hits"] > 20, C.capture_frame(twice)

# A loader over rows settles: what it collects comes from anywhere in the data.
loader = DataLoader(TensorDataset(x, terra.arange(20)), batch_size=4, shuffle=True)
total = 0.0
for _ in range(20):
    for images, numbers in loader:
        assert images.tolist() == [[3.0 * n + k for k in range(3)] for n in numbers.tolist()]
        total += images.sum().item()
assert total == 20 * x.sum().item()
stats = terra.capture.stats()
assert stats["captures"] < 16, stats
print("3 passed")
