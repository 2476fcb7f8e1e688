"""prepare, convert and their kin: networks whose layers are watched, then swapped for quantized ones."""

import copy
import warnings

import _terra_C as C

from ... import nn
from ..._names import lazily
from ..nn import quantized as nnq
from ..nn.intrinsic import _FusedModule
from .observer import _is_activation_post_process
from .qconfig import _activation_is_memoryless, default_dynamic_qconfig, float16_dynamic_qconfig, float_qparams_weight_only_qconfig
from .quantization_mappings import (
    DEFAULT_MODULE_TO_ACT_POST_PROCESS, get_default_dynamic_quant_module_mappings, get_default_qat_module_mappings,
    get_default_qconfig_propagation_list, get_default_static_quant_module_mappings,
)  # fmt: skip
from .stubs import DeQuantStub, QuantWrapper

__all__ = [
    "add_quant_dequant", "convert", "prepare", "prepare_qat", "propagate_qconfig_", "quantize", "quantize_dynamic",
    "quantize_qat", "swap_module",
]  # fmt: skip


# ---- which modules are meant -----------------------------------------------------------------------------------------
def propagate_qconfig_(module, qconfig_dict=None, prepare_custom_config_dict=None):
    """Each module gets a qconfig: its own, that of its name or its class in qconfig_dict, or that of the module around it."""
    _propagate(module, qconfig_dict or {}, None, "")


def _propagate(module, by_key, around, name):
    found = getattr(module, "qconfig", by_key.get(name, by_key.get(type(module), around)))
    module.qconfig = found
    for child_name, child in module.named_children():
        _propagate(child, by_key, found, f"{name}.{child_name}" if name else child_name)


def _wanted(module):
    return getattr(module, "qconfig", None) is not None


# ---- watching --------------------------------------------------------------------------------------------------------
def _observer_forward_hook(self, input, output):
    return self.activation_post_process(output)


def _observer_forward_pre_hook(self, input):
    return self.activation_post_process(input[0])


def _watch(module, make=None):
    """An observer of what the module gives, or of what it gets where each input is taken for itself."""
    if not _wanted(module) or isinstance(module, DeQuantStub):
        return
    module.add_module("activation_post_process", (make or module.qconfig.activation)())
    if _activation_is_memoryless(module.qconfig):
        module.register_forward_pre_hook(_observer_forward_pre_hook, prepend=True)
    else:
        module.register_forward_hook(_observer_forward_hook, prepend=True)


def _watch_all(module, kinds, non_leaf_kinds):
    for child in module.children():
        if type(child) is nn.Dropout:
            continue
        if isinstance(child, (nnq.FloatFunctional, nnq.QFunctional)):
            if _wanted(child):
                child.activation_post_process = child.qconfig.activation()
        elif isinstance(child, _FusedModule) or type(child) in non_leaf_kinds:
            _watch(child)
        elif child.training and type(child) in DEFAULT_MODULE_TO_ACT_POST_PROCESS:
            _watch(child, DEFAULT_MODULE_TO_ACT_POST_PROCESS[type(child)])
        else:
            _watch_all(child, kinds, non_leaf_kinds)
    if isinstance(module, nn.Sequential) or type(module) not in kinds:
        return
    if not any(True for _ in module.children()) or hasattr(module, "weight_fake_quant"):
        _watch(module)


def prepare(model, inplace=False, allow_list=None, observer_non_leaf_module_list=None, prepare_custom_config_dict=None):
    """A copy of the model, or itself, whose layers with a qconfig are watched."""
    model = model if inplace else copy.deepcopy(model)
    propagate_qconfig_(model)
    if not any(_wanted(module) for module in model.modules()):
        warnings.warn(
            "None of the submodule got qconfig applied. Make sure you passed correct configuration through `qconfig_dict` or by assigning "
            "the `.qconfig` attribute directly on submodules",
            stacklevel=2,
        )
    _watch_all(model, allow_list or get_default_qconfig_propagation_list(), observer_non_leaf_module_list or ())
    return model


def prepare_qat(model, mapping=None, inplace=False):
    """The same for training: layers round their weights, and what they give."""
    if not model.training:
        raise AssertionError("prepare_qat only works on models in training mode")
    mapping = get_default_qat_module_mappings() if mapping is None else mapping
    model = model if inplace else copy.deepcopy(model)
    propagate_qconfig_(model)
    convert(model, mapping=mapping, inplace=True, remove_qconfig=False)
    return prepare(model, observer_non_leaf_module_list=set(mapping.values()), inplace=True)


def add_quant_dequant(module):
    """Layers with a qconfig get a stub before and a stub behind them."""
    if not any(True for _ in module.children()) and getattr(module, "qconfig", None):
        return QuantWrapper(module)
    for name, child in module.named_children():
        module._modules[name] = add_quant_dequant(child)
    return module


# ---- swapping --------------------------------------------------------------------------------------------------------
def swap_module(mod, mapping, custom_module_class_mapping=None, use_precomputed_fake_quant=False):
    """The module that takes the place of one with a qconfig, or that one; hooks of the program go with it."""
    if not _wanted(mod):
        return mod
    custom = (custom_module_class_mapping or {}).get(type(mod))
    if custom is not None:
        made = custom.from_observed(mod)
    elif type(mod) in mapping:
        made = mapping[type(mod)].from_float(mod)
    else:
        return mod
    for hook in mod._forward_pre_hooks.values():
        if hook is not _observer_forward_pre_hook:
            made.register_forward_pre_hook(hook)
    for hook in mod._forward_hooks.values():
        if hook is not _observer_forward_hook:
            made.register_forward_hook(hook)
    return made


def _swap_all(module, mapping, custom):
    for name, child in list(module.named_children()):
        if not isinstance(child, _FusedModule) and type(child) not in custom:
            _swap_all(child, mapping, custom)
        module._modules[name] = swap_module(child, mapping, custom)


def _forget(module):
    """Nothing of the preparation is left."""
    for child in module.children():
        _forget(child)
    module.__dict__.pop("qconfig", None)
    if _is_activation_post_process(getattr(module, "activation_post_process", None)):
        del module.activation_post_process
    for hooks, ours in ((module._forward_pre_hooks, _observer_forward_pre_hook), (module._forward_hooks, _observer_forward_hook)):
        for key in [key for key, hook in hooks.items() if hook is ours]:
            hooks.pop(key)


def convert(
    module,
    mapping=None,
    inplace=False,
    remove_qconfig=True,
    is_reference=False,
    convert_custom_config_dict=None,
    use_precomputed_fake_quant=False,
):
    """A copy of the model, or itself, whose layers are those that `mapping` has for them."""
    if is_reference:
        raise NotImplementedError("convert(is_reference=True) is not in Terra yet")
    module = module if inplace else copy.deepcopy(module)
    mapping = get_default_static_quant_module_mappings() if mapping is None else mapping
    _swap_all(module, mapping, (convert_custom_config_dict or {}).get("observed_to_quantized_custom_module_class", {}))
    if remove_qconfig:
        _forget(module)
    return module


def quantize(model, run_fn, run_args, mapping=None, inplace=False):
    """The converted model, calibrated by run_fn(model, *run_args)."""
    model = model if inplace else copy.deepcopy(model)
    model.eval()
    prepare(model, inplace=True)
    run_fn(model, *run_args)
    return convert(model, mapping, inplace=True)


def quantize_qat(model, run_fn, run_args, inplace=False):
    """The converted model, trained by run_fn(model, *run_args)."""
    model = model if inplace else copy.deepcopy(model)
    model.train()
    prepare_qat(model, inplace=True)
    run_fn(model, *run_args)
    return convert(model, inplace=True)


_OF_DTYPES = {C.qint8: default_dynamic_qconfig, C.float16: float16_dynamic_qconfig, C.quint8: float_qparams_weight_only_qconfig}


def quantize_dynamic(model, qconfig_spec=None, dtype=C.qint8, mapping=None, inplace=False):
    """The model with quantized weights. qconfig_spec: a set of classes or names of modules, or {class or name: qconfig}."""
    if dtype not in _OF_DTYPES:
        raise ValueError(f"Don't know how to quantize with default settings for {dtype}. Provide full qconfig please")
    mapping = get_default_dynamic_quant_module_mappings() if mapping is None else mapping
    if qconfig_spec is None:
        qconfig_spec = set(mapping)
    if not isinstance(qconfig_spec, dict):
        qconfig_spec = dict.fromkeys(qconfig_spec, _OF_DTYPES[dtype])
    model = model if inplace else copy.deepcopy(model)
    model.eval()
    propagate_qconfig_(model, qconfig_spec)
    return convert(model, mapping, inplace=True)


__getattr__ = lazily(__name__)
