"""Lists and dicts among the arguments of nodes. They change with the node alone, which keeps count of its users."""

__all__ = ["immutable_dict", "immutable_list"]


def _refused(self, *args, **kwargs):
    raise TypeError(
        f"'{type(self).__name__}' object does not support mutation. If you are attempting to modify the kwargs or args of "
        "a torch.fx.Node object, instead create a new copy of it and assign the copy to the node: "
        "new_args = ... # copy and mutate args; node.args = new_args"
    )


def _frozen(base, names):
    kind = type(f"immutable_{base.__name__}", (base,), dict.fromkeys(names, _refused))
    kind.__module__ = __name__
    kind.__hash__ = lambda self: hash(tuple(self.items() if base is dict else self))
    kind.__reduce__ = lambda self: (kind, (base(self),))
    return kind


immutable_list = _frozen(
    list,
    ("__delitem__", "__iadd__", "__imul__", "__setitem__", "append", "clear", "extend", "insert", "pop", "remove", "reverse",
     "sort"),
)  # fmt: skip
immutable_dict = _frozen(
    dict, ("__delitem__", "__ior__", "__setitem__", "clear", "pop", "popitem", "setdefault", "update")
)
