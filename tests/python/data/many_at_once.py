# run: --torch
"""Datasets that read many examples at once, below stacks and subsets; what becomes of errors in workers."""

import pathlib
import sys

import torch
from torch.utils.data import DataLoader, Dataset, StackDataset, Subset, TensorDataset, random_split

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

items = []


def note(*values):
    items.append((f"{len(items)}", [str(value) for value in values]))


class Table(Dataset):
    """Remembers what it was asked for, and in what way."""

    def __init__(self, n, short=0):
        self.n, self.short, self.asked = n, short, []

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        self.asked.append(i)
        return float(i)

    def __getitems__(self, indices):
        self.asked.append(list(indices))
        return [i + 0.5 for i in indices[self.short :]]


plain = TensorDataset(torch.arange(6) * 10)
for make in (
    lambda t: t,
    lambda t: Subset(t, [5, 3, 1, 0]),
    lambda t: Subset(Subset(t, [5, 3, 1, 0]), [2, 0]),
    lambda t: random_split(t, [4, 2], generator=torch.Generator().manual_seed(1))[0],
    lambda t: StackDataset(t, plain),
    lambda t: StackDataset(a=t, b=plain),
    lambda t: Subset(StackDataset(a=t, b=plain), [4, 2, 0]),
):
    table = Table(6)
    data = make(table)
    note(list(DataLoader(data, batch_size=2)), table.asked)
    note(data[1], table.asked[-1], data.__getitems__([1, 0]))


class Doubled(Subset):
    def __getitem__(self, i):
        return 2 * super().__getitem__(i)


class DoubledTogether(Doubled):
    def __getitems__(self, indices):
        return [self[i] for i in indices]


def outcome(run):
    try:
        return str(run())
    except Exception as error:
        return type(error).__name__, str(error)


note(outcome(lambda: Doubled(plain, [0])))
note(outcome(lambda: list(DoubledTogether(Table(6), [3, 4]))))
note(outcome(lambda: StackDataset(Table(6, short=1), plain).__getitems__([0, 1])))
note(outcome(lambda: StackDataset(a=Table(6, short=1), b=plain).__getitems__([0, 1])))


class OfTwo(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)


class Speaks(Exception):
    message = "has one"

    def __init__(self, message=""):
        super().__init__(f"said: {message}")


class Breaks(Dataset):
    def __init__(self, error):
        self.error = error

    def __len__(self):
        return 4

    def __getitem__(self, i):
        if i == 2:
            raise self.error
        return i


def bad_start(worker):
    raise KeyError("start")


for error in (ValueError("bad"), KeyError("key"), IndexError("far"), Speaks("a"), FileNotFoundError("f"), OfTwo("a", 2)):
    for options in ({}, {"num_workers": 2}):
        if isinstance(error, OfTwo) and options:
            continue  # a process could not send it
        seen = []
        try:
            for batch in DataLoader(Breaks(error), **options):
                seen.append(batch.item())
        except Exception as e:
            text = str(e)
            note(seen, type(e).__name__, text.splitlines()[0], "Traceback" in text, e.__context__ is None)
try:
    next(iter(DataLoader(Breaks(None), num_workers=1, worker_init_fn=bad_start)))
except Exception as e:
    note(type(e).__name__, str(e).splitlines()[0], "in bad_start" in str(e))

check(items, __file__)
