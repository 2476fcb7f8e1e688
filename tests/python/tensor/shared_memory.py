# run: --torch
"""Memory seen from outside: DLPack both ways, storages as bytes and as elements; as PyTorch shows it."""

import gc
import pathlib
import sys
import warnings

import torch
import torch.utils.dlpack

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

warnings.simplefilter("ignore")
items = []


def add(name, value):
    items.append((name, value))


def refused(name, function):
    try:
        add(name, function())
    except Exception as error:
        add(name, f"{type(error).__name__}: {str(error).splitlines()[0]}")


x = torch.arange(6.0).reshape(2, 3)
y = torch.from_dlpack(x)
y[0, 0] = 9
add("shares", [x, y.data_ptr() == x.data_ptr(), y.dtype, y.stride()])
add(
    "strides",
    [torch.from_dlpack(x.t()).stride(), torch.from_dlpack(x[:, 1:]), torch.from_dlpack(x[1]).storage_offset()],
)
for dtype in (
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
):
    add(dtype, torch.from_dlpack(torch.ones(2, dtype=getattr(torch, dtype))))
add(
    "sizes",
    [torch.from_dlpack(torch.empty(0, 3)), torch.from_dlpack(torch.tensor(3)), torch.from_dlpack(torch.ones(1, 1, 2))],
)
add("device", [int(x.__dlpack_device__()[0]), x.__dlpack_device__()[1], x.__dlpack_device__()[0].name])
capsule = torch.to_dlpack(x)
add("capsule", [type(capsule).__name__, torch.utils.dlpack.from_dlpack(capsule)])
refused("capsule twice", lambda: torch.from_dlpack(capsule))
add("versioned", torch.from_dlpack(x.__dlpack__(max_version=(1, 0))))
add("copy", torch.from_dlpack(x, copy=True).data_ptr() == x.data_ptr())
refused("leaf", lambda: torch.ones(1, requires_grad=True).__dlpack__())
z = torch.from_dlpack(torch.arange(3))
gc.collect()
add("outlives its owner", z)
for _ in range(100):  # capsules that nobody takes let go of their tensors
    x.__dlpack__()

s = x.untyped_storage()
add("bytes", [s.nbytes(), len(s), s.size(), s.data_ptr() == x.data_ptr(), s.tolist(), s[3], s.device, s.element_size()])
add("of a view", [x[1:].untyped_storage().nbytes(), x.t().untyped_storage().data_ptr() == x.data_ptr()])
s.fill_(0)
add("filled", x)
s[3] = 64
add("written", x)
add("empty", torch.empty(0).untyped_storage().nbytes())
e = x[1:].storage()
add("elements", [len(e), e.size(), e[0], e.dtype, e.element_size(), e.tolist(), e.data_ptr() == x.data_ptr()])
e[5] = 7.0
add("element written", [x, torch.UntypedStorage(3).size()])

# ---- numbers that don't fit, results that are resized, indices of int32 --------------------------------------------
T = torch.tensor
for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.float16, torch.float32, torch.bool):
    for value in (300, -300, 70000, 2**40, 1e39, -1, -255, -256, float("inf")):
        refused(f"full {dtype} {value}", lambda: torch.full((1,), value, dtype=dtype))
        if dtype.is_floating_point or isinstance(value, int):
            refused(f"tensor {dtype} {value}", lambda: T([value], dtype=dtype))
refused("fill_", lambda: torch.zeros(1).fill_(1e39))
refused("masked_fill", lambda: torch.zeros(1, dtype=torch.uint8).masked_fill(T([True]), 300))


def put(key, value, dtype=torch.uint8):
    target = torch.zeros(1, dtype=dtype)
    target[key] = value
    return target


refused("item", lambda: put(0, 300))
refused("slice", lambda: put(slice(None), 300))
refused("float item", lambda: put(0, 1e39, torch.float32))
cube = torch.ones(2, 3, 4)
for key in ((1, 9), (slice(None), None, 9), (..., 9), (0, ..., 9), (None, 5), (0, 0, 9), (7,)):
    refused(f"index {key}", lambda: cube[key])
for value in (1, None, "a"):
    refused(f"requires_grad_ {value}", lambda: torch.ones(1).requires_grad_(value))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    out = torch.empty(5)
    torch.add(T([1.0, 2.0]), 1, out=out)
    add("out", [out, len(caught), str(caught[0].message)[:90]])
    torch.add(T([1.0, 2.0]), 1, out=(out := torch.empty(0)))
    add("empty out", [out, len(caught)])
short = T([1, 0], dtype=torch.int32)
leaf = T([1.0, 2.0], requires_grad=True)
add(
    "int32",
    [
        torch.gather(leaf, 0, short),
        torch.zeros(2).scatter(0, short, T([3.0, 4.0])),
        torch.zeros(2).scatter_add(0, short, T([3.0, 4.0])),
    ],
)
add("int32 gradient", torch.autograd.grad((torch.gather(leaf, 0, short) * T([1.0, 5.0])).sum(), leaf))
check(items, __file__)
