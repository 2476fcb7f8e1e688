"""DataLoader: batches of a dataset.

Batches are made in the program's own process and thread, also with num_workers > 0: `workers.py` says what workers are."""

import os
import typing
import warnings

from .collate import default_collate, default_convert
from .dataset import IterableDataset
from .fetchers import fetcher_of
from .sampler import BatchSampler, RandomSampler, SequentialSampler, draw_seed
from .workers import BatchIterator, Worker, WorkersIterator


class _Endless:
    """The sampler of an iterable dataset: the dataset decides when it ends."""

    def __iter__(self):
        while True:
            yield None


# What an iterator relies on: set by the constructor alone.
_FIXED = frozenset(("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"))


class DataLoader:
    _initialized = False

    def __init__(
        self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0, collate_fn=None,
        pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None, multiprocessing_context=None, generator=None,
        *, prefetch_factor=None, persistent_workers=False, pin_memory_device="", in_order=True,
    ):  # fmt: skip
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        cores = len(os.sched_getaffinity(0))
        if num_workers > cores:
            warnings.warn(
                f"This DataLoader will create {num_workers} worker processes in total. Our suggested max number of worker in "
                f"current system is {cores}, which is smaller than what this DataLoader is going to create. Please be aware "
                "that excessive worker creation might get DataLoader running slow or even freeze, lower the worker number to "
                "avoid potential slowness/freeze if necessary.",
                stacklevel=2,
            )
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError(
                "prefetch_factor option could only be specified in multiprocessing."
                "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
            )
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self.multiprocessing_context, self.in_order = multiprocessing_context, in_order
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.generator = generator
        self.persistent_workers = persistent_workers
        self._workers = None  # those that stay, of persistent_workers
        self._iterable = isinstance(dataset, IterableDataset)
        if self._iterable:
            self._check_iterable(shuffle, sampler, batch_sampler)
        shuffle = bool(shuffle)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            if self._iterable:
                sampler = _Endless()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)
        self._initialized = True

    def __setattr__(self, name, value):
        if self._initialized and name in _FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @staticmethod
    def _check_iterable(shuffle, sampler, batch_sampler):
        if shuffle not in (False, None):
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle={shuffle}"
            )
        for name, value in (("sampler", sampler), ("batch_sampler", batch_sampler)):
            if value is not None:
                raise ValueError(
                    f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
                )

    def __len__(self):
        if not self._iterable:
            return len(self._index_sampler)
        n = len(self.dataset)
        if self.batch_size is None:
            return n
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)

    @property
    def _index_sampler(self):
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    @property
    def _dataset_kind(self):
        return _DatasetKind.Iterable if self._iterable else _DatasetKind.Map

    def __iter__(self):
        return self._get_iterator()

    def _get_iterator(self):
        workers = self._workers
        if workers is None:
            base_seed = draw_seed(self.generator)  # drawn whether or not there are workers that need it
            if self.num_workers == 0:
                return _Iterator(self)
            workers = [Worker(self, base_seed, i) for i in range(self.num_workers)]
            if self.persistent_workers:
                self._workers = workers
        return WorkersIterator(self, workers)

    def check_worker_number_rationality(self):
        """Nothing to check: workers take turns on one processor."""


class _Iterator(BatchIterator):
    """Batches that are made where they are asked for."""

    def __init__(self, loader):
        self._fetcher = fetcher_of(loader, loader.dataset)
        super().__init__(loader)

    def __next__(self):
        return self._fetcher.fetch(next(self._indices))


class _DatasetKind:
    """Whether a dataset is indexed or iterated over."""

    Map, Iterable = 0, 1


# By these names libraries that wrap loaders use the iterators.
_BaseDataLoaderIter, _SingleProcessDataLoaderIter, _MultiProcessingDataLoaderIter = BatchIterator, _Iterator, WorkersIterator
_InfiniteConstantSampler = _Endless
_collate_fn_t = typing.Callable[[typing.List[typing.Any]], typing.Any]
