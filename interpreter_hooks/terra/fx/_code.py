"""A graph as the text of a Python function."""

import builtins
import dataclasses
import keyword
import re

import _terra_C as C

from .node import Node, map_arg, qualified_name

__all__ = ["PythonCode", "function_text"]

_UNARY = {"pos": "+{}", "neg": "-{}", "invert": "~{}"}
_BINARY = {
    "add": "+", "sub": "-", "mul": "*", "floordiv": "//", "truediv": "/", "mod": "%", "pow": "**", "lshift": "<<",
    "rshift": ">>", "and_": "&", "or_": "|", "xor": "^", "matmul": "@", "eq": "==", "ne": "!=", "lt": "<", "gt": ">",
    "le": "<=", "ge": ">=",
}  # fmt: skip
_MEANT = ("inf", "nan", "NoneType", "torch", "device", "self")  # by code that is written
OPERATORS = {**_UNARY, **{name: f"{{}} {sign} {{}}" for name, sign in _BINARY.items()}, "getitem": "{}[{}]"}


@dataclasses.dataclass
class PythonCode:
    src: str
    globals: dict


class Names:
    """Gives each thing a name of its own that Python can write: add, add_1, add_2."""

    def __init__(self):
        self._names, self._counts = set(), {}

    def create(self, candidate):
        name = re.sub(r"[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
        name = f"_{name}" if name[0].isdigit() else name
        stem, _, number = name.rpartition("_")
        base, count = (stem, int(number)) if stem and number.isdigit() else (name, 0)
        if count:
            name = f"{base}_{count}"
        count = count or self._counts.get(base, 0)
        while self._is_taken(name):
            count += 1
            name = f"{base}_{count}"
        self._counts[base] = count
        self._names.add(name)
        return name

    def _is_taken(self, name):
        return name in self._names or name in _MEANT or keyword.iskeyword(name) or hasattr(builtins, name)


def member(base, path):
    """self.layer1, or getattr(self, "0") where that is no name."""
    for part in path.split("."):
        base = f"{base}.{part}" if part.isidentifier() else f'getattr({base}, "{part}")'
    return base


class _Writer:
    def __init__(self, graph, root):
        self._graph, self._root = graph, root
        self._globals = {}
        self._wrapped = {}

    def _global(self, function):
        """The name by which code calls a function."""
        name = qualified_name(function)
        place, _, last = name.rpartition(".")
        if place == "builtins":
            return last
        if place == "torch" or place.startswith("torch."):
            self._globals["torch"] = __import__(__name__.partition(".")[0])
            return name
        wanted = name.replace(".", "_").replace("<", "_").replace(">", "_")
        wanted = f"_{wanted}" if place == "operator" else wanted
        if not wanted.isidentifier():
            wanted = "_function"
        chosen, count = wanted, 0
        while self._globals.get(chosen, function) is not function:
            count += 1
            chosen = f"{wanted}_{count}"
        self._globals[chosen] = function
        return chosen

    def value(self, value):
        """Source text of an argument."""
        if isinstance(value, Node):
            return value.name
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return f"{self._global(type(value))}({', '.join(map(self.value, value))})"
        if isinstance(value, C.Size):
            return f"{self._global(C.Size)}([{', '.join(map(self.value, value))}])"
        if isinstance(value, tuple):
            return "(" + ", ".join(map(self.value, value)) + ("," if len(value) == 1 else "") + ")"
        if isinstance(value, list):
            return "[" + ", ".join(map(self.value, value)) + "]"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{self.value(k)}: {self.value(v)}" for k, v in value.items()) + "}"
        if isinstance(value, slice):
            return f"slice({self.value(value.start)}, {self.value(value.stop)}, {self.value(value.step)})"
        if isinstance(value, (C.dtype, C.layout, C.memory_format)):
            self._globals["torch"] = __import__(__name__.partition(".")[0])
            return repr(value)
        if isinstance(value, C.device):
            self._globals["device"] = C.device
            return repr(value)
        if isinstance(value, float) and (value != value or value in (float("inf"), -float("inf"))):
            self._globals.update(inf=float("inf"), nan=float("nan"))
            return repr(value)
        if isinstance(value, (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))):
            return repr(value)
        if callable(value):
            return self._global(value)
        name = f"_{type(value).__name__}_{len(self._globals)}"
        self._globals[name] = value
        return name

    def arguments(self, args, kwargs):
        return ", ".join([*map(self.value, args), *(f"{key} = {self.value(v)}" for key, v in kwargs.items())])

    def call(self, node):
        name = getattr(node.target, "__name__", "")
        if qualified_name(node.target) == f"operator.{name}" and name in OPERATORS and not node.kwargs:
            form = OPERATORS[name]
            if form.count("{}") == len(node.args):
                return form.format(*map(self.value, node.args))
        text = self._global(node.target)
        if text == "getattr" and len(node.args) == 2 and isinstance(node.args[0], Node):
            return member(node.args[0].name, node.args[1])
        if node.meta.get("is_wrapped"):
            self._wrapped.setdefault(text)
        return f"{text}({self.arguments(node.args, node.kwargs)})"

    def line(self, node):
        if node.op == "call_function":
            text = self.call(node)
        elif node.op == "call_method":
            text = f"{member(self.value(node.args[0]), node.target)}({self.arguments(node.args[1:], node.kwargs)})"
        elif node.op == "call_module":
            text = f"{member(self._root, node.target)}({self.arguments(node.args, node.kwargs)})"
        else:
            text = member(self._root, node.target)
        return f"{node.name} = {text}"

    def placeholder(self, node, body):
        plain = node.target.replace("*", "")
        if plain != node.name:
            body.append(f"{node.name} = {plain}\n")
        kind = f" : {self.value(node.type)}" if isinstance(node.type, type) else ""
        return node.target + kind + (f" = {self.value(node.args[0])}" if node.args else "")

    def write(self):
        last_uses = _last_uses(self._graph)
        parameters, body = [], []
        for node in self._graph.nodes:
            if node.op == "placeholder":
                parameters.append(self.placeholder(node, body))
            elif node.op == "output":
                body.append(f"return {self.value(node.args[0])}\n")
            else:
                done = last_uses.get(node, []) + ([] if node.users else [node])
                names = " = ".join([n.name for n in done] + ["None"])
                body.append(self.line(node) + (f";  {names}\n" if done else "\n"))
        lines = "\n".join("    " + line for line in "".join(body or ["pass\n"]).split("\n"))
        wraps = "\n".join(f'torch.fx._symbolic_trace.wrap("{name}")' for name in self._wrapped)
        if wraps:
            self._globals["torch"] = __import__(__name__.partition(".")[0])
        head = f"def forward({', '.join([self._root, *parameters])}):"
        return PythonCode(f"\n{wraps}\n\n{head}\n{lines}", self._globals)


def _last_uses(graph):
    """{node: those that nobody needs after it}"""
    seen, last = set(), {}
    for user in reversed(graph.nodes):

        def meet(node, user=user):
            if node not in seen:
                seen.add(node)
                last.setdefault(user, []).append(node)
            return node

        map_arg(user.args, meet)
        map_arg(user.kwargs, meet)
    return last


def function_text(graph, root):
    return _Writer(graph, root).write()
