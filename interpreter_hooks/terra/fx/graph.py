"""A list of nodes that can be changed at any place."""

import contextlib

from . import _code
from .node import Node, map_arg

__all__ = ["CodeGen", "Graph", "PythonCode"]

PythonCode = _code.PythonCode


class CodeGen:
    """The way in which a graph becomes Python: as a function of its placeholders."""


class _NodeList:
    def __init__(self, graph, backwards=False):
        self._graph, self._backwards = graph, backwards

    def __len__(self):
        return self._graph._length

    def __iter__(self):
        root = self._graph._root
        node = root._prev if self._backwards else root._next
        while node is not root:
            if not node._erased:
                yield node
            node = node._prev if self._backwards else node._next

    def __reversed__(self):
        return _NodeList(self._graph, not self._backwards)


class Graph:
    def __init__(self, owning_module=None, tracer_cls=None, tracer_extras=None):
        self._root = Node(self, "", "root", "", (), {})
        self._insert = self._root.prepend
        self._length = 0
        self._names = _code.Names()
        self.owning_module = owning_module
        self._tracer_cls, self._tracer_extras = tracer_cls, tracer_extras
        self._codegen = CodeGen()

    @property
    def nodes(self):
        return _NodeList(self)

    def output_node(self):
        return next(node for node in reversed(self.nodes) if node.op == "output")

    def find_nodes(self, *, op, target=None, sort=True):
        return [n for n in self.nodes if n.op == op and (target is None or n.target == target)]

    # ---- new nodes ----

    def create_node(self, op, target, args=None, kwargs=None, name=None, type_expr=None):
        """A new node at the place of insertion."""
        args = () if args is None else args
        kwargs = {} if kwargs is None else kwargs
        if not isinstance(args, tuple):
            raise AssertionError(f"args must be a tuple, got {type(args)}")
        candidate = name if name is not None else _candidate(target)
        node = Node(self, self._names.create(candidate), op, target, args, kwargs, type_expr)
        self._insert(node)
        self._length += 1
        return node

    def placeholder(self, name, type_expr=None, default_value=...):
        return self.create_node("placeholder", name, () if default_value is ... else (default_value,), type_expr=type_expr)

    def get_attr(self, qualified_name, type_expr=None):
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_function(self, the_function, args=None, kwargs=None, type_expr=None, name=None):
        return self.create_node("call_function", the_function, args, kwargs, name=name, type_expr=type_expr)

    def call_method(self, method_name, args=None, kwargs=None, type_expr=None):
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_module(self, module_name, args=None, kwargs=None, type_expr=None):
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def output(self, result, type_expr=None):
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def node_copy(self, node, arg_transform=lambda x: x):
        """A node of another graph, with arg_transform(node) for the nodes among its arguments."""
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        copy = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        copy.meta = dict(node.meta)
        return copy

    def graph_copy(self, g, val_map, return_output_node=False):
        """All nodes of another graph; what it returns, in terms of this one."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda n: val_map[n])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def erase_node(self, to_erase):
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in the graph: {to_erase.users}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            return
        to_erase._remove_from_list()
        to_erase._erased = True
        self._length -= 1
        to_erase._set_arguments((), {})

    # ---- where new nodes go ----

    @contextlib.contextmanager
    def _inserting(self, insert):
        before, self._insert = self._insert, insert
        try:
            yield
        finally:
            self._insert = before

    def inserting_before(self, n=None):
        """In this context new nodes go in front of a node, or to the beginning. Also a plain call sets the place."""
        return self._place(n, lambda node: node.prepend, lambda: self._root.append)

    def inserting_after(self, n=None):
        def behind(node):
            last = node

            def insert(new):
                nonlocal last
                last.append(new)
                last = new

            return insert

        return self._place(n, behind, lambda: self._root.prepend)

    def _place(self, node, at, otherwise):
        if node is not None and node.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return self._inserting(otherwise() if node is None else at(node))

    # ---- the whole ----

    def python_code(self, root_module, **_):
        return _code.function_text(self, root_module)

    def __str__(self):
        rows = [node.format_node() for node in self.nodes]
        return "graph():" + "".join(f"\n    {row}" for row in rows)

    def print_tabular(self):
        """One row per node."""
        rows = [("opcode", "name", "target", "args", "kwargs")]
        rows += [tuple(map(str, (n.op, n.name, n.target, n.args, n.kwargs))) for n in self.nodes]
        widths = [max(map(len, column)) for column in zip(*rows)]
        rows.insert(1, tuple("-" * width for width in widths))
        for row in rows:
            print("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip())

    def lint(self):
        """Raises RuntimeError where a node uses one that comes later or is of another graph, or a target is not there."""
        seen, names = set(), set()

        def check(argument, node):
            if argument.graph is not self:
                raise RuntimeError(f"Argument '{argument}' of Node '{node}' does not belong to this Graph, but was used!")
            if argument not in seen:
                raise RuntimeError(
                    f"Argument '{argument}' of Node '{node}' was used before it has been defined! Please check that Nodes "
                    f"in the graph are topologically ordered\n{self}"
                )
            return argument

        for node in self.nodes:
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            map_arg(node.args, lambda n: check(n, node))  # noqa: B023
            map_arg(node.kwargs, lambda n: check(n, node))  # noqa: B023
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            if node.op in ("get_attr", "call_module") and self.owning_module is not None:
                owner = self.owning_module
                for part in node.target.split("."):
                    if not hasattr(owner, part):
                        raise RuntimeError(f"Node {node} target {node.target} references nonexistent attribute {part}")
                    owner = getattr(owner, part)
            seen.add(node)
            names.add(node.name)

    def eliminate_dead_code(self, is_impure_node=None):
        """Erases nodes whose results nobody uses; whether there were any."""
        self.lint()
        changed = False
        impure = is_impure_node if is_impure_node is not None else Node.is_impure
        for node in reversed(self.nodes):
            if not node.users and not impure(node):
                self.erase_node(node)
                changed = True
        return changed

    def __deepcopy__(self, memo=None):
        memo = {} if memo is None else memo
        new = Graph(tracer_cls=self._tracer_cls)
        nodes = {}
        result = new.graph_copy(self, nodes, return_output_node=True)
        if result is not None:
            value, output = result
            new.create_node("output", "output", (value,), type_expr=output.type).meta = dict(output.meta)
        memo.update({id(old): copied for old, copied in nodes.items()})
        return new

    def set_codegen(self, codegen):
        self._codegen = codegen


def _candidate(target):
    """The name that a node would like to have."""
    if isinstance(target, str):
        return target
    name = getattr(target, "__name__", type(target).__name__)
    return name if name.islower() else "".join(
        f"_{c.lower()}" if c.isupper() and i and not name[i - 1].isupper() else c.lower() for i, c in enumerate(name)
    ).lstrip("_")
