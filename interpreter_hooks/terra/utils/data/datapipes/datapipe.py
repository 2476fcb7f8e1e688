"""What pipes have in common: steps that were registered under a name are methods of all of them."""

import functools
import importlib

from ...._names import lazily
from ..dataset import Dataset, IterableDataset

__all__ = ["DataChunk", "IterDataPipe", "MapDataPipe", "functional_datapipe"]


class _Steps:
    """Methods by name: those of one kind of pipes."""

    functions = {}

    def __getattr__(self, name):
        if not name.startswith("__"):
            importlib.import_module(".map", __package__)  # which brings the steps of the other kind, too
        if name.startswith("__") or name not in self.functions:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return functools.partial(self.functions[name], self)

    def __getstate__(self):
        return self.__dict__

    def __setstate__(self, state):
        self.__dict__.update(state)

    @classmethod
    def register_function(cls, function_name, function):
        cls.functions[function_name] = function

    @classmethod
    def register_datapipe_as_function(cls, function_name, cls_to_register, enable_df_api_tracing=False):
        if function_name in cls.functions:
            raise Exception(f"Unable to add DataPipe function name {function_name} as it is already taken")
        cls.functions[function_name] = cls_to_register

    def __repr__(self):
        return type(self).__name__

    __str__ = __repr__


class IterDataPipe(_Steps, IterableDataset):
    """A pipe that is iterated. Iterating it anew begins anew."""

    functions = {}

    def reset(self):
        """What the next iteration begins with."""


class DFIterDataPipe(IterDataPipe):
    """One of rows of tables."""


class MapDataPipe(_Steps, Dataset):
    """A pipe whose elements have keys."""

    functions = {}


class Concatenated:
    """Several pipes, one behind the other."""

    def __init__(self, *datapipes):
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        self.datapipes = datapipes

    def __len__(self):
        return sum(map(len, self.datapipes))


class Zipped:
    """Several pipes side by side, as long as the shortest of them."""

    def __init__(self, *datapipes):
        self.datapipes = datapipes

    def __len__(self):
        return min(map(len, self.datapipes))


def functional_datapipe(name, enable_df_api_tracing=False):
    """A decorator: the class is a step that pipes of its kind have as a method."""

    def register(cls):
        kind = IterDataPipe if issubclass(cls, IterDataPipe) else MapDataPipe
        kind.register_datapipe_as_function(name, cls)
        return cls

    return register


def name_as_pytorch(module, kind):
    """The classes of a module, Batcher, are called BatcherIterDataPipe, and are found there under both names."""
    for name in module["__all__"]:
        step = module[name]
        step.__name__ = step.__qualname__ = name + kind
        module[step.__name__] = step


class DataChunk(list):
    """A batch."""

    def __init__(self, items):
        items = list(items)
        super().__init__(items)
        self.items = items

    def as_str(self, indent=""):
        return indent + "[" + ", ".join(str(item) for item in self) + "]"

    def raw_iterator(self):
        yield from self.items


__getattr__ = lazily(__name__)
