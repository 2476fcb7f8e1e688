"""One step of a graph: what is called, with which arguments, and who uses the result."""

import builtins
import math
import operator
import types

import _terra_C as C

from .immutable_collections import immutable_dict, immutable_list

__all__ = ["Node", "has_side_effect", "map_aggregate", "map_arg"]

OPS = ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output", "root")
_side_effects = {builtins.print, builtins.setattr}


def has_side_effect(fn):
    """A decorator: calls of the function stay in a graph though nobody uses their result."""
    _side_effects.add(fn)
    return fn


def map_aggregate(value, function):
    """The same nest of tuples, lists, dicts and slices, with function(leaf) in place of each leaf."""
    if isinstance(value, tuple):
        items = [map_aggregate(v, function) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, list):
        return immutable_list([map_aggregate(v, function) for v in value])
    if isinstance(value, dict):
        return immutable_dict((k, map_aggregate(v, function)) for k, v in value.items())
    if isinstance(value, slice):
        return slice(*[map_aggregate(v, function) for v in (value.start, value.stop, value.step)])
    return function(value)


def map_arg(value, function):
    """The same with function(node) in place of each node."""
    if not callable(function):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(value, lambda leaf: function(leaf) if isinstance(leaf, Node) else leaf)


def _namespaces():
    """(name, module) in which functions are looked for, to be called by name in code."""
    from .. import fft, linalg, nn, special
    from ..nn import functional

    package = __name__.partition(".")[0]
    top = __import__(package)
    return (
        ("torch", top), ("torch.nn.functional", functional), ("torch.linalg", linalg), ("torch.fft", fft),
        ("torch.special", special), ("torch.nn", nn), ("math", math), ("torch.Tensor", C.Tensor),
    )  # fmt: skip


def qualified_name(function):
    """"torch.nn.functional.relu" for a function that is found there; its module's name and its own otherwise."""
    name = getattr(function, "__name__", type(function).__name__)
    if getattr(builtins, name, None) is function:
        return f"builtins.{name}"
    if getattr(operator, name, None) is function:
        return f"operator.{name}"
    for place, module in _namespaces():
        short = name.removeprefix("linalg_") if place == "torch.linalg" else name
        if vars(module).get(short) is function:
            return f"{place}.{short}"
    module = getattr(function, "__module__", None) or "unknown"
    package = __name__.partition(".")[0]
    if module.startswith(f"{package}._") and getattr(__import__(package), name, None) is function:
        return f"torch.{name}"
    return f"{module}.{name}"


class Node:
    """`op` is one of OPS; `target` the function, or the name of a method, a module or an attribute."""

    def __init__(self, graph, name, op, target, args, kwargs, return_type=None):
        if op not in OPS:
            raise AssertionError(f"op '{op}' is none of {OPS}")
        if op == "call_function":
            if not callable(target):
                raise ValueError(
                    f"Node [graph = {graph}, name = '{name}'] target {target} has type {type(target)} but a Callable is "
                    "expected"
                )
        elif not isinstance(target, str):
            raise ValueError(
                f"Node [graph = {graph}, name = '{name}'] target {target} has type {type(target)} but a str is expected"
            )
        self.graph, self.name, self.op, self.target, self.type = graph, name, op, target, return_type
        self._prev = self._next = self
        self._erased = False
        self.users, self._inputs = {}, {}
        self.meta = {}
        self._args, self._kwargs = (), immutable_dict()
        self._set_arguments(args, kwargs)

    # ---- arguments and users ----

    def _set_arguments(self, args, kwargs):
        for node in self._inputs:
            node.users.pop(self, None)
        self._inputs = {}

        def meet(node):
            self._inputs.setdefault(node)
            node.users.setdefault(self)
            return node

        self._args, self._kwargs = map_arg(tuple(args), meet), map_arg(dict(kwargs), meet)

    @property
    def args(self):
        return self._args

    @args.setter
    def args(self, args):
        self._set_arguments(args, self._kwargs)

    @property
    def kwargs(self):
        return self._kwargs

    @kwargs.setter
    def kwargs(self, kwargs):
        self._set_arguments(self._args, kwargs)

    @property
    def all_input_nodes(self):
        return list(self._inputs)

    def update_arg(self, idx, arg):
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx, arg):
        if not 0 <= idx <= len(self.args):
            raise AssertionError("insert_args index must be between 0 and len(self.args)")
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key, arg):
        self.kwargs = {**self.kwargs, key: arg}

    def replace_all_uses_with(self, replace_with, delete_user_cb=lambda user: True, *, propagate_meta=False):
        """Puts another node in this one's place among the arguments of its users; they are returned."""
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError(
                    "Called node.replace_all_uses_with(replace_with, propagate_meta=True), but replace_with already has "
                    ".meta keys"
                )
            replace_with.meta.update(self.meta)
        users = [user for user in self.users if delete_user_cb(user)]
        for user in users:
            user.replace_input_with(self, replace_with)
        return users

    def replace_input_with(self, old_input, new_input):
        def swap(node):
            return new_input if node is old_input else node

        self._set_arguments(map_arg(self._args, swap), map_arg(self._kwargs, swap))

    # ---- the place in the graph ----

    @property
    def next(self):
        return self._next

    @property
    def prev(self):
        return self._prev

    def _remove_from_list(self):
        self._prev._next, self._next._prev = self._next, self._prev

    def prepend(self, x):
        """Moves node x in front of this one."""
        if self.graph is not x.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if self is x:
            return
        x._remove_from_list()
        x._prev, x._next = self._prev, self
        self._prev._next = self._prev = x

    def append(self, x):
        """Moves node x behind this one."""
        self._next.prepend(x)

    # ---- what it does ----

    def is_impure(self, impure_random=True):
        """Whether it has to stay though nobody uses its result."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            name = getattr(self.target, "__name__", "")
            return self.target in _side_effects or name.startswith("_assert") or (impure_random and _draws(name))
        if self.op == "call_method":
            return self.target.endswith("_") and not self.target.endswith("__")
        if self.op == "call_module":
            module = self.graph.owning_module
            if module is None:
                raise AssertionError("self.graph.owning_module not set for purity check")
            return getattr(module.get_submodule(self.target), "_is_impure", False)
        return False

    @property
    def stack_trace(self):
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace):
        self.meta["stack_trace"] = trace

    def target_text(self):
        return self.target if isinstance(self.target, str) else qualified_name(self.target)

    def format_node(self, placeholder_names=None, maybe_return_typename=None, **_):
        if self.op == "output":
            return f"return {self.args[0]}"
        users = f"%{self.name} : [num_users={len(self.users)}] = {self.op}[target={self.target_text()}]"
        if self.op == "placeholder":
            return users + (f"(default={self.args[0]})" if self.args else "")
        if self.op == "get_attr":
            return users
        kwargs = ", ".join(f"{k}: {_shown(v)}" for k, v in self.kwargs.items())
        return f"{users}(args = {_shown(self.args)}, kwargs = {{{kwargs}}})"

    def __repr__(self):
        return self.name

    def __deepcopy__(self, memo):
        raise NotImplementedError("copy.deepcopy(node): a node belongs to its graph; graph.node_copy() copies it")


def _draws(name):
    return name in ("rand", "randn", "randint", "randperm", "bernoulli", "multinomial", "normal", "dropout", "rand_like",
                    "randn_like", "randint_like")  # fmt: skip


def _shown(value):
    """Arguments as Graph's text has them: nodes with a %, no quotes around names."""
    if isinstance(value, Node):
        return f"%{value.name}"
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return "(" + ", ".join(map(_shown, value)) + ("," if len(value) == 1 else "") + ")"
    if isinstance(value, list):
        return "[" + ", ".join(map(_shown, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_shown(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType)):
        return qualified_name(value)
    return str(value)
