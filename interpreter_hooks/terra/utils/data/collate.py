"""Examples into a batch."""

from collections import abc

import _terra_C as C

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


def default_collate(batch):
    """Stacks what the examples have in the same place."""
    first = batch[0]
    if isinstance(first, C.Tensor):
        return C.stack(batch, 0)
    if type(first).__module__ == "numpy":
        return _collate_numpy(batch, first)
    if isinstance(first, float):
        return C.tensor(batch, dtype=C.float64)
    if isinstance(first, int):
        return C.tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, abc.Mapping):
        collated = {key: default_collate([example[key] for example in batch]) for key in first}
        try:
            return type(first)(collated)
        except TypeError:  # a mapping that is not made from a dict
            return collated
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(values) for values in zip(*batch)))
    if isinstance(first, abc.Sequence):
        if any(len(example) != len(first) for example in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return [default_collate(values) for values in zip(*batch)]
    raise TypeError(_UNKNOWN.format(type(first)))


def _collate_numpy(batch, first):
    if type(first).__name__ == "ndarray":
        if first.dtype.kind in "SaUO":
            raise TypeError(_UNKNOWN.format(first.dtype))
        return default_collate([C.as_tensor(example) for example in batch])
    return C.as_tensor(batch)
