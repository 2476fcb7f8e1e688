"""Modules as functions of their tensors: called with others than their own, and without statistics that calls would change."""

import contextlib

import _terra_C as C

from ..nn import Module

_MISSING = object()


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """module(*args, **kwargs) with the tensors of a dict, or of several, in place of those of these names."""
    if isinstance(parameter_and_buffer_dicts, dict):
        tensors = parameter_and_buffer_dicts
    elif isinstance(parameter_and_buffer_dicts, (list, tuple)):
        tensors = {}
        for part in parameter_and_buffer_dicts:
            repeated = tensors.keys() & part.keys()
            if repeated:
                raise ValueError(
                    f"{sorted(repeated)} appeared in multiple dictionaries; behavior of functional call is ambiguous"
                )
            tensors.update(part)
    else:
        raise ValueError(f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {type(parameter_and_buffer_dicts)}")
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with replaced(module, tensors, tie_weights, strict):
        return module(*args, **(kwargs or {}))


def _places(module):
    """Name -> (the dict that holds the tensor, its key there), for all names of the module."""
    places = {}
    for prefix, child in module.named_modules(remove_duplicate=False):
        for members in (child._parameters, child._buffers):
            for key, tensor in members.items():
                if tensor is not None:
                    places[f"{prefix}.{key}" if prefix else key] = (members, key)
    return places


def _owner(module, path):
    """The submodule of that path."""
    for depth, part in enumerate(path.split(".") if path else ()):
        inner = getattr(module, part, _MISSING)
        if inner is _MISSING:
            raise AttributeError(f"{module._get_name()} has no attribute `{part}`")
        if not isinstance(inner, Module):
            where = ".".join(path.split(".")[: depth + 1])
            raise TypeError(f"submodule `{where}`: {inner} is not an instance of torch.nn.Module")
        module = inner
    return module


def _unused_place(module, name):
    """The place of a parameter or buffer that the module has as None."""
    path, _, key = name.rpartition(".")
    owner = _owner(module, path)
    return next(((members, key) for members in (owner._parameters, owner._buffers) if key in members), None)


def _set_attribute(module, name, value):
    """Sets what is no parameter or buffer: (the module it belongs to, its name there, what was there before)."""
    path, _, key = name.rpartition(".")
    if key == "":
        raise KeyError('tensor name can\'t be empty string ""')
    owner = _owner(module, path)
    before = getattr(owner, key, _MISSING)
    if before is not _MISSING and before is not None and not isinstance(before, C.Tensor):
        raise TypeError(f"attribute `{key}`: {before} is not an instance of torch.Tensor")
    setattr(owner, key, value)
    return owner, key, before


def _quoted(names):
    return ", ".join([repr(name) for name in sorted(names)])


@contextlib.contextmanager
def replaced(module, tensors, tie_weights=True, strict=False):
    """Inside, the module has these tensors; a tensor with several names has the new one under all of them. Afterwards
    `tensors` has what the module has made of them, such as buffers that it has put others in the place of."""
    places, handed = _places(module), tensors
    unknown = [name for name in tensors if name not in places]
    if strict:
        missing = [name for name in places if name not in tensors]
        problems = ([f"Unexpected key(s): {_quoted(unknown)}."] if unknown else []) + (
            [f"Missing key(s): {_quoted(missing)}."] if missing else []
        )
        if problems:
            raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:\n\t" + "\n\t".join(problems))
    if tie_weights:
        by_tensor = {}
        for name, (members, key) in places.items():
            by_tensor.setdefault(members[key], []).append(name)
        tied = {}
        for names in by_tensor.values():
            given = [tensors[name] for name in names if name in tensors]
            if any(value is not given[0] for value in given[1:]):
                raise ValueError(f"functional_call got multiple values for keys {sorted(names)}, which are tied. Consider using tie_weights=False")
            if given:
                tied.update((name, given[0]) for name in names)
        tensors = {**{name: value for name, value in tensors.items() if name not in places}, **tied}
    changed, attributes = {}, []
    try:
        for name, value in tensors.items():
            if value is not None and not isinstance(value, C.Tensor):
                raise TypeError(f"{value} is not an instance of torch.Tensor")
            place = places.get(name) or _unused_place(module, name)
            if place is None:
                attributes.append(_set_attribute(module, name, value))
                continue
            members, key = place
            changed[name] = members, key, members[key]
            members[key] = value
        yield
    finally:
        for name, (members, key, value) in reversed(changed.items()):
            if name in handed and members[key] is not handed[name]:
                handed[name] = members[key]
            members[key] = value
        for owner, key, value in reversed(attributes):
            if value is _MISSING:
                delattr(owner, key)
            else:
                setattr(owner, key, value)


def replace_all_batch_norm_modules_(root):
    """Gives the module with batch norms that keep no running statistics, which functions of a batch can't change."""
    from ..nn.modules.batchnorm import _BatchNorm

    for module in root.modules():
        if isinstance(module, _BatchNorm) and module.track_running_stats:
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root
