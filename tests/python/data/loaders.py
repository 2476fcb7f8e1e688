# run: --torch
"""Batches and their order: loaders, samplers and splits give PyTorch's for the same seeds."""

import collections
import pathlib
import sys

import torch
from torch.utils import data

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

Pair = collections.namedtuple("Pair", "a b")


class Examples(data.Dataset):
    def __init__(self, n, make):
        self.n, self.make = n, make

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return self.make(i)


class Stream(data.IterableDataset):
    def __iter__(self):
        return iter(range(7))


def plain(value):
    """Batches as text with types."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {plain(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return type(value).__name__ + "(" + ", ".join(map(plain, value)) + ")"
    return f"{value.dtype} {value.tolist()}" if isinstance(value, torch.Tensor) else repr(value)


MAKERS = (
    lambda i: (torch.tensor([i, 1.0]), i), lambda i: {"a": i, "b": float(i), "s": str(i)}, lambda i: Pair(i, [i, 2]),
    lambda i: 3.5 * i,
)  # fmt: skip
OPTIONS = (
    {"batch_size": 3}, {"batch_size": 4, "shuffle": True}, {"batch_size": 4, "shuffle": True, "drop_last": True},
    {"batch_size": None},
)  # fmt: skip


def walk():
    for m, make in enumerate(MAKERS):
        for options in OPTIONS:
            torch.manual_seed(5)
            loader = data.DataLoader(Examples(10, make), **options)
            yield f"loader {m} {options}", [len(loader), plain(list(loader)), plain(list(loader)), torch.rand(2)]
    generator = torch.Generator().manual_seed(9)
    loader = data.DataLoader(Examples(9, MAKERS[3]), batch_size=2, shuffle=True, generator=generator)
    yield "own generator", [plain(list(loader)), plain(list(loader))]
    yield "stream", plain(list(data.DataLoader(Stream(), batch_size=3)))
    for kind, args in (
        (data.RandomSampler, (range(10), True, 70)), (data.RandomSampler, (range(10), False, 25)),
        (data.SubsetRandomSampler, ([3, 4, 7],)), (data.WeightedRandomSampler, ([0.1, 0.5, 0.4], 20)),
        (data.SequentialSampler, (range(4),)),
    ):  # fmt: skip
        torch.manual_seed(3)
        yield f"{kind.__name__} {args[1:]}", [list(kind(*args)), torch.rand(1)]
    for lengths in ([3, 7], [0.3, 0.3, 0.4]):
        torch.manual_seed(3)
        yield f"random_split {lengths}", [list(part) for part in data.random_split(list(range(10)), lengths)]
    yield "batches", list(data.BatchSampler(range(7), 3, False))
    both = data.ConcatDataset([[1, 2], [3]])
    yield "concat", [len(both), both[2], both[-1]]
    tensors = data.TensorDataset(torch.arange(4), torch.arange(4.0))
    yield "tensors", [plain(tensors[1]), plain(data.Subset(tensors, [3, 1])[0])]
    loader = data.DataLoader([1, 2, 3], batch_size=2)
    for name in ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers", "timeout", "own"):
        try:
            setattr(loader, name, 0)
            yield f"set {name}", getattr(loader, name)
        except ValueError as error:
            yield f"set {name}", str(error)


check(list(walk()), __file__)
