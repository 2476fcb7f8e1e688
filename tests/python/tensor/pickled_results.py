# run: --torch
# run: --torch --capture=off
"""The pickle of a tensor that was computed from others has no history: what comes back is a leaf that requires grad."""

import pathlib
import pickle
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, wave  # noqa: E402

leaf = wave(2, 2, 3).float().requires_grad_()
again = pickle.loads(pickle.dumps({"y": leaf * 2, "base": (leaf + 1)[0]}))
items = [("pickled", [again["y"], again["y"].requires_grad, again["y"].is_leaf, again["base"], again["base"].requires_grad])]
with torch.no_grad():
    items.append(("without gradients", pickle.loads(pickle.dumps(leaf * 2)).requires_grad))

check(items, __file__)
