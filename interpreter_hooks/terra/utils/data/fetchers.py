"""How examples are read and put together: of a dataset that is indexed, or of one that is iterated over."""

from .dataset import examples_of


class _IndexedFetcher:
    def __init__(self, loader, dataset):
        self._dataset = dataset
        self._collate = loader.collate_fn
        self._batched = loader.batch_sampler is not None

    def fetch(self, index):
        dataset = self._dataset
        if not self._batched:
            return self._collate(dataset[index])
        return self._collate(examples_of(dataset, index))


class _StreamFetcher:
    """The dataset decides which examples come, and when they end: StopIteration."""

    def __init__(self, loader, dataset):
        self._examples = iter(dataset)
        self._collate = loader.collate_fn
        self._batch_size = loader.batch_size
        self._drop_last = loader.drop_last
        self._ended = False

    def fetch(self, _):
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


def fetcher_of(loader, dataset):
    return (_StreamFetcher if loader._iterable else _IndexedFetcher)(loader, dataset)
