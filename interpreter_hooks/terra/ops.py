"""torch.ops: the ops that the program itself made with torch.library, as torch.ops.namespace.name; and as
torch.ops.aten.name PyTorch's own, which are the functions of torch, of torch.nn.functional, and the methods of tensors."""

import importlib
import sys

import _terra_C as C

from . import _aten
from ._aten.arguments import chosen
from ._aten.schemas import forms, schema
from ._names import PACKAGE, missing

_made = {}  # namespace -> {name: packet}


class _Overload:
    """One form of an op, as torch.ops.aten.add.Tensor."""

    def __init__(self, packet, name, function):
        self.overloadpacket, self._overloadname, self._function = packet, name, function
        self.__name__ = self.__qualname__ = f"{packet.__name__}.{name}"
        self.namespace, self.__module__ = packet.namespace, f"torch.ops.{packet.namespace}"

    def __call__(self, *args, **kwargs):
        return self._function(*args, **kwargs)

    @property
    def _schema(self):
        return self._function._schema

    @property
    def _opname(self):
        return self.overloadpacket.__name__

    def name(self):
        form = "" if self._overloadname == "default" else "." + self._overloadname
        return self.overloadpacket._qualified_op_name + form

    def __repr__(self):
        return f"<OpOverload(op='{self.overloadpacket}', overload='{self._overloadname}')>"

    def __str__(self):
        return f"{self.overloadpacket}.{self._overloadname}"


class _OwnOverload(_Overload):
    """One form of an op of PyTorch's."""

    def __call__(self, *args, **kwargs):
        if _aten.in_use:
            from ._aten.dispatch import run

            return run(self, args, kwargs)
        return self._function(*args, **kwargs)

    @property
    def _schema(self):
        found = schema(self.overloadpacket.__name__, self._overloadname)
        if found is None:
            raise NotImplementedError(f"torch.ops.{self}._schema: Terra lists no schema of it.")
        return found


class _Packet:
    """An op with all its forms."""

    def __init__(self, namespace, name):
        self.namespace, self.__name__, self._qualified_op_name = namespace, name, f"{namespace}::{name}"

    def __str__(self):
        return f"{self.namespace}.{self.__name__}"

    def __repr__(self):
        return f"<OpOverloadPacket(op='{self}')>"


class _OwnPacket(_Packet):
    """An op of PyTorch's: its forms are made as they are asked for, each is the same object then, and all are one function."""

    def __init__(self, namespace, name, function):
        super().__init__(namespace, name)
        self._function = function

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        overload = _OwnOverload(self, name, self._function)
        setattr(self, name, overload)
        return overload

    def overloads(self):
        return list(forms().get(self.__name__, ("default",)))

    def __call__(self, *args, **kwargs):
        if _aten.in_use:
            form, args, kwargs = chosen(self.__name__, args, kwargs) or ("default", args, kwargs)
            return getattr(self, form)(*args, **kwargs)
        return self._function(*args, **kwargs)


class _MadePacket(_Packet):
    """An op of the program's, with the forms that were defined."""

    def __init__(self, namespace, name):
        super().__init__(namespace, name)
        self._forms = {}

    def overloads(self):
        return list(self._forms)

    def add(self, form, op):
        self._forms[form] = op._overload = overload = _Overload(self, form, op)
        setattr(self, form, overload)

    def __call__(self, *args, **kwargs):
        *others, last = self._forms.values()
        for form in others:
            try:
                form._schema.bound(args, kwargs)
            except RuntimeError:
                continue
            return form(*args, **kwargs)
        return last(*args, **kwargs)


class _Namespace:
    def __init__(self, name):
        self.name = name

    def __getattr__(self, name):
        packet = _made.get(self.name, {}).get(name)
        if packet is None:
            raise AttributeError(
                f"torch.ops.{self.name}.{name} is not in Terra: torch.ops has the ops that torch.library made, and "
                "PyTorch's own as torch.ops.aten",
                name=name,
            )
        return packet

    def __dir__(self):
        return sorted(_made.get(self.name, ()))


def _function_called(name):
    from ._aten.kernels import KERNELS

    if name in KERNELS:
        return KERNELS[name]
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
        packet = _made.get(self.name, {}).get(name)
        if packet is None:
            function = _function_called(name)
            if function is None:
                raise AttributeError(f"'_OpNamespace' 'aten' object has no attribute '{name}'", name=name)
            packet = _OwnPacket(self.name, name, function)
        setattr(self, name, packet)
        return packet


aten = _PyTorchsOwn("aten")


def _parts(qualified_name):
    """namespace, name, form of "namespace::name.form"."""
    namespace, _, name = qualified_name.partition("::")
    name, _, form = name.partition(".")
    return namespace, name, form or "default"


def add(qualified_name, op):
    """Enters an op under "namespace::name" or "namespace::name.form"."""
    namespace, name, form = _parts(qualified_name)
    packets = _made.setdefault(namespace, {})
    if name not in packets:
        packets[name] = _MadePacket(namespace, name)
    packets[name].add(form, op)


def find(qualified_name):
    """The op that was entered under that name, or None."""
    namespace, name, form = _parts(qualified_name)
    packet = _made.get(namespace, {}).get(name)
    overload = packet and packet._forms.get(form)
    return overload and overload._function


def load_library(path):
    """Libraries of compiled ops are made for PyTorch."""
    raise OSError(f"torch.ops.load_library({path!r}): a library of ops that were compiled for PyTorch can't work with Terra")


def __getattr__(name):
    if name.startswith("__"):
        raise missing(sys.modules[__name__], name)
    return _Namespace(name)
