"""Samplers, collate functions, stacked, chained and split sets, buckets by length, resumed samplers, mixup, errors."""

import dataclasses
import math
import pickle
import random
from typing import NamedTuple
import numpy as np
import torch
from torch.utils.data import (
    DataLoader,
    Dataset,
    IterableDataset,
    TensorDataset,
    StackDataset,
    ChainDataset,
    ConcatDataset,
    Subset,
    Sampler,
    BatchSampler,
    RandomSampler,
    SequentialSampler,
    SubsetRandomSampler,
    random_split,
    default_collate,
    default_convert,
    get_worker_info,
)
from torch.utils.data._utils.collate import default_collate_fn_map, collate


class Pair(NamedTuple):
    a: torch.Tensor
    b: int


class Graph:
    def __init__(self, x, e):
        self.x, self.e = x, e

    def pin_memory(self):
        return self


class Bucket(Sampler[list[int]]):
    def __init__(self, lengths, size, generator=None):
        self.lengths, self.size, self.generator = lengths, size, generator

    def __iter__(self):
        order = sorted(range(len(self.lengths)), key=self.lengths.__getitem__)
        batches = [order[i : i + self.size] for i in range(0, len(order), self.size)]
        for k in torch.randperm(len(batches), generator=self.generator).tolist():
            yield batches[k]

    def __len__(self):
        return math.ceil(len(self.lengths) / self.size)


class Text(Dataset):
    def __init__(self):
        r = random.Random(0)
        self.items = [torch.arange(r.randint(2, 9)) for _ in range(13)]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i], i

    def __getitems__(self, idx):
        return [self[i] for i in idx]


def pad(batch):
    xs, ys = zip(*batch)
    return torch.nn.utils.rnn.pad_sequence(xs, batch_first=True, padding_value=-1), torch.tensor(ys)


class Resumable(Sampler):
    def __init__(self, n, seed):
        self.n, self.seed, self.pos = n, seed, 0

    def __len__(self):
        return self.n

    def __iter__(self):
        g = torch.Generator()
        g.manual_seed(self.seed)
        p = torch.randperm(self.n, generator=g).tolist()
        while self.pos < self.n:
            self.pos += 1
            yield p[self.pos - 1]
        self.pos = 0


@dataclasses.dataclass
class Sample:
    x: torch.Tensor
    n: int


def main():
    torch.manual_seed(0)
    t = Text()
    dl = DataLoader(
        t, batch_sampler=Bucket([len(x) for x in t.items], 4, torch.Generator().manual_seed(2)), collate_fn=pad
    )
    print(len(dl), [(x.shape, y.tolist()) for x, y in dl])
    s = StackDataset(a=TensorDataset(torch.arange(4)), b=torch.arange(4) * 2)
    print(len(s), s[1], next(iter(DataLoader(s, 2))))
    print(StackDataset(torch.arange(3), torch.ones(3))[2], s.__getitems__([0, 3]))
    c = ConcatDataset([TensorDataset(torch.arange(3)), TensorDataset(torch.arange(10, 12))])
    print(len(c), c[3], c[-1], c.cumulative_sizes)
    print(
        [len(x) for x in random_split(range(10), [0.5, 0.3, 0.2])],
        [len(x) for x in random_split(range(11), [0.5, 0.5])],
    )
    a, b = random_split(range(10), [7, 3], generator=torch.Generator().manual_seed(4))
    print(list(a), b.indices)
    print(
        list(SubsetRandomSampler([5, 6, 7], torch.Generator().manual_seed(1))),
        list(BatchSampler(SequentialSampler(range(7)), 3, False)),
        len(BatchSampler(range(7), 3, True)),
    )
    print(
        list(RandomSampler(range(4), replacement=True, num_samples=6, generator=torch.Generator().manual_seed(8))),
        list(RandomSampler(range(3), num_samples=7, generator=torch.Generator().manual_seed(8))),
    )
    r = Resumable(6, 3)
    it = iter(DataLoader(range(6), sampler=r, batch_size=1))
    first = [next(it).item() for _ in range(3)]
    print(first, [x.item() for x in DataLoader(range(6), sampler=r, batch_size=1)])
    items = [
        {
            "p": Pair(torch.ones(2), i),
            "s": f"n{i}",
            "f": 0.5 * i,
            "b": i % 2 == 0,
            "np": np.full(2, i),
            "l": [i, (i, "z")],
            "by": b"x",
        }
        for i in range(3)
    ]
    print(default_collate(items))
    print(
        default_collate([torch.tensor(1), torch.tensor(2)]),
        default_collate([np.int64(1), np.int64(2)]).dtype,
        default_collate([1.0, 2.0]).dtype,
        default_collate([True, False]),
        default_collate(["a", "b"]),
    )
    print(default_convert({"a": np.ones(2), "b": [1, np.float32(2)], "c": "s"}))
    for bad in ([Graph(1, 2)], [torch.ones(2), torch.ones(3)], [[1], [1, 2]], [None]):
        try:
            default_collate(bad)
        except (TypeError, RuntimeError) as e:
            print(type(e).__name__, str(e)[:110])
    m = dict(default_collate_fn_map)
    m[Graph] = lambda batch, *, collate_fn_map=None: Graph(torch.stack([g.x for g in batch]), len(batch))
    print(collate([Graph(torch.ones(1), 0), Graph(torch.zeros(1), 0)], collate_fn_map=m).x.shape)
    dl = DataLoader(
        [Sample(torch.ones(1), 1)] * 3,
        batch_size=2,
        collate_fn=lambda b: Sample(torch.stack([s.x for s in b]), sum(s.n for s in b)),
        pin_memory=False,
    )
    print(
        [s.n for s in dl],
        dl.batch_size,
        dl.drop_last,
        type(dl.sampler).__name__,
        dl.dataset is not None,
        type(dl.batch_sampler).__name__,
    )
    try:
        dl.batch_size = 5
    except ValueError as e:
        print(e)

    class Lines(IterableDataset):
        def __init__(self, n):
            self.n = n

        def __iter__(self):
            w = get_worker_info()
            yield from range(self.n) if w is None else range(w.id, self.n, w.num_workers)

        def __len__(self):
            return self.n

    print(
        [x.tolist() for x in DataLoader(Lines(5), 2)],
        len(DataLoader(Lines(5), 2)),
        [x.tolist() for x in DataLoader(ChainDataset([Lines(2), Lines(3)]), 3)],
        list(Lines(1) + Lines(2)),
    )
    print(
        [x.tolist() for x in DataLoader(Lines(7), 2, num_workers=2)],
        [x.tolist() for x in DataLoader(Lines(7), 2, num_workers=2, drop_last=True)],
    )
    x, y = torch.randn(8, 3), torch.randint(0, 3, (8,))
    for bx, by in DataLoader(TensorDataset(x, y), 4, shuffle=True, generator=torch.Generator().manual_seed(1)):
        lam = np.random.RandomState(0).beta(0.4, 0.4)
        j = torch.randperm(4, generator=torch.Generator().manual_seed(5))
        print(round((lam * bx + (1 - lam) * bx[j]).sum().item(), 4), by.tolist())
    try:
        TensorDataset(torch.ones(2), torch.ones(3))
    except AssertionError as e:
        print("AssertionError", e)
    try:
        DataLoader(t, batch_sampler=Bucket([1], 1), shuffle=True)
    except ValueError as e:
        print(e)
    try:
        DataLoader(t, sampler=SequentialSampler(t), shuffle=True)
    except ValueError as e:
        print(e)
    for g in (
        lambda: RandomSampler(t, num_samples=-1),
        lambda: random_split(range(4), [1, 1]),
        lambda: DataLoader(t, timeout=-1),
        lambda: BatchSampler(range(3), 0, False),
        lambda: next(iter(DataLoader([1], batch_size=None, drop_last=True))),
    ):
        try:
            g()
        except Exception as e:
            print(type(e).__name__, str(e)[:100])
    sub = Subset(t, [1, 3])
    print(len(sub), sub[0][1], pickle.loads(pickle.dumps(sub))[1][1])

    def bad_worker(i):
        raise KeyError("init")

    class Err(Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, i):
            raise KeyError(f"item {i}")

    for ds, kw in ((Err(), {}), (Err(), {"num_workers": 1}), (t, {"num_workers": 1, "worker_init_fn": bad_worker})):
        try:
            list(DataLoader(ds, **kw))
        except Exception as e:
            print(type(e).__name__, str(e).splitlines()[0][:80], "Traceback" in str(e))


if __name__ == "__main__":
    main()
