"""torch._dynamo.eval_frame: the class of what torch.compile(module) gives."""

from .._names import lazily
from ..nn import Module


class OptimizedModule(Module):
    """A module under the name `_orig_mod`, whose attributes are those of this one as well. It is captured as any other."""

    def __init__(self, mod, dynamo_ctx=None):
        super().__init__()
        self._orig_mod = mod

    def forward(self, *args, **kwargs):
        return self._orig_mod(*args, **kwargs)

    @property
    def training(self):
        return self._orig_mod.training

    @training.setter
    def training(self, value):
        mod = self.__dict__.get("_modules", {}).get("_orig_mod")
        if mod is not None:
            mod.training = value

    def __getattr__(self, name):
        mod = self._modules["_orig_mod"]
        return mod if name == "_orig_mod" else getattr(mod, name)

    def __setattr__(self, name, value):
        if name in ("_orig_mod", "forward", "__dict__") or hasattr(type(self), name):
            return super().__setattr__(name, value)
        return setattr(self._orig_mod, name, value)

    def __delattr__(self, name):
        if hasattr(type(self), name):
            return super().__delattr__(name)
        return delattr(self._orig_mod, name)

    def __len__(self):
        if hasattr(type(self._orig_mod), "__len__"):
            return len(self._orig_mod)
        raise TypeError(f"{type(self._orig_mod).__name__} does not support len()")

    def __dir__(self):
        return [*super().__dir__(), *dir(self._orig_mod)]

    def __reduce__(self):
        return type(self), (self._orig_mod,)


__getattr__ = lazily(__name__)
