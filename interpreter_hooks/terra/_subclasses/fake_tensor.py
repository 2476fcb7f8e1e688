"""The names by which programs ask whether a tensor is one without elements."""

import contextlib

from .._missing_parts import NoInstances, sentence
from .._names import lazily


class FakeTensor(metaclass=NoInstances):
    """A tensor without elements. No tensor is one; torch.device("meta") is for shapes alone."""


def is_fake(x):
    return False


FakeTensorMode = sentence("torch._subclasses.FakeTensorMode")


@contextlib.contextmanager
def unset_fake_temporarily():
    """Tensors have elements in it, as always."""
    yield None


__getattr__ = lazily(__name__)
