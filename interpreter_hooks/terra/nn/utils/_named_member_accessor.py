"""Tensors of modules by name: what libraries that exchange the parameters of a module call."""

import _terra_C as C

_MISSING = object()


def _check_name(kind, name):
    if "." in name:
        raise KeyError(f"{kind} name can't contain \".\"")
    if name == "":
        raise KeyError(f"{kind} name can't be empty string \"\"")


def _check_tensor(value, what):
    if not isinstance(value, C.Tensor) and value is not None:
        raise TypeError(f"{what} is not an instance of torch.Tensor")


def _home(module, name):
    """The dict of the module that has the tensor of that name, None where it is a plain attribute."""
    return next((members for members in (module._parameters, module._buffers) if name in members), None)


def set_tensor(module, name, tensor):
    """Makes `tensor` the parameter, buffer or attribute of that name, whatever it was."""
    _check_tensor(tensor, tensor)
    _check_name("tensor", name)
    home = _home(module, name)
    if home is None:
        setattr(module, name, tensor)
    else:
        home[name] = tensor


def swap_tensor(module, name, tensor, allow_missing=False):
    """The tensor of that name, which `tensor` takes the place of. _MISSING stands for none."""
    if tensor is not _MISSING:
        _check_tensor(tensor, tensor)
    _check_name("tensor", name)
    home = _home(module, name)
    former = getattr(module, name, _MISSING) if home is None else home[name]
    if former is _MISSING and not allow_missing:
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    if former is not _MISSING:
        _check_tensor(former, f"attribute `{name}`: {former}")
    if tensor is not _MISSING:
        set_tensor(module, name, tensor)
    elif former is not _MISSING:
        delattr(module, name)
    return former


def swap_submodule(module, name, submodule):
    """The submodule of that name, which `submodule` takes the place of."""
    _check_name("submodule", name)
    if name not in module._modules:
        raise KeyError(f"submodule {name} does not exist")
    former, module._modules[name] = module._modules[name], submodule
    return former


class NamedMemberAccessor:
    """The tensors of a module and of those below it, by names with dots. Keeps the submodules that it has found."""

    def __init__(self, module):
        self.module = module
        self.memo = {"": module}

    def get_submodule(self, name):
        if name not in self.memo:
            self.memo[name] = self.module.get_submodule(name)
        return self.memo[name]

    def _place(self, name):
        prefix, _, last = name.rpartition(".")
        return self.get_submodule(prefix), last

    def swap_submodule(self, path, value):
        return swap_submodule(*self._place(path), value)

    def get_tensor(self, name):
        module, last = self._place(name)
        if not hasattr(module, last):
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
        tensor = getattr(module, last)
        _check_tensor(tensor, tensor)
        return tensor

    def set_tensor(self, name, value):
        set_tensor(*self._place(name), value)

    def del_tensor(self, name):
        swap_tensor(*self._place(name), _MISSING)

    def swap_tensor(self, name, value, allow_missing=False):
        return swap_tensor(*self._place(name), value, allow_missing=allow_missing)

    def get_tensors(self, names):
        return [self.get_tensor(name) for name in names]

    def set_tensors(self, names, values):
        for name, value in zip(names, values, strict=True):
            self.set_tensor(name, value)

    def set_tensors_dict(self, named_tensors):
        for name, value in named_tensors.items():
            self.set_tensor(name, value)

    def swap_tensors(self, names, values, allow_missing=False):
        return [self.swap_tensor(name, value, allow_missing) for name, value in zip(names, values, strict=True)]

    def swap_tensors_dict(self, named_tensors, allow_missing=False):
        """(the former tensors by name, the names of which there was none)."""
        former = {name: self.swap_tensor(name, value, allow_missing) for name, value in named_tensors.items()}
        return former, [name for name, tensor in former.items() if tensor is _MISSING]

    def check_keys(self, keys):
        """(names of parameters and buffers that `keys` lacks, keys that name none)."""
        keys, names = set(keys), {name for name, _ in self.named_tensors()}
        return sorted(names - keys), sorted(keys - names)

    def named_parameters(self, remove_duplicate=True):
        return self.module.named_parameters(remove_duplicate=remove_duplicate)

    def named_buffers(self, remove_duplicate=True):
        return self.module.named_buffers(remove_duplicate=remove_duplicate)

    def named_tensors(self, remove_duplicate=True):
        yield from self.named_parameters(remove_duplicate)
        yield from self.named_buffers(remove_duplicate)

    def named_modules(self, remove_duplicate=True):
        return self.module.named_modules(remove_duplicate=remove_duplicate)
