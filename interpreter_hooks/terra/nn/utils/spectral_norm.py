"""The old spectral_norm: a weight divided by its largest singular value, by a hook before forward."""

import _terra_C as C

from .. import functional as F
from ..parameter import Parameter


def as_matrix(weight, dim):
    """The weight with `dim` as rows and everything else as columns."""
    if dim != 0:
        weight = weight.permute(dim, *[d for d in range(weight.dim()) if d != dim])
    return weight.reshape(weight.size(0), -1)


def usual_dim(module):
    """The dimension of the outputs."""
    return 1 if type(module).__name__.removeprefix("Parametrized").startswith("ConvTranspose") else 0


class SpectralNorm:
    """The hook: one or more steps of the power method in training, then weight_orig / sigma."""

    def __init__(self, name, n_power_iterations, dim, eps):
        if n_power_iterations <= 0:
            raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.name, self.n_power_iterations, self.dim, self.eps = name, n_power_iterations, dim, eps

    def compute_weight(self, module, do_power_iteration):
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = as_matrix(weight, self.dim)
        if do_power_iteration:
            with C.no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(C.mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(C.mv(matrix, v), dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()
        return weight / C.dot(u, C.mv(matrix, v))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module, module.training))


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Replaces the parameter `name` by name_orig and the buffers name_u and name_v, its singular vectors."""
    for hook in getattr(module, "_forward_pre_hooks", {}).values():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
    hook = SpectralNorm(name, n_power_iterations, usual_dim(module) if dim is None else dim, eps)
    weight = module._parameters[name]
    if weight is None:
        raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
    with C.no_grad():
        rows, columns = as_matrix(weight, hook.dim).size()
        u = F.normalize(weight.new_empty(rows).normal_(0, 1), dim=0, eps=eps)
        v = F.normalize(weight.new_empty(columns).normal_(0, 1), dim=0, eps=eps)
    del module._parameters[name]
    module.register_parameter(name + "_orig", weight)
    setattr(module, name, weight.data)
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module, name="weight"):
    """Makes the weight, divided, a parameter again."""
    hooks = getattr(module, "_forward_pre_hooks", {})
    for key, hook in list(hooks.items()):
        if isinstance(hook, SpectralNorm) and hook.name == name:
            with C.no_grad():
                weight = hook.compute_weight(module, False)
            delattr(module, name)
            delattr(module, name + "_u")
            delattr(module, name + "_v")
            delattr(module, name + "_orig")
            module.register_parameter(name, Parameter(weight.detach()))
            del hooks[key]
            return module
    raise ValueError(f"spectral_norm of '{name}' not found in {module}")
