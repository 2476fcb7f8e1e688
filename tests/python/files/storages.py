# run: --torch
# run: --torch --capture=off
"""Storages in files: their bytes and elements, beside tensors that lie in them."""

import io
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

x = torch.arange(6.0).view(2, 3)
results = []


def again(value):
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file, weights_only=False)


elements = again(x.storage())
results.append(("elements", [type(elements).__name__, len(elements), elements.tolist(), elements.dtype]))
results.append(("bytes", [len(again(x.untyped_storage())), list(again(x.untyped_storage()))[:8]]))
found = again({"of": torch.tensor([1, 2, 3], dtype=torch.uint8).untyped_storage(), "x": x[1], "ints": torch.tensor([1, 2]).storage()})
results.append(("together", [found["of"].nbytes(), found["x"], found["ints"].tolist(), sorted(found)]))

check(results, __file__)
