"""Arguments that are one number or one per dimension."""


def ntuple(n):
    def repeat(value):
        return tuple(value) if isinstance(value, (tuple, list)) else (value,) * n

    return repeat


single, pair, triple, quadruple = ntuple(1), ntuple(2), ntuple(3), ntuple(4)
_ntuple, _single, _pair, _triple, _quadruple = ntuple, single, pair, triple, quadruple


def _reverse_repeat_tuple(t, n):
    """Each entry n times, the last one first: what padding takes."""
    return tuple(x for x in reversed(t) for _ in range(n))


def _list_with_default(out_size, defaults):
    """Sizes with None replaced by the last of the defaults."""
    if not isinstance(out_size, (tuple, list)):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(f"Input dimension should be at least {len(out_size) + 1}")
    return [default if size is None else size for size, default in zip(out_size, defaults[-len(out_size) :])]


def consume_prefix_in_state_dict_if_present(state_dict, prefix):
    """Takes the prefix off the names that begin with it, in place: what a wrapper of a module put in front."""
    for key in list(state_dict):
        if key.startswith(prefix):
            state_dict[key[len(prefix) :]] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", None)
    for key in list(metadata or ()):
        if key and (key == prefix.replace(".", "") or key.startswith(prefix)):
            metadata[key[len(prefix) :]] = metadata.pop(key)
