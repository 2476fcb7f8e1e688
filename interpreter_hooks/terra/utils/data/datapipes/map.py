"""Steps of pipes whose elements have keys."""

import copy
import random

import _terra_C as C

from ...._names import lazily
from .datapipe import Concatenated, DataChunk, MapDataPipe, Zipped, functional_datapipe, name_as_pytorch
from .iter import IterDataPipe

__all__ = ["Batcher", "Concater", "Mapper", "SequenceWrapper", "Shuffler", "Zipper"]


class SequenceWrapper(MapDataPipe):
    """The elements of a list or a dict, of a copy of it if `deepcopy`."""

    def __init__(self, sequence, deepcopy=True):
        self.sequence = copy.deepcopy(sequence) if deepcopy else sequence

    def __getitem__(self, index):
        return self.sequence[index]

    def __len__(self):
        return len(self.sequence)


@functional_datapipe("map")
class Mapper(MapDataPipe):
    """fn of each element."""

    def __init__(self, datapipe, fn=lambda element: element):
        self.datapipe, self.fn = datapipe, fn

    def __getitem__(self, index):
        return self.fn(self.datapipe[index])

    def __len__(self):
        return len(self.datapipe)


@functional_datapipe("batch")
class Batcher(MapDataPipe):
    """Lists of batch_size elements."""

    def __init__(self, datapipe, batch_size, drop_last=False, wrapper_class=DataChunk):
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        self.datapipe, self.batch_size, self.drop_last, self.wrapper_class = datapipe, batch_size, drop_last, wrapper_class

    def __getitem__(self, index):
        if not 0 <= index < len(self):
            raise IndexError(f"Index {index} is out of bound.")
        first = index * self.batch_size
        return self.wrapper_class([self.datapipe[i] for i in range(first, min(first + self.batch_size, len(self.datapipe)))])

    def __len__(self):
        return (len(self.datapipe) + (0 if self.drop_last else self.batch_size - 1)) // self.batch_size


@functional_datapipe("concat")
class Concater(Concatenated, MapDataPipe):
    """One pipe behind the other."""

    def __getitem__(self, index):
        for datapipe in self.datapipes:
            if index < len(datapipe):
                return datapipe[index]
            index -= len(datapipe)
        raise IndexError(f"Index {index} is out of range.")


@functional_datapipe("zip")
class Zipper(Zipped, MapDataPipe):
    """Tuples of one element of each."""

    def __getitem__(self, index):
        return tuple(datapipe[index] for datapipe in self.datapipes)


class Shuffler(IterDataPipe):
    """The elements in random order."""

    def __init__(self, datapipe, *, indices=None):
        self.datapipe, self.indices = datapipe, list(range(len(datapipe))) if indices is None else indices
        self._enabled, self._seed = True, None

    def set_shuffle(self, shuffle=True):
        self._enabled = shuffle
        return self

    def set_seed(self, seed):
        self._seed = seed
        return self

    def __iter__(self):
        order = self.indices
        if self._enabled:
            seed, self._seed = self._seed, None
            chance = random.Random(int(C.empty((), dtype=C.int64).random_().item()) if seed is None else seed)
            order = chance.sample(order, len(order))[::-1]
        for index in order:
            yield self.datapipe[index]

    def __len__(self):
        return len(self.datapipe)


MapDataPipe.register_datapipe_as_function("shuffle", Shuffler)


name_as_pytorch(globals(), "MapDataPipe")

__getattr__ = lazily(__name__)
