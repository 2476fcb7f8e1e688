"""Examples into a batch."""

import re
from collections import abc

import _terra_C as C

np_str_obj_array_pattern = re.compile(r"[SaUO]")  # the kinds of numpy arrays that hold no numbers
_UNKNOWN = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


def default_convert(data):
    """Numpy arrays inside lists, tuples and dicts into tensors; all else as it is."""
    if type(data).__module__ == "numpy":
        return C.as_tensor(data)
    if isinstance(data, abc.Mapping):
        return {key: default_convert(value) for key, value in data.items()}
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(value) for value in data))
    if isinstance(data, (list, tuple)):
        return [default_convert(value) for value in data]
    return data


def collate(batch, *, collate_fn_map=None):
    """One batch of the examples: the first type in collate_fn_map that fits the first of them says how; lists, tuples and
    dicts are collated part by part."""
    first, functions = batch[0], {} if collate_fn_map is None else collate_fn_map
    function = functions.get(type(first))
    if function is None:
        function = next((f for kind, f in functions.items() if isinstance(first, kind)), None)
    if function is not None:
        return function(batch, collate_fn_map=functions)
    if type(first).__module__ == "numpy":
        return _collate_numpy(batch, first, functions)
    if isinstance(first, abc.Mapping):
        collated = {key: collate([example[key] for example in batch], collate_fn_map=functions) for key in first}
        try:
            return type(first)(collated)
        except TypeError:  # a mapping that is not made from a dict
            return collated
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(collate(values, collate_fn_map=functions) for values in zip(*batch)))
    if isinstance(first, abc.Sequence):
        if any(len(example) != len(first) for example in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return [collate(values, collate_fn_map=functions) for values in zip(*batch)]
    raise TypeError(_UNKNOWN.format(type(first)))


def _collate_numpy(batch, first, functions):
    if type(first).__name__ == "ndarray":
        return collate_numpy_array_fn(batch, collate_fn_map=functions)
    return collate_numpy_scalar_fn(batch, collate_fn_map=functions)


def collate_tensor_fn(batch, *, collate_fn_map=None):
    return C.stack(batch, 0)


def collate_numpy_array_fn(batch, *, collate_fn_map=None):
    if batch[0].dtype.kind in "SaUO":
        raise TypeError(_UNKNOWN.format(batch[0].dtype))
    return collate([C.as_tensor(example) for example in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch, *, collate_fn_map=None):
    return C.as_tensor(batch)


def collate_float_fn(batch, *, collate_fn_map=None):
    return C.tensor(batch, dtype=C.float64)


def collate_int_fn(batch, *, collate_fn_map=None):
    return C.tensor(batch)


def collate_str_fn(batch, *, collate_fn_map=None):
    return batch


default_collate_fn_map = {
    C.Tensor: collate_tensor_fn, float: collate_float_fn, int: collate_int_fn, str: collate_str_fn, bytes: collate_str_fn,
}  # fmt: skip


def default_collate(batch):
    """Stacks what the examples have in the same place. Programs add types of their own to default_collate_fn_map."""
    return collate(batch, collate_fn_map=default_collate_fn_map)
