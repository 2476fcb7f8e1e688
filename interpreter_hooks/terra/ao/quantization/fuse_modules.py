"""fuse_modules: layers that follow one another become one, norms go into the weights before them."""

import copy

from ..._names import lazily
from ...nn import BatchNorm1d, BatchNorm2d, BatchNorm3d, Conv1d, Conv2d, Conv3d, Identity, Linear, ReLU
from ...nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval
from ..nn import intrinsic as nni

__all__ = ["fuse_known_modules", "fuse_modules", "fuse_modules_qat"]

_CONVS, _NORMS = (Conv1d, Conv2d, Conv3d), (BatchNorm1d, BatchNorm2d, BatchNorm3d)


def _with_norm(in_training, evaluated):
    """A layer and a norm, with or without ReLU: one sequence in training, else one layer."""

    def fuse(is_qat, layer, norm, *relu):
        if not layer.training == norm.training:
            raise AssertionError(f"{type(layer).__name__} and BN both must be in the same mode (train or eval).")
        if is_qat:
            return in_training(layer, norm, *relu)
        fused = (fuse_linear_bn_eval if isinstance(layer, Linear) else fuse_conv_bn_eval)(layer, norm)
        return evaluated(fused, *relu) if relu else fused

    return fuse


def _sequence(kind):
    return lambda is_qat, *modules: kind(*modules)


FUSERS = {
    **{(c, b): _with_norm(getattr(nni, f"ConvBn{n}d"), None) for n, c, b in zip((1, 2, 3), _CONVS, _NORMS)},
    **{
        (c, b, ReLU): _with_norm(getattr(nni, f"ConvBnReLU{n}d"), getattr(nni, f"ConvReLU{n}d"))
        for n, c, b in zip((1, 2, 3), _CONVS, _NORMS)
    },
    **{(c, ReLU): _sequence(getattr(nni, f"ConvReLU{n}d")) for n, c in zip((1, 2, 3), _CONVS)},
    (Linear, BatchNorm1d): _with_norm(nni.LinearBn1d, None),
    (Linear, ReLU): _sequence(nni.LinearReLU),
    (BatchNorm2d, ReLU): _sequence(nni.BNReLU2d),
    (BatchNorm3d, ReLU): _sequence(nni.BNReLU3d),
}


def fuse_known_modules(mod_list, is_qat, additional_fuser_method_mapping=None):
    """The fused module, and modules that do nothing for the others. Hooks of the first and of the last go with it."""
    kinds = tuple(type(module) for module in mod_list)
    fuser = (FUSERS | (additional_fuser_method_mapping or {})).get(kinds)
    if fuser is None:
        raise NotImplementedError(f"Cannot fuse modules: {kinds}")
    fused = fuser(is_qat, *mod_list)
    for hook in mod_list[0]._forward_pre_hooks.values():
        fused.register_forward_pre_hook(hook)
    mod_list[0]._forward_pre_hooks.clear()
    for hook in mod_list[-1]._forward_hooks.values():
        fused.register_forward_hook(hook)
    mod_list[-1]._forward_hooks.clear()
    rest = [Identity() for _ in mod_list[1:]]
    for identity in rest:
        identity.training = mod_list[0].training
    return [fused, *rest]


def _fused(model, modules_to_fuse, is_qat, inplace, fuser_func, fuse_custom_config_dict):
    model = model if inplace else copy.deepcopy(model)
    groups = [modules_to_fuse] if all(isinstance(name, str) for name in modules_to_fuse) else modules_to_fuse
    additional = (fuse_custom_config_dict or {}).get("additional_fuser_method_mapping", {})
    for names in groups:
        modules = fuser_func([model.get_submodule(name) for name in names], is_qat, additional)
        for name, module in zip(names, modules):
            holder, _, last = name.rpartition(".")
            setattr(model.get_submodule(holder), last, module)
    return model


def fuse_modules(model, modules_to_fuse, inplace=False, fuser_func=fuse_known_modules, fuse_custom_config_dict=None):
    """A copy of the model, or itself, in which the named modules are one: names of one sequence, or a list of sequences."""
    return _fused(model, modules_to_fuse, False, inplace, fuser_func, fuse_custom_config_dict)


def fuse_modules_qat(model, modules_to_fuse, inplace=False, fuser_func=fuse_known_modules, fuse_custom_config_dict=None):
    """The same of a model that is going to be trained."""
    return _fused(model, modules_to_fuse, True, inplace, fuser_func, fuse_custom_config_dict)


__getattr__ = lazily(__name__)
