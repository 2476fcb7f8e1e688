"""torch.utils.module_tracker: which modules are running, forward or backward."""

import weakref

import _terra_C as C

from ..autograd.graph import register_multi_grad_hook
from ..nn.modules import module as hooks

__all__ = ["ModuleTracker"]


def _tensors_with_gradient(value):
    if isinstance(value, C.Tensor):
        return [value] if value.requires_grad else []
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return []
    return [tensor for item in value for tensor in _tensors_with_gradient(item)]


class ModuleTracker:
    """A context; `parents` has the names of the modules whose forward or backward runs at the moment, and "Global". A module is
    called after its class, those in it after their attributes. Backward it runs from when the gradients of its results are
    there until those of its arguments are, or to the end of the pass."""

    def __init__(self):
        self._forward = {"Global"}
        self._backward, self._pass = set(), -1
        self._names = weakref.WeakKeyDictionary()
        self._seen = weakref.WeakSet()

    @property
    def parents(self):
        return self._forward | self._in_pass() if self.is_bw else self._forward

    @property
    def is_bw(self):
        return C._pass_number() != -1

    def _in_pass(self):
        """The names of the pass that is under way."""
        if self._pass != C._pass_number():
            self._backward, self._pass = set(), C._pass_number()
        return self._backward

    def name_of(self, module):
        name = self._names.setdefault(module, type(module).__name__)
        if module not in self._seen:
            for attribute, child in module.named_children():
                self._names[child] = f"{name}.{attribute}"
                self.name_of(child)
            self._seen.add(module)
        return name

    def _before(self, module, args):
        name = self.name_of(module)
        self._forward.add(name)
        if tensors := _tensors_with_gradient(args):
            self._of_tensors.append(register_multi_grad_hook(tensors, lambda gradients: self._in_pass().discard(name)))

    def _behind(self, module, args, result):
        name = self.name_of(module)
        self._forward.discard(name)
        if tensors := _tensors_with_gradient(result):
            self._of_tensors.append(register_multi_grad_hook(tensors, lambda gradients: self._in_pass().add(name)))

    def __enter__(self):
        self._of_tensors = []
        self._handles = (
            hooks.register_module_forward_pre_hook(self._before), hooks.register_module_forward_hook(self._behind, always_call=True)
        )  # fmt: skip
        return self

    def __exit__(self, *exception):
        for handle in (*self._handles, *self._of_tensors):
            handle.remove()
