"""The old weight_norm: a weight as a length times a direction, by a hook before forward."""

import warnings

import _terra_C as C

from ..parameter import Parameter


def norm_except(v, dim):
    """The norms over all dimensions but one; of everything for dim None or -1."""
    if dim is None or dim == -1:
        return v.norm()
    rest = [d for d in range(v.dim()) if d != dim % v.dim()]
    return v.norm(2, rest, True) if rest else v.abs()


def normed(v, g, dim):
    return v * (g / norm_except(v, dim))


class WeightNorm:
    """The hook: computes the weight from its parts before each forward."""

    def __init__(self, name, dim):
        self.name, self.dim = name, dim

    def compute_weight(self, module):
        return normed(getattr(module, self.name + "_v"), getattr(module, self.name + "_g"), self.dim)

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module, name="weight", dim=0):
    """Replaces the parameter `name` by name_g, its norms, and name_v, its direction."""
    warnings.warn(
        "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    for hook in getattr(module, "_forward_pre_hooks", {}).values():
        if isinstance(hook, WeightNorm) and hook.name == name:
            raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    hook = WeightNorm(name, dim)
    weight = getattr(module, name)
    del module._parameters[name]
    with C.no_grad():
        norms = norm_except(weight, dim)
    module.register_parameter(name + "_g", Parameter(norms))
    module.register_parameter(name + "_v", Parameter(weight.data))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module, name="weight"):
    """Makes the weight a parameter again."""
    hooks = getattr(module, "_forward_pre_hooks", {})
    for key, hook in list(hooks.items()):
        if isinstance(hook, WeightNorm) and hook.name == name:
            weight = hook.compute_weight(module).detach()
            delattr(module, name)
            del module._parameters[name + "_g"], module._parameters[name + "_v"]
            setattr(module, name, Parameter(weight))
            del hooks[key]
            return module
    raise ValueError(f"weight_norm of '{name}' not found in {module}")
