# run: --torch
# timeout: 240
"""Saved files: what comes back, what is shared, what is refused, and that no damaged file does anything but raise."""

import io
import os
import pathlib
import pickle
import random
import tempfile
import zipfile
from collections import OrderedDict

import torch
from torch import nn
from torch.serialization import add_safe_globals, clear_safe_globals, safe_globals


def round_trip(value, **options):
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file, **options)


def same(a, b):
    if isinstance(a, torch.Tensor):
        assert type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape, (a, b)
        assert a.stride() == b.stride() and a.requires_grad == b.requires_grad and torch.equal(a, b), (a, b)
    elif isinstance(a, dict):
        assert type(a) is type(b) and list(a) == list(b), (a, b)
        assert getattr(a, "_metadata", None) == getattr(b, "_metadata", None)
        [same(a[key], b[key]) for key in a]
    elif isinstance(a, (list, tuple)):
        assert type(a) is type(b) and len(a) == len(b), (a, b)
        [same(x, y) for x, y in zip(a, b)]
    else:
        assert type(a) is type(b) and a == b, (a, b)


base = torch.arange(12.0)
VALUE = {
    "plain": [1, 2.5, None, True, "text", (1,), 2**40, -5, 300, 70000, b"bytes".decode(), {3, 4}],
    "floats": [torch.ones(2, 3), torch.ones(2).half(), torch.ones(2).bfloat16(), torch.ones(2).double()],
    "integers": [torch.tensor([1, 2], dtype=d) for d in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)],
    "unsigned": [torch.tensor([1, 2**16 - 1]).to(d) for d in (torch.uint16, torch.uint32, torch.uint64)], "bits": torch.uint64,
    "bool": torch.tensor([True, False]), "number": torch.tensor(3.5), "empty": torch.empty(0, 3),
    "view": base[2:6], "transposed": base.view(3, 4).t(), "parameter": nn.Parameter(torch.ones(2)),
    "grad": torch.ones(2, requires_grad=True), "dtype": torch.float32, "size": torch.Size([2, 3]),
    "device": torch.device("cpu"), "ordered": OrderedDict(a=1), "unicode": "späß " * 100,
}  # fmt: skip

same(VALUE, round_trip(VALUE))
same(VALUE, round_trip(VALUE, weights_only=False))
model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
same(model.state_dict(), round_trip(model.state_dict()))
opt = torch.optim.Adam(model.parameters())
model(torch.randn(5, 3)).sum().backward()
opt.step()
same(opt.state_dict(), round_trip(opt.state_dict()))

# Tensors that shared memory share it again; others do not.
shared = round_trip({"part": base[2:6], "all": base, "copy": base.clone()})
shared["part"][0] = 99.0
assert shared["all"][2] == 99.0 and shared["copy"][2] == 2.0

# A whole module needs the reader's trust, or its types on the list.
try:
    round_trip(model)
    raise SystemExit("a module was read with weights_only=True")
except pickle.UnpicklingError as error:
    assert "torch.nn.modules.container.Sequential" in str(error), error
whole = round_trip(model, weights_only=False)
assert torch.equal(whole[0].weight, model[0].weight) and repr(whole) == repr(model)
with safe_globals([OrderedDict, pathlib.PurePosixPath]):
    assert round_trip(pathlib.PurePosixPath("a/b")) == pathlib.PurePosixPath("a/b")


class Evil:
    def __reduce__(self):
        return os.mkdir, (os.path.join(tempfile.gettempdir(), "terra-evil"),)


file = io.BytesIO()
torch.save(Evil(), file)
file.seek(0)
try:
    torch.load(file)
    raise SystemExit("code from a file was run")
except pickle.UnpicklingError as error:
    assert "mkdir" in str(error), error
assert not os.path.exists(os.path.join(tempfile.gettempdir(), "terra-evil"))
add_safe_globals([Evil])
clear_safe_globals()

# Paths, and the layout of the archive.
with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "model.pt"
    torch.save(VALUE, path)
    same(VALUE, torch.load(str(path), map_location="cpu"))
    with zipfile.ZipFile(path) as archive, open(path, "rb") as raw:
        assert archive.read("model/version") == b"3\n" and archive.read("model/byteorder") == b"little"
        for info in archive.infolist():
            raw.seek(info.header_offset)
            header = raw.read(30)
            start = info.header_offset + 30 + sum(int.from_bytes(header[i : i + 2], "little") for i in (26, 28))
            assert start % 64 == 0 and info.compress_type == zipfile.ZIP_STORED, info
    try:
        torch.load(os.path.join(folder, "missing.pt"))
        raise SystemExit("a missing file was read")
    except FileNotFoundError:
        pass

# Damaged archives, and damaged pickles in intact archives.
ALLOWED = (RuntimeError, pickle.UnpicklingError, EOFError, KeyError)
file = io.BytesIO()
torch.save(VALUE, file)
intact = file.getvalue()
entries = {info.filename: zipfile.ZipFile(file).read(info) for info in zipfile.ZipFile(file).infolist()}
random.seed(1)


def damaged_archive():
    data = bytearray(intact)
    for _ in range(random.randint(1, 4)):
        data[random.randrange(len(data))] = random.randrange(256)
    return bytes(data[: random.randrange(len(data))] if random.random() < 0.2 else data)


def damaged_pickle():
    data = bytearray(entries["archive/data.pkl"])
    for _ in range(random.randint(1, 6)):
        data[random.randrange(len(data))] = random.randrange(256)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, bytes(data) if name.endswith("data.pkl") else content)
    return made.getvalue()


for make in (damaged_archive, damaged_pickle):
    for _ in range(600):
        data = make()
        try:
            torch.load(io.BytesIO(data))
        except ALLOWED:
            pass
print("12 passed")
