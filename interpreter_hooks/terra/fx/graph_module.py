"""A module whose forward is made from a graph."""

import copy
import itertools
import linecache

import _terra_C as C

from ..nn import Module
from .graph import Graph

__all__ = ["GraphModule", "reduce_graph_module"]

_numbers = itertools.count()


def _compiled(code):
    """The function that the text defines; its lines are found by tracebacks."""
    file = f"<eval_with_key>.{next(_numbers)}"
    names = dict(code.globals)
    linecache.cache[file] = (len(code.src), None, code.src.splitlines(True), file)
    exec(compile(code.src, file, "exec"), names)
    return names["forward"]


def _holder(module, path, make):
    """The module that holds the last part of a path; modules on the way are made."""
    *parts, last = path.split(".")
    for part in parts:
        if not isinstance(getattr(module, part, None), Module):
            if not make:
                raise AttributeError(f"{type(module).__name__} has no module {part}")
            setattr(module, part, Module())
        module = getattr(module, part)
    return module, last


def _place(module, path, value):
    holder, last = _holder(module, path, True)
    if isinstance(value, C.Tensor) and not isinstance(value, C.Parameter):
        holder.register_buffer(last, value)
    else:
        setattr(holder, last, value)


class GraphModule(Module):
    """The members that the graph names, and a forward that does what it says. Each instance has a class of its own."""

    def __new__(cls, *args, **kwargs):
        own = type(cls.__name__, (cls,), {"__module__": cls.__module__}) if "_is_own" not in vars(cls) else cls
        own._is_own = True
        return super().__new__(own)

    def __init__(self, root, graph, class_name="GraphModule"):
        super().__init__()
        type(self).__name__ = type(self).__qualname__ = class_name
        if isinstance(root, Module):
            self.training = root.training
        elif not isinstance(root, dict):
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        self._take_members(root, graph)
        self.graph = graph
        self._tracer_cls = graph._tracer_cls

    def _take_members(self, root, graph):
        """What the graph names of a module, or of a dict by path, becomes a member at the same path."""
        for node in graph.nodes:
            if node.op not in ("get_attr", "call_module"):
                continue
            if isinstance(root, Module):
                *parts, last = node.target.split(".")
                value = getattr(root.get_submodule(".".join(parts)), last)
            elif node.target in root:
                value = root[node.target]
            else:
                raise RuntimeError(
                    f"Node {node} referenced target {node.target} but that target was not provided in root!"
                )
            holder, last = _holder(self, node.target, True)
            if getattr(holder, last, None) is not value:
                _place(self, node.target, value)

    @property
    def graph(self):
        return self._graph

    @graph.setter
    def graph(self, graph):
        if not isinstance(graph, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(graph)}")
        self._graph = graph
        graph.owning_module = self
        self.recompile()

    @property
    def code(self):
        return self._code

    def recompile(self):
        """Makes forward anew: after each change to the graph."""
        code = self._graph.python_code(root_module="self")
        self._code = code.src
        type(self).forward = _compiled(code)
        return code

    # ---- members ----

    def add_submodule(self, target, m):
        """Whether it could be put there."""
        try:
            holder, last = _holder(self, target, True)
        except AttributeError:
            return False
        holder.add_module(last, m)
        return True

    def delete_submodule(self, target):
        try:
            holder, last = _holder(self, target, False)
        except AttributeError:
            return False
        if not isinstance(getattr(holder, last, None), Module):
            return False
        delattr(holder, last)
        return True

    def delete_all_unused_submodules(self):
        used = set()
        for node in self._graph.nodes:
            if node.op in ("call_module", "get_attr"):
                parts = node.target.split(".")
                used.update(".".join(parts[:i]) for i in range(1, len(parts) + 1))
                if node.op == "call_module":
                    inside = self.get_submodule(node.target).named_modules()
                    used.update(f"{node.target}.{name}" if name else node.target for name, _ in inside)
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    # ---- copies, files, text ----

    def __deepcopy__(self, memo):
        members = Module()
        for name, value in vars(self).items():
            if name not in ("_graph", "_code", "_tracer_cls"):
                members.__dict__[name] = copy.deepcopy(value, memo)
        members.training = self.training
        new = GraphModule(members, copy.deepcopy(self._graph), type(self).__name__)
        new.meta = dict(getattr(self, "meta", {}))
        return new

    def __copy__(self):
        return GraphModule(self, copy.deepcopy(self._graph), type(self).__name__)

    def __reduce__(self):
        members = {k: v for k, v in vars(self).items() if k not in ("_graph", "_tracer_cls")}
        names = {k: v for k, v in self._graph.python_code("self").globals.items() if k != "torch"}
        return reduce_graph_module, (members, self._code, names, type(self).__name__)

    def print_readable(self, print_output=True, **_):
        text = f"class {type(self).__name__}(torch.nn.Module):" + self._code.rstrip().replace("\n", "\n    ") + "\n"
        if print_output:
            print(text)
        return text

    def __str__(self):
        return "\n".join([super().__str__(), self._code, "# To see more debug info, please use `graph_module.print_readable()`"])

    def __repr__(self):
        return super().__repr__()


def reduce_graph_module(members, code, names, class_name):
    """Out of a file: the text is traced, every module in it being a leaf."""
    from ._symbolic_trace import Tracer
    from .graph import PythonCode

    class KeepModules(Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return True

    body = Module()
    body.__dict__.update(members)
    names = {**names, "torch": __import__(__name__.partition(".")[0])}
    kind = type(class_name, (Module,), {"forward": _compiled(PythonCode(code, names))})
    body.__class__ = kind
    return GraphModule(body, KeepModules().trace(body), class_name)
