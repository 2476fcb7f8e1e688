"""torch.utils.module_tracker: which modules are running."""

import weakref

from ..nn.modules import module as hooks

__all__ = ["ModuleTracker"]


class ModuleTracker:
    """A context; `parents` has the names of the modules whose forward runs at the moment, and "Global". A module is called
    after its class, those in it after their attributes."""

    def __init__(self):
        self.parents = {"Global"}
        self._names = weakref.WeakKeyDictionary()
        self._seen = weakref.WeakSet()

    def name_of(self, module):
        name = self._names.setdefault(module, type(module).__name__)
        if module not in self._seen:
            for attribute, child in module.named_children():
                self._names[child] = f"{name}.{attribute}"
                self.name_of(child)
            self._seen.add(module)
        return name

    def __enter__(self):
        self._handles = (
            hooks.register_module_forward_pre_hook(lambda module, args: self.parents.add(self.name_of(module))),
            hooks.register_module_forward_hook(lambda module, args, result: self.parents.discard(self.name_of(module))),
        )
        return self

    def __exit__(self, *exception):
        for handle in self._handles:
            handle.remove()
