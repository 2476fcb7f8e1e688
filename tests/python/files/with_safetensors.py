# run: --torch
"""The package safetensors, where it is installed, reads and writes our tensors."""

import os
import tempfile

import torch

try:
    from safetensors import safe_open
    from safetensors.torch import load, load_file, load_model, save, save_file, save_model
except ImportError:
    print("0 passed")
    raise SystemExit from None

names = ("float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "uint16", "uint32", "uint64")
tensors = {name: torch.arange(6).reshape(2, 3).to(getattr(torch, name)) for name in names}
tensors |= {"empty": torch.empty(0, 3), "number": torch.tensor(2.5)}


def same(read):
    assert read.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert read[name].dtype == tensor.dtype and torch.equal(read[name], tensor), name


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "tensors.safetensors")
    save_file(tensors, path, metadata={"format": "pt"})
    same(load_file(path))
    same(load_file(path, device="cpu"))
    same(load(save(tensors)))
    with safe_open(path, framework="pt", device="cpu") as file:
        assert set(file.keys()) == tensors.keys() and file.metadata() == {"format": "pt"}
        part = file.get_slice("float32")
        assert part.get_shape() == [2, 3] and part[:1, 1:].tolist() == [[1.0, 2.0]]
        assert torch.equal(file.get_tensor("bfloat16"), tensors["bfloat16"])
    model, other = (torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4)) for _ in range(2))
    save_model(model, path)
    assert load_model(other, path) == (set(), []) and torch.equal(model[0].weight, other[0].weight)
    shared = torch.arange(12.0)
    for wrong, kind in (({"a": shared, "b": shared[2:]}, RuntimeError), ({"a": shared.view(3, 4).t()}, ValueError)):
        try:
            save_file(wrong, path)
        except kind:
            continue
        raise AssertionError("tensors that share memory or are not contiguous were written")
print("5 passed")
