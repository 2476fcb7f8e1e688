"""Walking a tree of modules: parameters, buffers, children, names."""


def join(prefix, name):
    return f"{prefix}.{name}" if prefix else name


class Traversal:
    """The part of Module that finds things. Every walk is in order of registration; a thing that is reachable by two
    names is reported once, under the first."""

    __slots__ = ()

    def _named_members(self, members_of, prefix="", recurse=True, remove_duplicate=True):
        """`members_of(module)` gives (name, member) pairs; yields them with full names."""
        seen = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, member in members_of(module):
                if member is None or member in seen:
                    continue
                if remove_duplicate:
                    seen.add(member)
                yield join(path, name), member

    def parameters(self, recurse=True):
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        yield from self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse=True):
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        yield from self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def children(self):
        for _, module in self.named_children():
            yield module

    def named_children(self):
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def modules(self):
        for _, module in self.named_modules():
            yield module

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        if memo is None:
            memo = set()
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, join(prefix, name), remove_duplicate)

    def get_submodule(self, target):
        if target == "":
            return self
        module = self
        for name in target.split("."):
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Traversal):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target, module, strict=False):
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{type(parent).__name__} has no attribute `{name}`")
        setattr(parent, name, module)

    def get_parameter(self, target):
        return self._get_member(target, "_parameters", "nn.Parameter")

    def get_buffer(self, target):
        return self._get_member(target, "_buffers", "buffer")

    def _get_member(self, target, group, kind):
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        if name not in getattr(module, group):
            raise AttributeError(f"`{name}` is not an {kind}" if kind[0] == "n" else f"`{name}` is not a {kind}")
        return getattr(module, name)
