"""Steps of pipes that are iterated."""

import collections
import copy
import fnmatch
import itertools
import os
import random

import _terra_C as C

from ...._names import lazily
from .datapipe import Concatenated, DataChunk, IterDataPipe, Zipped, functional_datapipe, name_as_pytorch

__all__ = [
    "Batcher", "Collator", "Concater", "Demultiplexer", "FileLister", "FileOpener", "Filter", "Forker", "Grouper", "IterableWrapper",
    "Mapper", "Multiplexer", "Sampler", "ShardingFilter", "Shuffler", "StreamReader", "UnBatcher", "Zipper",
]  # fmt: skip


class IterableWrapper(IterDataPipe):
    """The elements of an iterable, of a copy of it if `deepcopy`."""

    def __init__(self, iterable, deepcopy=True):
        self.iterable, self.deepcopy = iterable, deepcopy

    def __iter__(self):
        source = self.iterable
        if self.deepcopy:
            try:
                source = copy.deepcopy(source)
            except TypeError:  # generators can't be copied
                pass
        yield from source

    def __len__(self):
        return len(self.iterable)


class _Step(IterDataPipe):
    def __init__(self, datapipe):
        self.datapipe = datapipe

    def __len__(self):
        return len(self.datapipe)


@functional_datapipe("map")
class Mapper(_Step):
    """fn of each element; of a column or several of it, the result in the place of output_col."""

    def __init__(self, datapipe, fn, input_col=None, output_col=None):
        super().__init__(datapipe)
        if input_col is None and output_col is not None:
            raise ValueError("`output_col` must be None when `input_col` is None.")
        self.fn, self.input_col, self.output_col = fn, input_col, output_col

    def __iter__(self):
        for element in self.datapipe:
            yield self._applied(element)

    def _applied(self, element):
        if self.input_col is None:
            return self.fn(element)
        columns = isinstance(self.input_col, (list, tuple))
        result = self.fn(*(element[c] for c in self.input_col)) if columns else self.fn(element[self.input_col])
        kind = type(element)
        element = list(element) if isinstance(element, tuple) else element
        if self.output_col == -1:
            element.append(result)
        elif self.output_col is not None:
            element[self.output_col] = result
        elif columns:
            element[self.input_col[0]] = result
            for c in sorted(self.input_col[1:], reverse=True):
                del element[c]
        else:
            element[self.input_col] = result
        return tuple(element) if kind is tuple else element


@functional_datapipe("collate")
class Collator(Mapper):
    """Batches as tensors."""

    def __init__(self, datapipe, conversion=None, collate_fn=None):
        from ..collate import default_collate

        super().__init__(datapipe, collate_fn or conversion or default_collate)


@functional_datapipe("filter")
class Filter(_Step):
    """The elements of which filter_fn is True."""

    def __init__(self, datapipe, filter_fn, input_col=None):
        super().__init__(datapipe)
        self.filter_fn, self.input_col = filter_fn, input_col

    def __iter__(self):
        for element in self.datapipe:
            if self.input_col is None:
                kept = self.filter_fn(element)
            elif isinstance(self.input_col, (list, tuple)):
                kept = self.filter_fn(*(element[c] for c in self.input_col))
            else:
                kept = self.filter_fn(element[self.input_col])
            if kept:
                yield element

    def __len__(self):
        raise TypeError(f"{type(self).__name__} instance doesn't have valid length")


@functional_datapipe("batch")
class Batcher(_Step):
    """Lists of batch_size elements."""

    def __init__(self, datapipe, batch_size, drop_last=False, wrapper_class=DataChunk):
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        super().__init__(datapipe)
        self.batch_size, self.drop_last, self.wrapper_class = batch_size, drop_last, wrapper_class

    def __iter__(self):
        batch = []
        for element in self.datapipe:
            batch.append(element)
            if len(batch) == self.batch_size:
                yield self.wrapper_class(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.wrapper_class(batch)

    def __len__(self):
        return (len(self.datapipe) + (0 if self.drop_last else self.batch_size - 1)) // self.batch_size


@functional_datapipe("unbatch")
class UnBatcher(_Step):
    """The elements of batches; of batches of batches with unbatch_level 2; -1: of all."""

    def __init__(self, datapipe, unbatch_level=1):
        super().__init__(datapipe)
        self.unbatch_level = unbatch_level

    def __iter__(self):
        for element in self.datapipe:
            yield from self._unpacked(element, self.unbatch_level)

    def _unpacked(self, element, level):
        if level < -1:
            raise ValueError("unbatch_level must be -1 or >= 0")
        is_batch = isinstance(element, (list, DataChunk))
        if level == 0 or (level == -1 and not is_batch):
            yield element
        elif not is_batch:
            raise IndexError(f"unbatch_level {self.unbatch_level} exceeds the depth of the DataPipe")
        else:
            for item in element:
                yield from self._unpacked(item, level if level == -1 else level - 1)

    def __len__(self):
        raise TypeError(f"{type(self).__name__} instance doesn't have valid length")


@functional_datapipe("shuffle")
class Shuffler(_Step):
    """The elements in random order, chosen among buffer_size."""

    def __init__(self, datapipe, *, buffer_size=10000, unbatch_level=0):
        if buffer_size <= 0:
            raise ValueError("buffer_size should be larger than 0")
        super().__init__(datapipe if unbatch_level == 0 else datapipe.unbatch(unbatch_level=unbatch_level))
        self.buffer_size, self._enabled, self._seed = buffer_size, True, None

    def set_shuffle(self, shuffle=True):
        self._enabled = shuffle
        return self

    def set_seed(self, seed):
        self._seed = seed
        return self

    def __iter__(self):
        if not self._enabled:
            yield from self.datapipe
            return
        seed, self._seed = self._seed, None
        chance = random.Random(int(C.empty((), dtype=C.int64).random_().item()) if seed is None else seed)
        buffer = []
        for element in self.datapipe:
            if len(buffer) < self.buffer_size:
                buffer.append(element)
                continue
            place = chance.randint(0, len(buffer) - 1)
            found, buffer[place] = buffer[place], element
            yield found
        while buffer:
            yield buffer.pop(chance.randint(0, len(buffer) - 1))


@functional_datapipe("sharding_filter")
class ShardingFilter(_Step):
    """Every n-th element, once apply_sharding has said which."""

    def __init__(self, datapipe, sharding_group_filter=None):
        super().__init__(datapipe)
        self.num_of_instances, self.instance_id = 1, 0

    def apply_sharding(self, num_of_instances, instance_id, sharding_group=None):
        if instance_id >= num_of_instances:
            raise ValueError(f"instance_id({instance_id}) should be smaller than num_of_instances({num_of_instances})")
        self.num_of_instances, self.instance_id = num_of_instances, instance_id

    def is_shardable(self):
        return True

    def __iter__(self):
        for i, element in enumerate(self.datapipe):
            if i % self.num_of_instances == self.instance_id:
                yield element

    def __len__(self):
        count = len(self.datapipe)
        return count // self.num_of_instances + (self.instance_id < count % self.num_of_instances)


class Sampler(_Step):
    """The elements in the order of a sampler."""

    def __init__(self, datapipe, sampler=None, sampler_args=None, sampler_kwargs=None):
        from ..sampler import SequentialSampler

        super().__init__(datapipe)
        self.sampler = (sampler or SequentialSampler)(*(sampler_args or ()), data_source=datapipe, **(sampler_kwargs or {}))

    def __iter__(self):
        return iter(self.sampler)

    def __len__(self):
        return len(self.sampler)


@functional_datapipe("groupby")
class Grouper(_Step):
    """Lists of elements with one key: of group_size, or all that buffer_size elements hold."""

    def __init__(
        self, datapipe, group_key_fn, *, keep_key=False, buffer_size=10000, group_size=None, guaranteed_group_size=None,
        drop_remaining=False,
    ):  # fmt: skip
        super().__init__(datapipe)
        self.group_key_fn, self.keep_key, self.buffer_size = group_key_fn, keep_key, buffer_size
        self.group_size, self.guaranteed_group_size, self.drop_remaining = group_size, guaranteed_group_size, drop_remaining
        if group_size is not None and buffer_size is not None and self.guaranteed_group_size is None:
            self.guaranteed_group_size = group_size

    def __iter__(self):
        groups = collections.defaultdict(list)
        for element in self.datapipe:
            key = self.group_key_fn(element)
            groups[key].append(element)
            if self.group_size is not None and len(groups[key]) == self.group_size:
                yield self._group(key, groups.pop(key))
            if sum(map(len, groups.values())) == self.buffer_size:
                key = max(groups, key=lambda key: len(groups[key]))
                if (
                    self.guaranteed_group_size is not None
                    and len(groups[key]) < self.guaranteed_group_size
                    and not self.drop_remaining
                ):
                    raise RuntimeError("Failed to group items", str(groups[key]))
                found = groups.pop(key)
                if self.guaranteed_group_size is None or len(found) >= self.guaranteed_group_size:
                    yield self._group(key, found)
        for key in list(groups):
            yield self._group(key, groups.pop(key))

    def _group(self, key, elements):
        chunk = DataChunk(elements)
        return (key, chunk) if self.keep_key else chunk


@functional_datapipe("concat")
class Concater(Concatenated, IterDataPipe):
    """One pipe behind the other."""

    def __iter__(self):
        return itertools.chain.from_iterable(self.datapipes)


@functional_datapipe("zip")
class Zipper(Zipped, IterDataPipe):
    """Tuples of one element of each."""

    def __iter__(self):
        return zip(*self.datapipes)


@functional_datapipe("mux")
class Multiplexer(Zipped, IterDataPipe):
    """One element of each in turn, until one of them ends."""

    def __iter__(self):
        return itertools.chain.from_iterable(zip(*self.datapipes))

    def __len__(self):
        return len(self.datapipes) * super().__len__()


class _Branch(IterDataPipe):
    """One of several pipes over the elements of one."""

    def __init__(self, source, number):
        self.source, self.number = source, number

    def __iter__(self):
        return self.source.iterate(self.number)

    def __len__(self):
        return self.source.length()


class _Branches:
    """Elements that some branch has asked for, and others not yet. A branch that begins anew begins all anew."""

    def __init__(self, datapipe, count, buffer_size, places):
        self.datapipe, self.count, self.buffer_size, self.places = datapipe, count, buffer_size, places
        self.source = None

    def iterate(self, number):
        if self.source is None or self.begun[number]:
            self.source, self.waiting = iter(self.datapipe), [collections.deque() for _ in range(self.count)]
            self.begun = [False] * self.count
        self.begun[number] = True
        return self._elements(number, self.source, self.waiting)

    def _elements(self, number, source, waiting):
        while True:
            if not waiting[number]:
                for element in source:
                    for place in self.places(element):
                        waiting[place].append(element)
                    if self.buffer_size >= 0 and max(map(len, waiting)) > self.buffer_size:
                        raise BufferError(f"a branch of the pipe is more than {self.buffer_size} elements ahead of another")
                    if waiting[number]:
                        break
                else:
                    return
            yield waiting[number].popleft()

    def length(self):
        return len(self.datapipe)


@functional_datapipe("fork")
class Forker(IterDataPipe):
    """Several pipes that each give all elements."""

    def __new__(cls, datapipe, num_instances, buffer_size=1000, copy=None):
        if num_instances < 1:
            raise ValueError(f"Expected `num_instances` larger than 0, but {num_instances} is found")
        everywhere = range(num_instances)
        source = _Branches(datapipe, num_instances, buffer_size, lambda element: everywhere)
        return [_Branch(source, i) for i in everywhere]


@functional_datapipe("demux")
class Demultiplexer(IterDataPipe):
    """Several pipes: classifier_fn says to which one an element goes."""

    def __new__(cls, datapipe, num_instances, classifier_fn, drop_none=False, buffer_size=1000):
        if num_instances < 1:
            raise ValueError(f"Expected `num_instances` larger than 0, but {num_instances} is found")

        def places(element):
            place = classifier_fn(element)
            if place is None and drop_none:
                return ()
            if place is None or not 0 <= place < num_instances:
                raise ValueError(
                    f"Output of the classification fn should be between 0 and {num_instances - 1}. {place} is returned."
                )
            return (place,)

        source = _Branches(datapipe, num_instances, buffer_size, places)
        return [_Branch(source, i) for i in range(num_instances)]


class FileLister(IterDataPipe):
    """Paths of the files in folders."""

    def __init__(self, root=".", masks="", *, recursive=False, abspath=False, non_deterministic=False, length=-1):
        self.roots = [root] if isinstance(root, str) else root
        self.masks = [masks] if isinstance(masks, str) else masks
        self.recursive, self.abspath = recursive, abspath

    def __iter__(self):
        for root in self.roots:
            for folder, folders, files in os.walk(root):
                folders.sort()
                folder = os.path.abspath(folder) if self.abspath else folder
                for name in sorted(files):
                    if not any(self.masks) or any(fnmatch.fnmatch(name, mask) for mask in self.masks):
                        yield os.path.join(folder, name)
                if not self.recursive:
                    break


@functional_datapipe("open_files")
class FileOpener(_Step):
    """(path, open file) of paths."""

    def __init__(self, datapipe, mode="r", encoding=None, length=-1):
        super().__init__(datapipe)
        self.mode, self.encoding = mode, encoding

    def __iter__(self):
        for path in self.datapipe:
            yield path, open(path, self.mode, encoding=self.encoding)


@functional_datapipe("read_from_stream")
class StreamReader(_Step):
    """(path, what was read) of (path, open file): the whole, or a piece of `chunk` bytes after the other."""

    def __init__(self, datapipe, chunk=None):
        super().__init__(datapipe)
        self.chunk = chunk

    def __iter__(self):
        for path, stream in self.datapipe:
            with stream:
                while data := stream.read(-1 if self.chunk is None else self.chunk):
                    yield path, data


name_as_pytorch(globals(), "IterDataPipe")

__getattr__ = lazily(__name__)
