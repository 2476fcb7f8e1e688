"""Workers of a loader: each has random numbers and a copy of the dataset of its own.

They take turns in the program's own process and thread, when a batch is asked for: what they give, and what the program's own
random numbers are afterwards, is what processes would give; the work is not overlapped. A copy is as deep as `copy.copy`."""

import collections
import copy
import dataclasses
import itertools
import random
import sys

import _terra_C as C

from ..._utils import ExceptionWrapper
from .fetchers import fetcher_of


@dataclasses.dataclass(frozen=True)
class WorkerInfo:
    """What a dataset can ask about the worker that reads it."""

    id: int
    num_workers: int
    seed: int
    dataset: object
    rng: object = None
    worker_method: str = "multiprocessing"


_present = []  # the worker that works


def get_worker_info():
    """The WorkerInfo of the worker that works; None where there is none."""
    return _present[-1].info if _present else None


def _generate_state(base_seed, worker_id):
    """Four numbers of 32 bits that numpy's generator of a worker begins with."""
    import numpy

    words = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    return numpy.random.SeedSequence(words).generate_state(4).tolist()


class _Streams:
    """The random states of torch, of `random` and, where a program uses it, of numpy."""

    def __init__(self, base_seed, worker):
        keep = self.here()
        C.default_generator.manual_seed(base_seed + worker)
        random.seed(base_seed + worker)
        if numpy := sys.modules.get("numpy"):
            numpy.random.seed(_generate_state(base_seed, worker))
        self.states = self.here()
        self.go(keep)

    @staticmethod
    def here():
        numpy = sys.modules.get("numpy")
        return C.default_generator.clone_state(), random.getstate(), numpy and numpy.random.get_state()

    @staticmethod
    def go(states):
        C.default_generator._go_to(states[0])
        random.setstate(states[1])
        if states[2]:
            sys.modules["numpy"].random.set_state(states[2])


class Worker:
    """Its copy of the dataset, and what fetches from it."""

    def __init__(self, loader, base_seed, index):
        self._streams = _Streams(base_seed, index)
        self._loader = loader
        self._fetcher = None
        self._started = False
        self.info = WorkerInfo(index, loader.num_workers, base_seed + index, _copied(loader.dataset))

    def __enter__(self):
        self._outside = _Streams.here()
        _Streams.go(self._streams.states)
        _present.append(self)

    def __exit__(self, *exception):
        _present.pop()
        self._streams.states = _Streams.here()
        _Streams.go(self._outside)
        return False

    def rewind(self):
        """A dataset that is iterated over begins again."""
        self._fetcher = None

    def fetch(self, indices):
        with self:
            if not self._started:
                self._started = True
                if self._loader.worker_init_fn is not None:
                    self._loader.worker_init_fn(self.info.id)
            if self._fetcher is None:
                self._fetcher = fetcher_of(self._loader, self.info.dataset)
            return self._fetcher.fetch(indices)


def _copied(dataset):
    try:
        return copy.copy(dataset)
    except Exception:
        return dataset


class BatchIterator:
    """What iterating over a loader gives."""

    def __init__(self, loader):
        self._indices = iter(loader._index_sampler)
        self._length = loader.__len__

    def __iter__(self):
        return self

    def __len__(self):
        return self._length()


class WorkersIterator(BatchIterator):
    """Batches that the workers make in turn. Indices are drawn as far ahead as workers would have them in their queues."""

    def __init__(self, loader, workers):
        super().__init__(loader)
        self._workers = workers
        self._turns = itertools.cycle(range(len(workers)))
        self._going = [True] * len(workers)  # those that have not come to the end of an iterable dataset
        self._iterable = loader._iterable
        self._queue = collections.deque()
        for worker in workers:
            worker.rewind()
        for _ in range(loader.prefetch_factor * len(workers)):
            self._send()

    def _send(self):
        """Gives the next indices to the next worker."""
        if not any(self._going):
            return
        for indices in self._indices:
            worker = next(index for index in self._turns if self._going[index])
            self._queue.append((worker, indices))
            return

    def __next__(self):
        while self._queue:
            worker, indices = self._queue.popleft()
            if not self._going[worker]:
                continue
            failure = None
            try:
                batch = self._workers[worker].fetch(indices)
            except StopIteration:
                if not self._iterable:
                    raise
                self._going[worker] = False
                self._send()
                continue
            except Exception:
                failure = ExceptionWrapper(where=f"in DataLoader worker process {worker}")
            self._send()
            if failure is not None:
                failure.reraise()
            return batch
        raise StopIteration
