"""How the arguments of a call become those of an op: which of its forms takes them, in the order of its schema, without those that
are its defaults."""

import _terra_C as C

from . import schemas

NAMES = {"input": "self", "axis": "dim", "keepdims": "keepdim", "x": "self", "x1": "self", "x2": "other"}
FACTORIES = frozenset((
    "arange", "empty", "eye", "full", "linspace", "ones", "rand", "randint", "randn", "randperm", "zeros", "empty_like",
    "full_like", "new_empty", "new_full", "new_ones", "new_zeros", "ones_like", "rand_like", "randn_like", "zeros_like",
))  # fmt: skip


class Unfit(Exception):
    """The form doesn't take these arguments."""


def _number(value, kind):
    return isinstance(value, kind) and not isinstance(value, C.Tensor)


def _taken(value, type_text, lenient):
    """The value as an argument of that type."""
    if type_text.endswith("?"):
        return None if value is None else _taken(value, type_text[:-1], lenient)
    base, bracket, count = type_text.partition("[")
    if bracket:
        return _list_taken(value, base, count.rstrip("]?"))
    if base.startswith("Tensor"):
        fits = isinstance(value, C.Tensor) or (lenient and _number(value, (int, float, complex)))
    elif base == "Scalar":
        fits = _number(value, (int, float, complex)) or (lenient and isinstance(value, C.Tensor) and value.dim() == 0)
    elif base in ("int", "SymInt"):
        fits = _number(value, int) or hasattr(value, "__index__") and lenient
    elif base == "float":
        if _number(value, int):
            return float(value)
        fits = _number(value, float)
    elif base == "bool":
        fits = isinstance(value, (bool, int))
    elif base == "ScalarType":
        fits = isinstance(value, C.dtype) or value in (int, float, bool)
    elif base == "Device":
        return C.device(value)
    else:
        fits = value is not None and not isinstance(value, C.Tensor)
    if not fits:
        raise Unfit
    return value


def _list_taken(value, base, count):
    if base.startswith("Tensor"):
        if not isinstance(value, (list, tuple)) or not all(item is None or isinstance(item, C.Tensor) for item in value):
            raise Unfit
        return list(value)
    if count and _number(value, int) and not isinstance(value, bool):
        return [value] * int(count)
    if not isinstance(value, (list, tuple)) or any(isinstance(item, (str, list, tuple)) for item in value):
        raise Unfit
    return list(value)


def _spread(parameters, args):
    """Sizes that were given one by one, x.view(2, 3), as the list that they are."""
    for place, parameter in enumerate(parameters):
        if parameter.type.startswith(("SymInt[", "int[")) and place < len(args):
            rest = args[place:]
            if (
                len(rest) > 1
                and all(_number(value, int) for value in rest)
                or rest
                and place + 1 == len(parameters)
                and _number(rest[0], int)
            ):
                return [*args[:place], list(rest)] if not parameter.type.endswith("[1]") or len(rest) > 1 else args
    return args


def bound(schema, args, kwargs, lenient):
    """{name: value} of a call of a form with that schema. Raises Unfit."""
    positional = [a for a in schema.arguments if not a.kwarg_only]
    if len(args) > len(positional) or (positional and positional[-1].type.endswith("[]")):
        args = _spread(positional, args)
        if len(args) > len(positional):
            raise Unfit
    known = {a.name: a for a in schema.arguments}
    values = {a.name: _taken(value, a.type, lenient) for a, value in zip(positional, args)}
    for name, value in kwargs.items():
        if name not in known:
            name = NAMES.get(name, name)
        if name not in known and name == "self" and positional:
            name = positional[0].name
        if name not in known or name in values:
            raise Unfit
        parameter = known[name]
        if value is None and parameter.has_default_value() and parameter.default_value is not None:
            raise Unfit
        values[name] = _taken(value, parameter.type, lenient)
    if any(a.name not in values and not a.has_default_value() for a in schema.arguments):
        raise Unfit
    return values


def _is_default(argument, value):
    default = argument.default_value
    count = argument.type.partition("[")[2].rstrip("]?")
    if count and isinstance(default, int):  # one number for all
        default = [default] * int(count)
    if isinstance(default, str) and not isinstance(value, str):
        return str(value).endswith(default) and not isinstance(value, C.Tensor)
    if isinstance(value, C.Tensor) or type(value) is not type(default):
        return False
    return value == default


def arranged(schema, values):
    """(positional arguments, the others) as an op gets them: what is a default isn't given where nothing is behind it."""
    positional, named = [], {}
    for argument in schema.arguments:
        given = argument.name in values
        value = values[argument.name] if given else argument.default_value
        default = argument.has_default_value() and (not given or _is_default(argument, value))
        if argument.kwarg_only:
            if not default:
                named[argument.name] = value
        else:
            positional.append((value, default))
    while positional and positional[-1][1]:
        positional.pop()
    return tuple(value for value, _ in positional), named


def named(schema, args, kwargs):
    """{name: value} of a call of an op."""
    return {a.name: value for a, value in zip((a for a in schema.arguments if not a.kwarg_only), args)} | kwargs


def chosen(name, args, kwargs):
    """(form, positional arguments, the others) of a call of the op; None if no form takes them. Of one that isn't listed it's as it
    was called."""
    forms = schemas.forms().get(name, {})
    if name in FACTORIES:
        like = {} if name.endswith("_like") or name.startswith("new_") else {"device": C._get_default_device()}
        kwargs = {**like, "pin_memory": False, **kwargs}
    kwargs = {key: value for key, value in kwargs.items() if value is not None or key not in ("dtype", "layout", "generator")}
    for lenient in (False, True):
        for form in forms:
            if f"{name.removesuffix('_')}.{form}" in schemas.INNER:
                continue
            schema = schemas.schema(name, form)
            try:
                return form, *arranged(schema, bound(schema, args, kwargs, lenient))
            except Unfit:
                continue
    return None if forms else ("default", args, kwargs)
