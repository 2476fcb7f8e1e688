"""Tracing: a function is called with proxies, and what it does to them becomes a graph."""

import builtins
import contextlib
import inspect
import math
import sys
import types

import _terra_C as C

from .._predicates import _assert
from .graph import Graph
from .graph_module import GraphModule
from .proxy import Member, TracerBase, _tracer_of

__all__ = ["PH", "ProxyableClassMeta", "Tracer", "symbolic_trace", "wrap"]

PACKAGE = __name__.partition(".")[0]
_wrapped = {}  # (id of globals, name) -> globals


class _Placeholder:
    def __repr__(self):
        return "PH"


PH = _Placeholder()


def wrap(fn_or_name):
    """At module scope: calls of this function, or of that of this name, become nodes and are not looked into."""
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError(f"Unsupported type for global function! Must be either a callable or string name, got {fn_or_name!r}")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__code__.co_name
    frame = sys._getframe(1)
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped[id(frame.f_globals), name] = frame.f_globals
    return fn_or_name


class ProxyableClassMeta(type):
    """A class whose instances may be made of proxies while tracing: the making becomes a node."""

    def __call__(cls, *args, **kwargs):
        tracer = _tracer_of((*args, *kwargs.values()))
        return super().__call__(*args, **kwargs) if tracer is None else tracer.create_proxy("call_function", cls, args, kwargs)


class Tracer(TracerBase):
    """Modules of torch.nn, Sequential aside, are calls in the graph; others are looked into."""

    def __init__(self, autowrap_modules=(math,), autowrap_functions=(), param_shapes_constant=False):
        self._autowrap_modules, self._autowrap_functions = autowrap_modules, autowrap_functions
        self.param_shapes_constant = param_shapes_constant

    # ---- to be overridden ----

    def is_leaf_module(self, m, module_qualified_name):
        where = type(m).__module__
        inside = where.startswith((f"{PACKAGE}.nn", "torch.nn")) or where.startswith((f"{PACKAGE}.ao.nn", "torch.ao.nn"))
        return inside and type(m).__name__ != "Sequential"

    def path_of_module(self, mod):
        path = self._paths.get(id(mod))
        if path is None:
            raise NameError("module is not installed as a submodule")
        return path

    def call_module(self, m, forward, args, kwargs):
        path = self.path_of_module(m)
        if self.is_leaf_module(m, path):
            return self.create_proxy("call_module", path, args, kwargs)
        return forward(*args, **kwargs)

    def create_arg(self, a):
        if isinstance(a, C.Tensor):
            return self.create_node("get_attr", self._tensor_path(a), (), {})
        if isinstance(a, C.ModuleBase) and id(a) in self._paths:
            return self.create_node("get_attr", self._paths[id(a)], (), {})
        return super().create_arg(a)

    def _tensor_path(self, tensor):
        """Where the root holds a tensor; one that it doesn't becomes an attribute of it."""
        if id(tensor) not in self._tensors:
            count = 0
            while hasattr(self.root, f"_tensor_constant{count}"):
                count += 1
            setattr(self.root, f"_tensor_constant{count}", tensor)
            self._tensors[id(tensor)] = f"_tensor_constant{count}"
        return self._tensors[id(tensor)]

    def member(self, value):
        """The proxy of a parameter or buffer: one per tensor."""
        path = self._tensors[id(value)]
        if path not in self._members:
            self._members[path] = Member(self, path)
        return self._members[path]

    # ---- the trace ----

    def trace(self, root, concrete_args=None):
        """The graph of a module's forward, or of a function."""
        from .. import nn

        if isinstance(root, nn.Module):
            function, self.root = type(root).forward, root
        elif not hasattr(root, "__code__"):
            raise TypeError(f"torch.fx traces modules and functions written in Python, not {type(root).__name__}")
        else:
            function, self.root = root, nn.Module()
        self._paths = {}
        for name, module in self.root.named_modules():
            self._paths.setdefault(id(module), name)
        self._tensors, self._members = {}, {}
        for name, value in (*self.root.named_parameters(remove_duplicate=False), *self.root.named_buffers(remove_duplicate=False)):
            self._tensors.setdefault(id(value), name)
        self.graph = Graph(tracer_cls=type(self))
        traced, args = self._arguments(inspect.unwrap(function), isinstance(root, nn.Module), concrete_args or {})
        with _patched(self, traced):
            result = traced(*args)
        self.create_node("output", "output", (self.create_arg(result),), {})
        return self.graph

    def _arguments(self, function, is_module, concrete):
        """The function to call, and proxies for its parameters."""
        code = function.__code__
        count = code.co_argcount + code.co_kwonlyargcount
        names = list(code.co_varnames[:count])
        args = [self.root] if is_module else []
        defaults = {n: p.default for n, p in inspect.signature(function).parameters.items() if p.default is not p.empty}
        annotations = getattr(function, "__annotations__", {})
        made = {}
        for name in names[len(args) :]:
            made[name] = self._placeholder(name, defaults, annotations, concrete)
        flags, at = code.co_flags, count
        extra = {}
        for flag, stars in ((inspect.CO_VARARGS, "*"), (inspect.CO_VARKEYWORDS, "**")):
            if flags & flag:
                extra[stars] = self.create_proxy("placeholder", stars + code.co_varnames[at], (), {})
                at += 1
        positional = [*args, *[made[n] for n in names[len(args) : code.co_argcount]]]
        keywords = {n: made[n] for n in names[code.co_argcount :]}
        if not extra and not keywords:
            return function, positional
        # *args and **kwargs are proxies as wholes, which no call can pass: the body runs with other parameters.
        kept = flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
        plain = code.replace(co_flags=kept, co_argcount=code.co_argcount + code.co_kwonlyargcount + len(extra), co_kwonlyargcount=0)
        body = types.FunctionType(plain, function.__globals__, code.co_name, None, function.__closure__)
        return body, [*positional, *keywords.values(), *extra.values()]

    def _placeholder(self, name, defaults, annotations, concrete):
        default = (defaults[name],) if name in defaults else ()
        if name not in concrete or concrete[name] is PH:
            kind = annotations.get(name)
            return self.create_proxy("placeholder", name, default, {}, type_expr=kind if isinstance(kind, type) else None)
        value = concrete[name]
        seen = self.create_proxy("placeholder", f"{name}_1", default, {})
        if isinstance(value, (bool, int, float, str)) or value is None:
            message = f"{name} has been specialized to have value {value} but got another value"
            self.create_proxy("call_function", _assert, (seen == value, message), {})
        return value

    def get_fresh_qualname(self, prefix):
        count = 0
        while hasattr(self.root, f"{prefix}{count}"):
            count += 1
        return f"{prefix}{count}"


# ---- what is replaced while a function is traced ---------------------------------------------------------------------
def _noting(tracer, function, wrapped):
    """The function, whose calls with proxies become nodes."""

    def call(*args, **kwargs):
        if _tracer_of((*args, *kwargs.values())) is None:
            return function(*args, **kwargs)
        proxy = tracer.create_proxy("call_function", function, args, kwargs)
        if wrapped:
            proxy.node.meta["is_wrapped"] = True
        return proxy

    return call


class ScopeTracer(Tracer):
    """Knows the path of the module that it is in, "" in the outermost."""

    scope = ""

    def call_module(self, m, forward, args, kwargs):
        before, self.scope = self.scope, self.path_of_module(m)
        try:
            return super().call_module(m, forward, args, kwargs)
        finally:
            self.scope = before


def _python_functions():
    """{id: function} of the public functions in Python that don't offer their calls to proxies by themselves."""
    from .. import fft, linalg, nn, special

    found = {}
    for module in (sys.modules[PACKAGE], nn.functional, linalg, fft, special):
        for name, value in vars(module).items():
            if type(value) is types.FunctionType and not name.startswith("_"):
                found[id(value)] = value
    for module in list(sys.modules.values()):
        for name in vars(module).get("__fx_leaves__", ()) if isinstance(module, types.ModuleType) else ():
            found[id(vars(module)[name])] = vars(module)[name]
    found[id(_assert)] = _assert
    return found


def _autowrapped(tracer):
    functions = [*tracer._autowrap_functions]
    for module in tracer._autowrap_modules:
        names = [name for name in vars(module) if not name.startswith("_") and not isinstance(vars(module)[name], type)]
        functions += [vars(module)[name] for name in names if callable(vars(module)[name])]
    return {id(function): function for function in functions}


class _Changes:
    """Entries of dicts that are put back at the end."""

    def __init__(self):
        self._before = []

    def set(self, where, name, value):
        self._before.append((where, name, where[name] if name in where else self))
        where[name] = value

    def undo(self):
        for where, name, value in reversed(self._before):
            if value is self:
                del where[name]
            else:
                where[name] = value


@contextlib.contextmanager
def _patched(tracer, function):
    """Functions in Python, modules' forward, parameters and buffers report themselves to the tracer."""
    changes, forwards = _Changes(), []
    try:
        _patch_functions(tracer, function, changes)
        for name, module in tracer.root.named_modules():
            if module is not tracer.root:
                forwards.append((module, vars(module).get("forward")))
                module.forward = _forward(tracer, module, module.forward)
            if module is tracer.root or not tracer.is_leaf_module(module, name):
                for members in (module._parameters, module._buffers):
                    for member, value in members.items():
                        if value is not None:
                            changes.set(members, member, tracer.member(value))
        yield
    finally:
        changes.undo()
        for module, before in reversed(forwards):
            if before is None:
                del module.forward
            else:
                module.forward = before


def _forward(tracer, module, forward):
    return lambda *args, **kwargs: tracer.call_module(module, forward, args, kwargs)


def _patch_functions(tracer, function, changes):
    wrapped = _autowrapped(tracer)
    originals = _python_functions() | wrapped
    noting = {key: _noting(tracer, value, key in wrapped) for key, value in originals.items()}
    for module in list(sys.modules.values()):
        name = getattr(module, "__name__", "") or ""
        own = name.startswith((f"{PACKAGE}.", "torch.")) and not name.startswith(f"{PACKAGE}.vision")
        if own and name not in (f"{PACKAGE}.nn.functional", f"{PACKAGE}.linalg", f"{PACKAGE}.fft", f"{PACKAGE}.special"):
            continue
        try:
            names = vars(module)
        except TypeError:
            continue
        _patch_names(names, originals, noting, changes)
    _patch_names(function.__globals__, originals, noting, changes)
    for (_, name), names in _wrapped.items():
        original = names[name] if name in names else getattr(builtins, name)
        changes.set(names, name, _noting(tracer, original, True))


def _patch_names(names, originals, noting, changes):
    for name, value in list(names.items()):
        if id(value) in noting and originals[id(value)] is value:
            changes.set(names, name, noting[id(value)])


def symbolic_trace(root, concrete_args=None):
    """A module or function as a GraphModule."""
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, C.ModuleBase) else root.__name__
    return GraphModule(tracer.root, graph, name)


def is_fx_tracing():
    return False
