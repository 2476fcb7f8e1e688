"""What a program file says of arguments and results: which containers hold which tensors, and what else is in them."""

import json

_CONTAINERS = {"list": list, "tuple": tuple}


def flattened(tree, what, tensors):
    """The tree with a number in place of each tensor, which `tensors` gets. A tensor that comes twice has one number."""
    from .._C import Tensor

    if isinstance(tree, Tensor):
        for number, known in enumerate(tensors):
            if known is tree:
                return ["tensor", number]
        tensors.append(tree)
        return ["tensor", len(tensors) - 1]
    if tree is None or isinstance(tree, (bool, int, float, str)):
        return ["value", tree]
    for name, kind in _CONTAINERS.items():
        if type(tree) is kind:
            return [name, [flattened(item, f"{what}[{i}]", tensors) for i, item in enumerate(tree)]]
    if isinstance(tree, dict) and all(isinstance(key, (str, int)) for key in tree):
        return ["dict", [[key, flattened(item, f"{what}[{key!r}]", tensors)] for key, item in tree.items()]]
    raise NotImplementedError(
        f"torch.export: {what} is a {type(tree).__name__}, which a program file does not know: tensors, numbers, strings, "
        "None, and lists, tuples and dicts of them are there"
    )


def rebuilt(structure, tensors):
    """The tree with the tensors in it."""
    kind, content = structure
    if kind == "tensor":
        return tensors[content]
    if kind == "value":
        return content
    if kind == "dict":
        return {key: rebuilt(item, tensors) for key, item in content}
    return _CONTAINERS[kind](rebuilt(item, tensors) for item in content)


def difference(expected, given, what):
    """The first place at which two structures differ, as a sentence; or None."""
    if expected[0] != given[0]:
        return f"{what} is a {given[0]} where the program has a {expected[0]}"
    if expected[0] in ("tensor", "value"):
        same = expected[1] == given[1] and type(expected[1]) is type(given[1])
        return None if same else f"{what} is {given[1]!r} where the program has {expected[1]!r}"
    if len(expected[1]) != len(given[1]):
        return f"{what} has {len(given[1])} items where the program has {len(expected[1])}"
    for i, (one, other) in enumerate(zip(expected[1], given[1])):
        if expected[0] == "dict":
            if one[0] != other[0]:
                return f"{what} has {other[0]!r} where the program has {one[0]!r}"
            i, one, other = one[0], one[1], other[1]
        if found := difference(one, other, f"{what}[{i!r}]"):
            return found
    return None


def encoded(**parts):
    return json.dumps(parts, separators=(",", ":"))


def decoded(text, description):
    """What encoded() was given."""
    try:
        parts = json.loads(text)
        parts["arguments"], parts["results"], parts["aliases"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise RuntimeError(f"{description} says nothing of its arguments and results: it was not written from Python") from None
    return parts
