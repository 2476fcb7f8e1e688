"""torch.ops: the ops that the program itself made with torch.library.custom_op, as torch.ops.namespace.name; and as
torch.ops.aten.name PyTorch's own, which are the functions of torch, of torch.nn.functional, and the methods of tensors."""

import importlib
import sys

import _terra_C as C

from ._missing_parts import sentences
from ._names import PACKAGE, missing

_made = {}  # namespace -> {name: op}


class _Namespace:
    def __init__(self, name):
        self.name = name

    def __getattr__(self, name):
        op = _made.get(self.name, {}).get(name)
        if op is None:
            raise AttributeError(
                f"torch.ops.{self.name}.{name} is not in Terra: torch.ops has the ops that torch.library.custom_op made, and "
                "PyTorch's own as torch.ops.aten"
            )
        return op

    def __dir__(self):
        return sorted(_made.get(self.name, ()))


def _slice(self, dim=0, start=None, end=None, step=1):
    return self[(slice(None),) * (dim % self.dim()) + (slice(start, end, step),)]


def _index(self, indices):
    return self[tuple(slice(None) if i is None else i for i in indices)]


def _to_copy(self, *, dtype=None, layout=None, device=None, pin_memory=None, non_blocking=False, memory_format=None):
    return self.to(dtype=self.dtype if dtype is None else dtype, copy=True)


# Ops of PyTorch whose functions have no name of their own.
_NAMELESS = {
    "_pin_memory": lambda self, device=None: self.pin_memory(), "_to_copy": _to_copy, "alias": lambda self: self.view_as(self),
    "index": _index, "slice": _slice, **sentences("torch.ops.aten", ("_sparse_addmm", "_sparse_mm_reduce_impl")),
}  # fmt: skip


class _Overload:
    """One form of an op of PyTorch's, as torch.ops.aten.add.Tensor: the same function whichever form it is."""

    def __init__(self, packet, name):
        self.overloadpacket, self._overloadname = packet, name
        self.__name__ = f"{packet.__name__}.{name}"

    def __call__(self, *args, **kwargs):
        return self.overloadpacket._function(*args, **kwargs)

    def name(self):
        return str(self.overloadpacket).replace(".", "::")

    def __repr__(self):
        return f"<OpOverload(op='{self.overloadpacket}', overload='{self._overloadname}')>"

    def __str__(self):
        return f"{self.overloadpacket}.{self._overloadname}"


class _Packet:
    """An op of PyTorch's with all its forms: they are made as they are asked for, and each is the same object then."""

    def __init__(self, name, function):
        self.__name__, self._function = name, function

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        overload = _Overload(self, name)
        setattr(self, name, overload)
        return overload

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)

    def __str__(self):
        return "aten." + self.__name__

    def __repr__(self):
        return f"<OpOverloadPacket(op='aten.{self.__name__}')>"


def _function_called(name):
    if name in _NAMELESS:
        return _NAMELESS[name]
    for home in (PACKAGE, PACKAGE + ".nn.functional"):
        try:
            found = getattr(importlib.import_module(home), name)
        except AttributeError:
            continue
        if callable(found) and not isinstance(found, type):
            return found
    return getattr(C.Tensor, name, None)


class _PyTorchsOwn(_Namespace):
    """torch.ops.aten."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        function = _made.get(self.name, {}).get(name) or _function_called(name)
        if function is None:
            raise AttributeError(f"'_OpNamespace' 'aten' object has no attribute '{name}'", name=name)
        packet = _Packet(name, function)
        setattr(self, name, packet)
        return packet


aten = _PyTorchsOwn("aten")


def add(qualified_name, op):
    """Enters an op under "namespace::name"."""
    namespace, _, name = qualified_name.partition("::")
    _made.setdefault(namespace, {})[name] = op


def find(qualified_name):
    """The op that was entered under "namespace::name", or None."""
    namespace, _, name = qualified_name.partition("::")
    return _made.get(namespace, {}).get(name)


def load_library(path):
    """Libraries of compiled ops are made for PyTorch."""
    raise OSError(f"torch.ops.load_library({path!r}): a library of ops that were compiled for PyTorch can't work with Terra")


def __getattr__(name):
    if name.startswith("__"):
        raise missing(sys.modules[__name__], name)
    return _Namespace(name)
