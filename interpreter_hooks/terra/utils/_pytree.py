"""Nested containers as a list of leaves and a description of what held them."""

import dataclasses
from collections import OrderedDict, defaultdict, deque, namedtuple  # noqa: F401
from typing import Any, Callable

import _terra_C as C

from .._names import lazily

PyTree = Any


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    idx: int

    def __str__(self):
        return f"[{self.idx!r}]"

    def get(self, sequence):
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True)
class MappingKey:
    key: Any

    def __str__(self):
        return f"[{self.key!r}]"

    def get(self, mapping):
        return mapping[self.key]


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    name: str

    def __str__(self):
        return f".{self.name}"

    def get(self, obj):
        return getattr(obj, self.name)


@dataclasses.dataclass
class NodeDef:
    """How a class of containers is taken apart: `flatten` gives (children, context), `unflatten(children, context)` the
    container."""

    type: type
    flatten: Callable
    unflatten: Callable
    keys: Callable

    @property
    def flatten_fn(self):
        return self.flatten

    @property
    def unflatten_fn(self):
        return self.unflatten


def is_namedtuple_class(cls):
    return isinstance(cls, type) and issubclass(cls, tuple) and isinstance(getattr(cls, "_fields", None), tuple)


def is_namedtuple(obj):
    return is_namedtuple_class(type(obj))


is_namedtuple_instance = is_namedtuple


def is_structseq_class(cls):
    """Whether it is a class of tuples with names that C code has made, like time.struct_time and torch.return_types.max."""
    counts = ("n_fields", "n_sequence_fields", "n_unnamed_fields")
    return isinstance(cls, type) and cls.__bases__ == (tuple,) and all(isinstance(getattr(cls, n, None), int) for n in counts)


def is_structseq(obj):
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def is_structseq_instance(obj):
    return is_structseq_class(type(obj))


def _is_result(obj):
    """A result of several tensors, such as that of torch.max."""
    return type(obj).__module__ == "torch.return_types"


def _indices(container, context):
    return [SequenceKey(i) for i in range(len(container))]


def _mapping_keys(container, context):
    return [MappingKey(key) for key in container]


def _dict_from(children, keys):
    return dict(zip(keys, children))


SUPPORTED_NODES = {}


def register_pytree_node(cls, flatten_fn, unflatten_fn, *, serialized_type_name=None, flatten_with_keys_fn=None, **_):
    """From now on instances of exactly this class are containers."""
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")

    def keys(container, context):
        return [key for key, _ in flatten_with_keys_fn(container)[0]]

    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, keys if flatten_with_keys_fn else _indices)


_register_pytree_node = register_pytree_node


def register_dataclass(cls, *, field_names=None, drop_field_names=None, serialized_type_name=None):
    names = field_names or [field.name for field in dataclasses.fields(cls) if field.name not in (drop_field_names or ())]

    def flatten(obj):
        present = [name for name in names if getattr(obj, name) is not None]
        return [getattr(obj, name) for name in present], present

    register_pytree_node(cls, flatten, lambda children, present: cls(**dict(zip(present, children))))
    SUPPORTED_NODES[cls].keys = lambda obj, present: [GetAttrKey(name) for name in present]


SUPPORTED_NODES.update({
    tuple: NodeDef(tuple, lambda t: (list(t), None), lambda c, _: tuple(c), _indices),
    C.Size: NodeDef(C.Size, lambda t: (list(t), None), lambda c, _: tuple(c), _indices),
    list: NodeDef(list, lambda t: (list(t), None), lambda c, _: list(c), _indices),
    dict: NodeDef(dict, lambda t: (list(t.values()), list(t)), _dict_from, _mapping_keys),
    OrderedDict: NodeDef(
        OrderedDict, lambda t: (list(t.values()), list(t)), lambda c, keys: OrderedDict(zip(keys, c)), _mapping_keys
    ),
    defaultdict: NodeDef(
        defaultdict, lambda t: (list(t.values()), [t.default_factory, list(t)]),
        lambda c, context: defaultdict(context[0], zip(context[1], c)), _mapping_keys,
    ),
    deque: NodeDef(deque, lambda t: (list(t), t.maxlen), lambda c, maxlen: deque(c, maxlen=maxlen), _indices),
})  # fmt: skip
_NAMED = NodeDef(
    namedtuple, lambda t: (list(t), type(t)), lambda c, kind: kind(*c), lambda t, kind: [GetAttrKey(f) for f in kind._fields]
)
_RESULT = NodeDef(tuple, lambda t: (list(t), None), lambda c, _: tuple(c), _indices)


PyTree = Any
SUPPORTED_NODES[namedtuple] = _NAMED


def _get_node_type(tree):
    """The key of a container in SUPPORTED_NODES: its class, or namedtuple for all of those."""
    return namedtuple if is_namedtuple(tree) else type(tree)


def _tuple_flatten(t):
    return list(t), None


def _list_flatten(t):
    return list(t), None


def _dict_flatten(t):
    return list(t.values()), list(t)


def _namedtuple_flatten(t):
    return list(t), type(t)


def _dict_flatten_with_keys(d):
    return [(MappingKey(key), value) for key, value in d.items()], list(d)


def _list_flatten_with_keys(t):
    return [(SequenceKey(i), value) for i, value in enumerate(t)], None


_tuple_flatten_with_keys = _list_flatten_with_keys


def _tuple_unflatten(values, context):
    return tuple(values)


def _list_unflatten(values, context):
    return list(values)


def _dict_unflatten(values, context):
    return _dict_from(values, context)


def _namedtuple_unflatten(values, context):
    return context(*values)


def _node_of(tree):
    found = SUPPORTED_NODES.get(type(tree))
    return found or (_NAMED if is_namedtuple(tree) else _RESULT if _is_result(tree) else None)


class TreeSpec:
    """What held the leaves: a container, its context and the specs of its children; of a leaf the type is None."""

    __slots__ = ("_children", "_context", "num_leaves", "type")

    def __init__(self, type, context=None, children_specs=()):
        self.type, self._context, self._children = type, context, list(children_specs)
        self.num_leaves = 1 if type is None else sum(child.num_leaves for child in self._children)

    @property
    def context(self):
        return self._context

    @property
    def children_specs(self):
        return self._children

    @property
    def num_children(self):
        return len(self._children)

    def children(self):
        return list(self._children)

    def child(self, index):
        return self._children[index]

    def is_leaf(self):
        return self.type is None

    def unflatten(self, leaves):
        return tree_unflatten(leaves, self)

    def _key(self):
        return self.type, self._context, self._children

    def __eq__(self, other):
        return isinstance(other, TreeSpec) and self._key() == other._key()

    def __hash__(self):
        return hash((self.type, self.num_leaves, len(self._children)))

    def __repr__(self, indent=0):
        if self.type is None:
            return "*"
        gap = ",\n" + " " * (indent + 2)
        children = gap.join([child.__repr__(indent + 2) for child in self._children])
        return f"TreeSpec({self.type.__name__}, {self._context}, [{children}])"


def LeafSpec():
    return TreeSpec(None)


def _walk(tree, is_leaf, leaves):
    node = None if is_leaf is not None and is_leaf(tree) else _node_of(tree)
    if node is None:
        leaves.append(tree)
        return TreeSpec(None)
    children, context = node.flatten(tree)
    kind = node.type if node.type is namedtuple else type(tree)
    return TreeSpec(kind, context, [_walk(child, is_leaf, leaves) for child in children])


def tree_flatten(tree, is_leaf=None):
    """(leaves, spec)."""
    leaves = []
    return leaves, _walk(tree, is_leaf, leaves)


def tree_unflatten(leaves, treespec):
    if not isinstance(treespec, TreeSpec):
        raise TypeError(f"tree_unflatten(leaves, treespec): Expected `treespec` to be instance of TreeSpec but got item of type {type(treespec)}.")
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(leaves)} but the spec refers to a pytree that holds "
            f"{treespec.num_leaves} items ({treespec})."
        )
    return _built(treespec, iter(leaves))


def _built(spec, leaves):
    if spec.type is None:
        return next(leaves)
    children = [_built(child, leaves) for child in spec._children]
    if spec.type is namedtuple:
        return spec._context(*children)
    node = SUPPORTED_NODES.get(spec.type)
    return spec.type(children) if node is None else node.unflatten(children, spec._context)


def tree_iter(tree, is_leaf=None):
    return iter(tree_leaves(tree, is_leaf))


def tree_leaves(tree, is_leaf=None):
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree, is_leaf=None):
    return tree_flatten(tree, is_leaf)[1]


def tree_is_leaf(tree, is_leaf=None):
    return (is_leaf is not None and is_leaf(tree)) or _node_of(tree) is None


_is_leaf = tree_is_leaf


def _up_to(spec, tree):
    """The parts of `tree` that stand where `spec` has leaves."""
    if spec.type is None:
        return [tree]
    node = _node_of(tree)
    kind = type(tree) if node is None or node.type is not namedtuple else namedtuple
    if node is None or kind is not spec.type:
        raise ValueError(f"Node type mismatch; expected {spec.type!r}, but got {type(tree)!r}.")
    children, _ = node.flatten(tree)
    if spec.type in (dict, OrderedDict) and isinstance(tree, dict):
        if set(spec._context) != set(tree):
            raise ValueError(f"Node keys mismatch; expected {spec._context}, but got {list(tree)}.")
        children = [tree[key] for key in spec._context]
    if len(children) != len(spec._children):
        raise ValueError(f"Node arity mismatch; expected {len(spec._children)}, but got {len(children)}.")
    return [part for child, own in zip(spec._children, children) for part in _up_to(child, own)]


def tree_map(func, tree, *rests, is_leaf=None):
    """The same containers over what func gives for each leaf, with the leaves of other trees beside it."""
    leaves, spec = tree_flatten(tree, is_leaf)
    return tree_unflatten([func(*row) for row in zip(leaves, *(_up_to(spec, rest) for rest in rests))], spec)


def tree_map_(func, tree, *rests, is_leaf=None):
    """Calls func for the leaves and gives the tree itself."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def _chosen(kinds):
    if isinstance(kinds, type) or isinstance(kinds, tuple):
        return lambda value: isinstance(value, kinds)
    return kinds if callable(kinds) else lambda value: isinstance(value, kinds)


def map_only(type_or_types_or_pred, /):
    """A decorator: leaves of other types are left as they are."""
    chosen = _chosen(type_or_types_or_pred)
    return lambda func: lambda value: func(value) if chosen(value) else value


def tree_map_only(type_or_types_or_pred, /, func, tree, is_leaf=None):
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(type_or_types_or_pred, /, func, tree, is_leaf=None):
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred, tree, is_leaf=None):
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred, tree, is_leaf=None):
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_all_only(type_or_types_or_pred, /, pred, tree, is_leaf=None):
    chosen = _chosen(type_or_types_or_pred)
    return all(pred(leaf) for leaf in tree_leaves(tree, is_leaf) if chosen(leaf))


def tree_any_only(type_or_types_or_pred, /, pred, tree, is_leaf=None):
    chosen = _chosen(type_or_types_or_pred)
    return any(pred(leaf) for leaf in tree_leaves(tree, is_leaf) if chosen(leaf))


def arg_tree_leaves(*args, **kwargs):
    return tree_leaves((args, kwargs))


def _with_paths(tree, is_leaf, path):
    node = None if is_leaf is not None and is_leaf(tree) else _node_of(tree)
    if node is None:
        return [(path, tree)]
    children, context = node.flatten(tree)
    keys = node.keys(tree, context)
    return [pair for key, child in zip(keys, children) for pair in _with_paths(child, is_leaf, (*path, key))]


def tree_leaves_with_path(tree, is_leaf=None):
    return _with_paths(tree, is_leaf, ())


def tree_flatten_with_path(tree, is_leaf=None):
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func, tree, *rests, is_leaf=None):
    pairs, spec = tree_flatten_with_path(tree, is_leaf)
    others = [_up_to(spec, rest) for rest in rests]
    return tree_unflatten([func(*pair, *row) for pair, *row in zip(pairs, *others)], spec)


def keystr(kp):
    return "".join(map(str, kp))


def key_get(obj, kp):
    for key in kp:
        obj = key.get(obj)
    return obj


__getattr__ = lazily(__name__)
