"""Stand-ins for values: what is done to them becomes nodes of a graph."""

import dis
import operator
import sys

import _terra_C as C

from ._code import OPERATORS
from .immutable_collections import immutable_dict, immutable_list
from .node import Node

__all__ = ["Attribute", "GraphAppendingTracer", "Proxy", "TraceError", "TracerBase"]


class TraceError(ValueError):
    pass


_ITERATION = (
    "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or as a *args or **kwargs "
    "function argument. See the torch.fx docs on pytorch.org for a more detailed explanation of what types of control flow "
    "can be traced, and check out the Proxy docstring for help troubleshooting Proxy iteration errors"
)


class TracerBase:
    """What a tracer has to decide. Subclasses may decide otherwise."""

    graph = None
    root = None
    record_stack_traces = False

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        return self.graph.create_node(kind, target, args, kwargs, name, type_expr)

    def proxy(self, node):
        return Proxy(node, self)

    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, proxy_factory_fn=None):
        """A new node and its proxy. Proxies among the arguments become nodes."""
        args, kwargs = self.create_arg(tuple(args)), self.create_arg(dict(kwargs))
        node = self.create_node(kind, target, args, kwargs, name, type_expr)
        return self.proxy(node) if proxy_factory_fn is None else proxy_factory_fn(node)

    def create_arg(self, a):
        """An argument as nodes hold it."""
        if isinstance(a, Proxy):
            return a.node
        if isinstance(a, tuple):
            items = [self.create_arg(item) for item in a]
            return type(a)(*items) if hasattr(a, "_fields") else C.Size(items) if _is_size(a, items) else tuple(items)
        if isinstance(a, list):
            return immutable_list([self.create_arg(item) for item in a])
        if isinstance(a, dict):
            if any(isinstance(key, Proxy) for key in a):
                raise NotImplementedError("a Proxy as the key of a dict among the arguments of a node")
            return immutable_dict((key, self.create_arg(item)) for key, item in a.items())
        if isinstance(a, slice):
            return slice(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, range):
            return range(*[self.create_arg(part) for part in (a.start, a.stop, a.step)])
        plain = (str, int, float, bool, complex, bytes, C.dtype, C.device, Node, type(None), type(Ellipsis), C.Tensor)
        if isinstance(a, plain) or callable(a) or _is_engine_constant(a):
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def to_bool(self, obj):
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj):
        raise TraceError(_ITERATION)

    def keys(self, obj):
        return Attribute(obj, "keys")()


def _is_size(value, items):
    return isinstance(value, C.Size) and all(isinstance(item, int) for item in items)


def _is_engine_constant(value):
    return type(value).__module__ in ("terra", "torch") or isinstance(value, C.Generator)


def _tracer_of(values):
    """The tracer of a proxy among these values, or in lists, tuples, dicts and slices of them."""
    for value in values:
        if isinstance(value, Proxy):
            return value.tracer
        if isinstance(value, (list, tuple)):
            found = _tracer_of(value)
        elif isinstance(value, dict):
            found = _tracer_of(value.values())
        elif isinstance(value, slice):
            found = _tracer_of((value.start, value.stop, value.step))
        else:
            continue
        if found is not None:
            return found
    return None


class Proxy:
    """A value that isn't there yet. Operators, methods, attributes and functions of tensors that meet it are noted."""

    def __init__(self, node, tracer=None):
        self.node = node
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer

    def __repr__(self):
        return f"Proxy({self.node.name})"

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return Attribute(self, name)

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self):
        """Unpacked into a fixed number of names it is a sequence of that length."""
        frame = sys._getframe(1)
        while frame.f_code.co_filename == __file__:
            frame = frame.f_back
        code = frame.f_code
        opcode, argument = code.co_code[frame.f_lasti], code.co_code[frame.f_lasti + 1]
        if dis.opname[opcode] == "UNPACK_SEQUENCE":
            return iter([self[i] for i in range(argument)])
        return self.tracer.iter(self)

    def __bool__(self):
        return self.tracer.to_bool(self)

    def __abs__(self):
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __len__(self):
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, please call "
            "torch.fx.wrap('len') at module scope"
        )

    def __contains__(self, item):
        return self.tracer.to_bool(self)

    def keys(self):
        return self.tracer.keys(self)

    __hash__ = object.__hash__

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        kwargs = {} if kwargs is None else kwargs
        tracer = _tracer_of((*args, *kwargs.values()))
        name = getattr(function, "__name__", "")
        if name.startswith("__") and name.endswith("__"):
            return _operator_node(tracer, name, args)
        if isinstance(function, C.OpMethod) or type(function).__name__ in ("method_descriptor", "getset_descriptor"):
            if isinstance(args[0], C.Tensor):
                args = (tracer.create_arg(args[0]), *args[1:])
            return tracer.create_proxy("call_method", name, args, kwargs)
        return tracer.create_proxy("call_function", function, args, kwargs)


def _operator_node(tracer, name, args):
    """Tensor.__add__(tensor, proxy) and the like."""
    plain = name.strip("_")
    for candidate, turned in ((plain, False), (plain + "_", False), (plain[1:], True), (plain[1:] + "_", True)):
        if candidate in OPERATORS and (not turned or plain[0] == "r"):
            function = getattr(operator, candidate)
            return tracer.create_proxy("call_function", function, tuple(reversed(args)) if turned else args, {})
    return tracer.create_proxy("call_method", name, args, {})


class Attribute(Proxy):
    """An attribute of a proxy: a node only when it is used otherwise than by being called."""

    def __init__(self, root, attr):
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node = None

    @property
    def node(self):
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class Member(Proxy):
    """A parameter or buffer of a module that is being traced: a node when it is first used."""

    def __init__(self, tracer, path):
        self.tracer, self._path, self._node = tracer, path, None

    @property
    def node(self):
        if self._node is None:
            self._node = self.tracer.create_node("get_attr", self._path, (), {})
        return self._node


class GraphAppendingTracer(TracerBase):
    """For proxies that are made by hand: nodes go to the end of the graph."""

    def __init__(self, graph):
        self.graph = graph


def _define_operators():
    def define(name, form):
        function = getattr(operator, name)

        def method(*args):
            return args[0].tracer.create_proxy("call_function", function, args, {})

        def reflected(self, other):
            return self.tracer.create_proxy("call_function", function, (other, self), {})

        plain = name.strip("_")
        setattr(Proxy, f"__{plain}__", method)
        if form.count("{}") == 2 and plain not in ("getitem", "eq", "ne", "lt", "gt", "le", "ge"):
            setattr(Proxy, f"__r{plain}__", reflected)

    for name, form in OPERATORS.items():
        define(name, form)


_define_operators()
