# run: --torch
"""Loaders with workers: batches, their order and all random numbers are those of worker processes."""

import pathlib
import random
import sys

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

items = []


class Noisy(Dataset):
    """Draws in every example, and counts what it was asked for."""

    asked = 0

    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        self.asked += 1
        info = get_worker_info()
        who = (-1, 0) if info is None else (info.id, info.num_workers)
        return i, torch.rand(2) + i, random.random(), torch.tensor([*who, self.asked])


class Range(IterableDataset):
    def __init__(self, start, end, divide):
        self.start, self.end, self.divide = start, end, divide

    def __iter__(self):
        info = get_worker_info()
        if info is not None and self.divide:
            return iter(range(self.start + info.id, self.end, info.num_workers))
        return iter(range(self.start, self.end))


def shift(worker):
    info = get_worker_info()
    info.dataset.start += 100 * worker
    torch.rand(worker + 1)


def seeded():
    torch.manual_seed(3)
    random.seed(4)


for options in (
    {"num_workers": 3, "shuffle": True}, {"num_workers": 2, "persistent_workers": True},
    {"num_workers": 1, "batch_size": None, "generator": torch.Generator().manual_seed(8)}, {"num_workers": 0},
):  # fmt: skip
    seeded()
    loader = DataLoader(Noisy(11), **{"batch_size": 2, **options})
    name = str({key: value for key, value in options.items() if key != "generator"})
    items.append((name, [list(loader), loader.dataset.asked > 0, list(loader), len(loader), torch.rand(2), random.random()]))

for options in ({"batch_size": 2}, {"batch_size": 3, "drop_last": True}, {"batch_size": None}):
    for end, divide in ((11, True), (2, True), (4, False)):
        loader = DataLoader(Range(0, end, divide), num_workers=3, **options)
        items.append((f"{options} {end} {divide}", list(loader)))
loader = DataLoader(Range(0, 5, False), batch_size=2, num_workers=2, worker_init_fn=shift, persistent_workers=True)
items.append(("initialized", [list(loader), list(loader), loader.dataset.start, get_worker_info()]))


class Failing(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, i):
        if i == 2:
            raise KeyError("two")
        return i


batches = iter(DataLoader(Failing(), num_workers=2))
got = []
for _ in range(7):
    try:
        got.append(next(batches))
    except (KeyError, StopIteration) as error:
        got.append(type(error).__name__)
items.append(("fails", got))
seeds = []
seeded()
for batch in DataLoader([0, 1, 2], num_workers=3, collate_fn=lambda examples: (get_worker_info().seed, get_worker_info().id)):
    seeds.append(batch)
items.append(("seeds", seeds))
check(items, __file__)
