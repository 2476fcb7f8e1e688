"""Naming what a module owns: parameters, buffers and submodules, and their printed form."""

import _terra_C as C

from ..._typename import typename


def check_name(module, name, kind, group):
    """A name of a `kind` must be a str without dots that nothing else of the module has."""
    if not isinstance(name, str):
        raise TypeError(f"{kind} name should be a string. Got {typename(name) if kind != 'module' else type(name).__name__}")
    if "." in name:
        raise KeyError(f'{kind} name can\'t contain ".", got: {name}' if kind == "module" else f'{kind} name can\'t contain "."')
    if name == "":
        raise KeyError(f'{kind} name can\'t be empty string ""')
    if hasattr(module, name) and name not in group:
        raise KeyError(f"attribute '{name}' already exists")


def after_hooks(kind, module, name, member):
    """The member, or what the hooks of register_module_..._registration_hook make of it. ModuleBase.__setattr__ does the same
    in C; here it is Python, which the recorder follows."""
    for hook in list(C._registration_hooks.get(kind, {}).values()):
        other = hook(module, name, member)
        member = member if other is None else other
    return member


class Registration:
    """The part of Module that adds members by name. Plain attribute assignment does the same for parameters and
    modules; a buffer has to be registered because any tensor may be an attribute."""

    __slots__ = ()

    def register_parameter(self, name, param):
        if not hasattr(self, "_parameters"):
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        check_name(self, name, "parameter", self._parameters)
        if param is None:
            self._parameters[name] = None
            return
        if not isinstance(param, C.Parameter):
            raise TypeError(
                f"cannot assign '{typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
            )
        if param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. "
                f"To express '{name}' as a function of another Tensor, compute the value in the forward() method."
            )
        self._parameters[name] = after_hooks("parameter", self, name, param)

    def register_buffer(self, name, tensor, persistent=True):
        if not hasattr(self, "_buffers"):
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        check_name(self, name, "buffer", self._buffers)
        if tensor is not None and not isinstance(tensor, C.Tensor):
            raise TypeError(f"cannot assign '{typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)")
        self._buffers[name] = after_hooks("buffer", self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name, module):
        if module is not None and not isinstance(module, C.ModuleBase):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        check_name(self, name, "module", self._modules)
        self._modules[name] = after_hooks("module", self, name, module)

    def register_module(self, name, module):
        self.add_module(name, module)

    def extra_repr(self):
        """What stands between the brackets of the module's printed form."""
        return ""

    def _get_name(self):
        return type(self).__name__

    def __repr__(self):
        extra = self.extra_repr()
        extra_lines = extra.split("\n") if extra else []
        child_lines = [f"({name}): {indent(repr(module))}" for name, module in self._modules.items()]
        if len(extra_lines) == 1 and not child_lines:
            return f"{self._get_name()}({extra_lines[0]})"
        lines = extra_lines + child_lines
        body = "\n  " + "\n  ".join(lines) + "\n" if lines else ""
        return f"{self._get_name()}({body})"

    def __dir__(self):
        names = {*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers}
        return sorted(name for name in names if not name[:1].isdigit())


def indent(text, width=2):
    """All lines but the first moved to the right; blank ones stay empty."""
    first, *others = text.split("\n")
    return "\n".join([first, *(width * " " + line if line.strip() else "" for line in others)])
