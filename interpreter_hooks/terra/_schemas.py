"""What the ops of a program are declared to take and to give: "ns::op(Tensor x, int n=1, *, float eps=1e-05) -> Tensor"."""

import ast
import collections.abc
import inspect
import types
import typing

from ._C import Tensor, device, dtype


class Argument:
    """One parameter of a schema."""

    def __init__(self, text, kwarg_only):
        declared, equals, default = text.partition("=")
        self.type, _, self.name = declared.strip().rpartition(" ")
        self.kwarg_only, self._has_default = kwarg_only, bool(equals)
        self.default_value = _literal(default.strip()) if equals else None

    def has_default_value(self):
        return self._has_default


def _literal(text):
    """The value of a default; words that are no value of Python's, like contiguous_format, stay words."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _parts(text):
    """The parts of a list that commas divide, brackets and quotes respected."""
    parts, depth, quote = [""], 0, ""
    for c in text:
        if quote or c in "'\"":
            quote = "" if c == quote else quote or c
        else:
            depth += (c in "([") - (c in ")]")
            if c == "," and depth == 0:
                parts.append("")
                continue
        parts[-1] += c
    return [part.strip() for part in parts if part.strip()]


class Schema:
    """The declaration of the op `name`: its text, its arguments, the types of its results."""

    def __init__(self, name, text):
        taken, arrow, given = text.rpartition("->")
        taken, given = taken.strip(), given.strip()
        if not arrow or not taken.startswith("(") or not taken.endswith(")"):
            raise ValueError(f'define(qualname, schema, ...): expected schema to look like e.g. "(Tensor x) -> Tensor" but got "{text}"')
        self.name, self._text = name, f"{name}{taken} -> {given}"
        self.arguments, kwarg_only = [], False
        for part in _parts(taken[1:-1]):
            if part == "*":
                kwarg_only = True
            else:
                self.arguments.append(Argument(part, kwarg_only))
        self.returns = _parts(given[1:-1]) if given.startswith("(") else [given]
        self._positional = [a for a in self.arguments if not a.kwarg_only]
        self._named = [a for a in self.arguments if a.kwarg_only]
        self._known = {a.name for a in self.arguments}

    def __str__(self):
        return self._text

    __repr__ = __str__

    def bound(self, args, kwargs, fill=False):
        """(positional arguments, the others) of a call. Defaults are given only where an argument behind them is, or all
        of them (fill)."""
        if len(args) > len(self._positional):
            raise RuntimeError(
                f"{self.name}() takes {len(self._positional)} positional argument(s) but {len(args)} was/were given.  "
                f"Declaration: {self}"
            )
        for name in kwargs:
            if name not in self._known:
                raise RuntimeError(f"Unknown keyword argument '{name}' for operator '{self.name}'. Schema: {self}")
        last = len(self._positional) if fill else len(args)
        for i, a in enumerate(self._positional):
            if a.name in kwargs:
                if i < len(args):
                    raise RuntimeError(f"{self.name}() got multiple values for argument '{a.name}'. Declaration: {self}")
                last = max(last, i + 1)
        positional = [*args, *(self._value(a, kwargs) for a in self._positional[len(args) : last])]
        for a in self._positional[last:]:
            self._value(a, kwargs)
        named = {a.name: self._value(a, kwargs) for a in self._named if fill or a.name in kwargs or not a.has_default_value()}
        return positional, named

    def _value(self, argument, kwargs):
        if argument.name in kwargs:
            return kwargs[argument.name]
        if argument.has_default_value():
            return argument.default_value
        raise RuntimeError(f"{self.name}() is missing value for argument '{argument.name}'. Declaration: {self}")


# ---- schemas of functions with annotations ----

_TYPES = {
    Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str", dtype: "ScalarType", device: "Device",
    typing.Union[int, float, bool]: "Scalar",
}  # fmt: skip


def _type_text(annotation):
    """The type as schemas say it, or None where they have no word for it."""
    try:
        if annotation in _TYPES:
            return _TYPES[annotation]
    except TypeError:  # not hashable
        return None
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType) and len(inner) == 2 and type(None) in inner:
        inner, mark = [t for t in inner if t is not type(None)], "?"
    elif origin in (list, collections.abc.Sequence) and len(inner) == 1:
        mark = "[]"
    else:
        return None
    text = _type_text(inner[0])
    return text and text + mark


def _returned_text(annotation):
    if annotation is None or annotation is type(None):
        return "()"
    if typing.get_origin(annotation) is tuple:
        parts = [_type_text(t) for t in typing.get_args(annotation)]
        return f"({', '.join(parts)})" if all(parts) else None
    return _type_text(annotation)


def _default_text(value):
    if isinstance(value, str):
        return f'"{value}"'
    if value is None or isinstance(value, (bool, int, float)):
        return str(value)
    return str(value).rpartition(".")[2] if isinstance(value, (dtype, device)) else None


def infer_schema(prototype_function, /, *, mutates_args, op_name=None):
    """The schema of a function whose parameters and results are annotated, with the named arguments marked as written."""
    signature = inspect.signature(prototype_function, eval_str=True)

    def refuse(what):
        raise ValueError(f"infer_schema(func): {what} Got func with signature {signature})")

    parts, seen_star = [], False
    for i, p in enumerate(signature.parameters.values()):
        if p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
            refuse("We do not support positional-only args, varargs, or varkwargs.")
        if p.annotation is p.empty:
            refuse(f"Parameter {p.name} must have a type annotation.")
        text = _type_text(p.annotation)
        if text is None:
            refuse(f"Parameter {p.name} has unsupported type {p.annotation}.")
        if mutates_args == "unknown" or p.name in mutates_args:
            if text.startswith("Tensor"):
                text = f"Tensor(a{i}!)" + text.removeprefix("Tensor")
            elif mutates_args != "unknown":
                refuse(f"Parameter {p.name} is in mutable_args but only Tensors or collections of Tensors can be mutated.")
        if p.kind is p.KEYWORD_ONLY and not seen_star:
            seen_star = True
            parts.append("*")
        if p.default is not p.empty:
            default = _default_text(p.default)
            if default is None:
                refuse(f"Parameter {p.name} has an unsupported default value type {type(p.default)}.")
            parts.append(f"{text} {p.name}={default}")
        else:
            parts.append(f"{text} {p.name}")
    if mutates_args != "unknown" and (unknown := set(mutates_args) - set(signature.parameters)):
        refuse(f"{sorted(unknown)} in mutates_args were not found in the custom op's signature.")
    given = None if signature.return_annotation is signature.empty else _returned_text(signature.return_annotation)
    if given is None and signature.return_annotation is not None:
        refuse("No return type annotation was provided, or one that has no word in a schema. Please add one.")
    return f"{op_name or ''}({', '.join(parts)}) -> {given or '()'}"
