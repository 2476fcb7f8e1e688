"""From and to Python, dtypes, copies and pickles."""
import copy
import io
import pickle

import terra
from _raises import raises

for data, dtype, shape in [
    (1, terra.int64, ()), (2.5, terra.float32, ()), (True, terra.bool, ()), ([1, 2.5], terra.float32, (2,)),
    ([True, 2], terra.int64, (2,)), ([[1, 2], [3, 4]], terra.int64, (2, 2)), ([], terra.float32, (0,)),
    ((1, 2), terra.int64, (2,)), (range(3), terra.int64, (3,)), (2**40, terra.int64, ()), ([terra.tensor(1.5), 2], terra.float32, (2,)),
]:  # fmt: skip
    t = terra.tensor(data)
    assert t.dtype == dtype and t.shape == shape, (data, t.dtype, t.shape)
raises(ValueError, "expected sequence of length 2 at dim 1 (got 1)", lambda: terra.tensor([[1, 2], [3]]))
raises(RuntimeError, "Could not infer dtype of object", lambda: terra.tensor([object()]))
raises(RuntimeError, "a Tensor with 2 elements cannot be converted to Scalar", lambda: terra.ones(2).item())
raises(RuntimeError, "Boolean value of Tensor with more than one value is ambiguous", lambda: bool(terra.ones(2)))
raises(TypeError, "only integer tensors of a single element can be converted to an index", lambda: [1][terra.tensor(0.5)])

x = terra.tensor([1.7, -2.7])
assert x.int().tolist() == [1, -2] and x.long().dtype == terra.int64 and x.double().dtype == terra.float64
assert x.to(terra.float32) is x and x.float() is x and x.to("cpu") is x
assert x.to(terra.float32, copy=True) is not x
assert x.type() == "torch.FloatTensor" and x.type("torch.LongTensor").tolist() == [1, -2]
assert x.to(terra.ones(1, dtype=terra.int32)).dtype == terra.int32
raises(RuntimeError, "There is no device 'cuda' here", lambda: x.to("cuda"))
raises(AssertionError, "not compiled with CUDA", x.cuda)
assert int(terra.tensor(3)) == 3 and float(terra.tensor(3)) == 3.0 and [1, 2, 3][terra.tensor(1)] == 2
assert complex(terra.tensor(1.5)) == 1.5

p = terra.nn.Parameter(terra.ones(2))
p.note = [1]
q = copy.deepcopy(p)
assert type(q) is terra.nn.Parameter and q.requires_grad and q.note == [1] and q.note is not p.note
base = terra.arange(6.0)
pair = copy.deepcopy([base, base[2:4]])
pair[0][2] = 50
assert pair[1].tolist() == [50, 3] and base[2] == 2, "views stay views of one storage"
for protocol in range(2, 6):
    r = pickle.loads(pickle.dumps(p, protocol))
    assert type(r) is terra.nn.Parameter and r.tolist() == [1, 1] and r.requires_grad and r.note == [1]
assert pickle.loads(pickle.dumps(terra.float32)) is terra.float32
assert pickle.loads(pickle.dumps(terra.Size([2]))) == terra.Size([2])
assert pickle.loads(pickle.dumps(terra.device("cpu"))) == terra.device("cpu")
assert pickle.loads(pickle.dumps(terra.relu)) is terra.relu

try:
    import numpy as np
except ImportError:
    np = None
if np is not None:
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    t = terra.from_numpy(a)
    a[0, 0] = 9
    assert t[0, 0] == 9 and t.dtype == terra.float32 and t.shape == (2, 3)
    t[1, 2] = -1
    assert a[1, 2] == -1
    n = terra.ones(2, 2).t().numpy()
    assert n.shape == (2, 2) and n.dtype == np.float32
    assert terra.tensor(np.float64(1)).dtype == terra.float64 and terra.tensor(np.int16(1)).dtype == terra.int16
    assert terra.from_numpy(a.T).stride() == (1, 3)
    raises(ValueError, "strides in the given numpy array" if False else "stride", lambda: terra.from_numpy(a[::-1]))
    raises(TypeError, "can't convert np.ndarray", lambda: terra.from_numpy(np.array(["x"])))
    raises(TypeError, "expected np.ndarray (got list)", lambda: terra.from_numpy([1]))
    raises(RuntimeError, "Can't call numpy() on Tensor that requires grad", lambda: p.numpy())
    assert np.asarray(terra.ones(3)).sum() == 3
    kept = terra.ones(1000).numpy()
    assert kept.sum() == 1000
    assert (terra.ones(2) * np.float32(3)).dtype == terra.float32
    parent = terra.ones(10_000_000)
    kept = parent.numpy()
    parent.data = terra.zeros(3)  # the array keeps the memory that it shows
    others = [terra.full((10_000_000,), 7.0) for _ in range(3)]
    assert kept[:: 1 << 16].sum() == len(kept[:: 1 << 16])
    for fixed in (lambda: terra.from_numpy(np.zeros((2, 2), np.float32)), lambda: (t := terra.zeros(2, 2), t.numpy())[0]):
        raises(RuntimeError, "not resizable", lambda: terra.add(terra.ones(3, 3), 1, out=fixed()))
        raises(RuntimeError, "not resizable", lambda: fixed().resize_(3, 3))
    shown = np.zeros((2, 2), np.float32)
    assert terra.add(terra.ones(3), 1, out=terra.from_numpy(shown)).tolist() == [2, 2, 2]
    assert shown.tolist() == [[2, 2], [2, 0]]
