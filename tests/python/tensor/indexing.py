"""x[...] and x[...] = v for every kind of index, against nested lists."""
import terra
from _raises import raises

x = terra.arange(24).reshape(2, 3, 4)
rows = x.tolist()


def same(tensor, value):
    assert tensor.tolist() == value, (tensor.tolist(), value)

same(x[1], rows[1])
same(x[-1, 2], rows[-1][2])
same(x[0, 1, -1], rows[0][1][-1])
same(x[:, 1], [r[1] for r in rows])
same(x[..., 0], [[c[0] for c in r] for r in rows])
same(x[1, ..., 2], [c[2] for c in rows[1]])
same(x[:, ::2], [r[::2] for r in rows])
same(x[0, 1:], rows[0][1:])
same(x[0, :-1, 1:3], [c[1:3] for c in rows[0][:-1]])
assert x[None].shape == (1, 2, 3, 4)
assert x[:, None, :, None].shape == (2, 1, 3, 1, 4)
assert x[True].shape == (1, 2, 3, 4)
assert x[False].shape == (0, 2, 3, 4)
assert x[...].shape == x.shape and x[...] is not x
assert x[()].shape == x.shape

same(x[terra.tensor([1, 0, 1])], [rows[i] for i in (1, 0, 1)])
same(x[[1, 0]], [rows[1], rows[0]])
same(x[:, [0, 2]], [[r[0], r[2]] for r in rows])
same(x[[0, 1], [1, 2]], [rows[0][1], rows[1][2]])
same(x[x > 20], [21, 22, 23])
same(x[terra.tensor([True, False])], [rows[0]])
same(x[terra.tensor(1)], rows[1])
assert x[[]].shape == (0, 3, 4)
mask = terra.tensor([[True, False, True], [False, False, True]])
same(x[mask], [rows[0][0], rows[0][2], rows[1][2]])
same(x[mask, 1:3], [rows[0][0][1:3], rows[0][2][1:3], rows[1][2][1:3]])

y = terra.zeros(3, 4)
y[0] = 1
y[1, 2] = 5.0
y[2, 1:3] = terra.tensor([7.0, 8.0])
same(y, [[1, 1, 1, 1], [0, 0, 5, 0], [0, 7, 8, 0]])
y[y > 6] = -1
same(y, [[1, 1, 1, 1], [0, 0, 5, 0], [0, -1, -1, 0]])
y[[0, 2]] = terra.ones(2, 4) * 3
same(y[0], [3] * 4)
y[:, 0] += 1
same(y[:, 0], [4, 1, 4])
y[...] = 0
same(y.sum(), 0)
y[0] = terra.ones(1, 4)
same(y[0], [1] * 4)
z = y[1]
z[0] = 9
same(y[1, 0], 9)

raises(IndexError, "index 5 is out of bounds for dimension 0 with size 2", lambda: x[5])
raises(IndexError, "too many indices for tensor of dimension 3", lambda: x[0, 0, 0, 0])
raises(ValueError, "step must be greater than zero", lambda: x[::-1])
raises(IndexError, "tensors used as indices must be", lambda: x[terra.tensor([0.5])])
raises(TypeError, "invalid data type 'str'", lambda: x["a"])
raises(TypeError, "does not support deleting", lambda: x.__delitem__(0))
raises(TypeError, "iteration over a 0-d tensor", lambda: list(terra.tensor(1)))
raises(TypeError, "len() of a 0-d tensor", lambda: len(terra.tensor(1)))

assert len(x) == 2 and [r.shape for r in x] == [(3, 4)] * 2
assert 5 in x and 50 not in x

y = terra.arange(6.0).reshape(2, 3)  # one number for what a mask chooses is converted, others are not
y[terra.tensor([True, False])] = terra.tensor(7)
y[:, terra.tensor([False, True, False])] = terra.tensor([True])
same(y, [[7, 1, 7], [3, 1, 5]])
raises(RuntimeError, "dtypes match", lambda: y.__setitem__(terra.tensor([True, False]), terra.tensor([1, 2, 3])))
raises(RuntimeError, "dtypes match", lambda: y.__setitem__([0, 1], terra.tensor(7)))
