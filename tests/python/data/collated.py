# run: --torch
# run: --torch --capture=off
"""Batches of types that a program adds, and the functions that collate the known ones."""

import pathlib
import sys

import torch
from torch.utils.data import DataLoader, default_collate
from torch.utils.data._utils.collate import (
    collate, collate_float_fn, collate_int_fn, collate_str_fn, collate_tensor_fn, default_collate_fn_map,
)  # fmt: skip

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402


class Word:
    def __init__(self, letters):
        self.letters = letters


class LongWord(Word):
    pass


def lengths(batch, *, collate_fn_map=None):
    return torch.tensor([len(word.letters) for word in batch])


items = []
items.append(("known", sorted(getattr(kind, "__name__", str(kind)) for kind in default_collate_fn_map if isinstance(kind, type) and kind.__module__ == "builtins")))
default_collate_fn_map[Word] = lengths
words = [Word("a"), LongWord("abc"), Word("ab")]
items.append(("own", default_collate(words)))
items.append(("inside", str(default_collate([{"w": (word, 1.5)} for word in words]))))
items.append(("loaded", list(DataLoader(words, batch_size=2))))
both = {torch.Tensor: lambda batch, *, collate_fn_map=None: sum(batch), int: collate_int_fn}
items.append(("a map", collate([(torch.ones(2), 1), (torch.ones(2), 2)], collate_fn_map=both)))
items.append(("one by one", [collate_tensor_fn([torch.ones(1)] * 2), collate_float_fn([1.0, 2.0]), collate_int_fn([1, 2]), collate_str_fn(["a", "b"])]))
for batch in ([object()], [1, 2]):
    try:
        collate(batch, collate_fn_map={str: collate_str_fn})
    except TypeError as error:
        items.append(("refused", str(error)))

check(items, __file__)
