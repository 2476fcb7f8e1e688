"""torch.ops: the ops that the program itself made with torch.library.custom_op, as torch.ops.namespace.name."""

import sys

from ._names import missing

_made = {}  # namespace -> {name: op}


class _Namespace:
    def __init__(self, name):
        self.name = name

    def __getattr__(self, name):
        op = _made.get(self.name, {}).get(name)
        if op is None:
            raise AttributeError(
                f"torch.ops.{self.name}.{name} is not in Terra: torch.ops has the ops that torch.library.custom_op made; "
                "PyTorch's own are functions of torch and torch.nn.functional"
            )
        return op

    def __dir__(self):
        return sorted(_made.get(self.name, ()))


def add(qualified_name, op):
    """Enters an op under "namespace::name"."""
    namespace, _, name = qualified_name.partition("::")
    _made.setdefault(namespace, {})[name] = op


def load_library(path):
    """Libraries of compiled ops are made for PyTorch."""
    raise OSError(f"torch.ops.load_library({path!r}): a library of ops that were compiled for PyTorch can't work with Terra")


def __getattr__(name):
    if name.startswith("__"):
        raise missing(sys.modules[__name__], name)
    return _Namespace(name)
