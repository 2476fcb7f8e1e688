"""DataLoader: batches of a dataset.

Batches are made in the program's own process and thread, also with num_workers > 0: the order and the random numbers are
the same, the work is not overlapped. worker_init_fn and get_worker_info belong to worker processes and see none."""

from .collate import default_collate, default_convert
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, SequentialSampler, draw_seed


class _Endless:
    """The sampler of an iterable dataset: the dataset decides when it ends."""

    def __iter__(self):
        while True:
            yield None


def get_worker_info():
    """None: there are no worker processes."""
    return None


class DataLoader:
    def __init__(
        self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0, collate_fn=None,
        pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None, multiprocessing_context=None, generator=None,
        *, prefetch_factor=None, persistent_workers=False, pin_memory_device="", in_order=True,
    ):  # fmt: skip
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError(
                "prefetch_factor option could only be specified in multiprocessing."
                "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
            )
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = prefetch_factor
        self.pin_memory = pin_memory
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.generator = generator
        self.persistent_workers = persistent_workers
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
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
        n = len(self.dataset)
        if self.batch_size is None:
            return n
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)

    def __iter__(self):
        draw_seed(self.generator)  # the seed that worker processes would get: drawn whether or not there are any
        return _ListIterator(self) if not self._iterable else _StreamIterator(self)

    def check_worker_number_rationality(self):
        """Nothing to check: there are no worker processes."""


class _ListIterator:
    """Batches of a dataset that is indexed."""

    def __init__(self, loader):
        self._dataset = loader.dataset
        self._collate = loader.collate_fn
        self._batched = loader.batch_sampler is not None
        self._indices = iter(loader.batch_sampler if self._batched else loader.sampler)
        self._length = loader.__len__

    def __iter__(self):
        return self

    def __len__(self):
        return self._length()

    def __next__(self):
        index = next(self._indices)
        dataset = self._dataset
        if not self._batched:
            return self._collate(dataset[index])
        if hasattr(dataset, "__getitems__") and dataset.__getitems__:
            return self._collate(dataset.__getitems__(index))
        return self._collate([dataset[i] for i in index])


class _StreamIterator:
    """Batches of a dataset that is iterated over."""

    def __init__(self, loader):
        self._examples = iter(loader.dataset)
        self._collate = loader.collate_fn
        self._batch_size = loader.batch_size
        self._drop_last = loader.drop_last
        self._ended = False
        self._length = loader.__len__

    def __iter__(self):
        return self

    def __len__(self):
        return self._length()

    def __next__(self):
        if self._batch_size is None:
            return self._collate(next(self._examples))
        if self._ended:
            raise StopIteration
        batch = []
        for example in self._examples:
            batch.append(example)
            if len(batch) == self._batch_size:
                return self._collate(batch)
        self._ended = True
        if not batch or self._drop_last:
            raise StopIteration
        return self._collate(batch)
