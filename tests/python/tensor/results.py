"""Ops behind one name have results of their own."""
import terra

x = terra.tensor([5, 3, 5, 4, 9])
for _ in range(3):
    values, inverse = terra.unique(x, return_inverse=True)
    assert values.tolist() == [3, 4, 5, 9] and inverse.tolist() == [2, 0, 2, 1, 3]
    values, inverse, counts = terra.unique(x, return_inverse=True, return_counts=True)
    assert inverse.tolist() == [2, 0, 2, 1, 3] and counts.tolist() == [1, 1, 2, 1]
    values, counts = terra.unique(x, return_counts=True)
    assert counts.tolist() == [1, 1, 2, 1]
assert terra.unique(x, return_inverse=True)[1].tolist() == [2, 0, 2, 1, 3]
assert terra.unique(x, return_counts=True)[1].tolist() == [1, 1, 2, 1]
