"""What an index makes of its slices: the whole of a dimension is none, and alone it is a view of all."""
import terra

x = terra.arange(12.0).reshape(3, 4).requires_grad_()
y = x * 1


def nodes(t):
    names, node = [], t.grad_fn
    while node is not None and "Mul" not in type(node).__name__:
        names.append(type(node).__name__)
        node = node.next_functions[0][0]
    return names


assert nodes(y[:, 1]) == ["SelectBackward0"], nodes(y[:, 1])
assert nodes(y[:, 1:]) == ["SliceBackward0"], nodes(y[:, 1:])
assert nodes(y[1:, 1]) == ["SelectBackward0", "SliceBackward0"], nodes(y[1:, 1])
assert nodes(y[:, terra.tensor([0, 2])]) == ["IndexBackward0"], nodes(y[:, terra.tensor([0, 2])])
assert nodes(y[:]) == ["SliceBackward0"], nodes(y[:])
for whole in (y[:], y[:, :], y[...]):
    assert whole is not y and whole.data_ptr() == y.data_ptr() and whole.shape == y.shape and whole._base is y

z = terra.zeros(3, 4)
z[:, 2] = 5.0
z[:] += 1
z[:, :] *= 2
assert z.tolist() == [[2.0, 2.0, 12.0, 2.0]] * 3, z
