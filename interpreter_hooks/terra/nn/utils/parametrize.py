"""Parameters and buffers as functions of others: module.weight becomes what a module makes of its original."""

import contextlib
import copy

import _terra_C as C

from ..modules.container import ModuleDict, ModuleList
from ..modules.module import Module
from ..parameter import Parameter

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
    "transfer_parametrizations_and_params", "type_before_parametrizations",
]  # fmt: skip

_cache = {"depth": 0, "values": {}}


@contextlib.contextmanager
def cached():
    """Inside, each parametrized tensor is computed once."""
    _cache["depth"] += 1
    try:
        yield
    finally:
        _cache["depth"] -= 1
        if not _cache["depth"]:
            _cache["values"] = {}


def _keep(module, name, tensor):
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


class ParametrizationList(ModuleList):
    """The functions of one tensor, in order, and what they start from: `original`, or original0, original1, ..."""

    def __init__(self, modules, original, unsafe=False):
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        start, shape, dtype = original, original.shape, original.dtype
        with C.no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    break
                try:
                    start = module.right_inverse(start)
                except NotImplementedError:
                    break
        self.is_tensor = isinstance(start, C.Tensor)
        self.ntensors = 1 if self.is_tensor else len(start)
        if self.is_tensor:
            if start.dtype != dtype:
                raise ValueError("When `right_inverse` outputs one tensor, it may not change the dtype.\n" f"original.dtype: {dtype}\nright_inverse(original).dtype: {start.dtype}")
            if start is not original:
                with C.no_grad():
                    original.data = start.detach()
            _keep(self, "original", original)
        else:
            for i, part in enumerate(start):
                if not isinstance(part, C.Tensor):
                    raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). " f"Got element {i} of the sequence with type {type(part).__name__}.")
                part = Parameter(part.detach(), original.requires_grad) if isinstance(original, Parameter) else part.detach()
                _keep(self, f"original{i}", part)
        if not unsafe:
            result = self()
            if not isinstance(result, C.Tensor):
                raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
            if result.dtype != dtype:
                raise ValueError("Registering a parametrization may not change the dtype of the tensor, unless `unsafe` flag is enabled.\n" f"unparametrized dtype: {dtype}\nparametrized dtype: {result.dtype}")
            if result.shape != shape:
                raise ValueError("Registering a parametrization may not change the shape of the tensor, unless `unsafe` flag is enabled.\n" f"unparametrized shape: {shape}\nparametrized shape: {result.shape}")

    def _originals(self):
        return [self.original] if self.is_tensor else [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value):
        """Sets the originals so that the tensor becomes `value`, as far as the functions have inverses."""
        with C.no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            for original, part in zip(self._originals(), [value] if self.is_tensor else value):
                original.data = part.detach().clone()

    def forward(self):
        first, *rest = list(self)
        value = first(*self._originals())
        for module in rest:
            value = module(value)
        return value


def _getter(name):
    def get(self):
        if not _cache["depth"]:
            return self.parametrizations[name]()
        key = (id(self), name)
        value = _cache["values"].get(key)
        if value is None:
            value = _cache["values"][key] = self.parametrizations[name]()
        return value

    return get


def _setter(name):
    return lambda self, value: self.parametrizations[name].right_inverse(value)


def _not_pickled(self):
    raise RuntimeError(
        "Serialization of parametrized modules is only supported through state_dict(). See: "
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
        "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
    )


def _deepcopy(self, memo):
    twin = memo.get(id(self))
    if twin is not None:
        return twin
    twin = type(self).__new__(type(self))
    memo[id(self)] = twin
    twin.__dict__.update(copy.deepcopy(self.__dict__, memo))
    kind = type(twin)
    twin.__class__ = type(kind.__name__, kind.__bases__, dict(kind.__dict__))
    return twin


def _check_form(value, made, refusal, of_value, of_made):
    """What was made has the dtype and the shape of the value."""
    for part in ("dtype", "shape"):
        before, after = getattr(value, part), getattr(made, part)
        if before != after:
            raise ValueError(
                f"{refusal.format(part)}, unless the `unsafe` flag is enabled.\n{of_value}.{part}: {before}\n{of_made}{part}: {after}"
            )


def _check_next(module, name, parametrization):
    """One that follows others: it takes the value to one of the same shape and dtype, and its right_inverse takes it back."""
    value, place = getattr(module, name), f"module.{name}"
    changed = parametrization(value)
    if not isinstance(changed, C.Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(changed).__name__}.")
    refusal = "Registering a parametrization may not change the {} of the tensor"
    _check_form(value, changed, refusal, place, f"parametrization({place}).")
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back = parametrization.right_inverse(changed)
    except NotImplementedError:
        return
    if not isinstance(back, C.Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
    refusal = "The tensor returned by parametrization.right_inverse must have the same {} as " + place
    _check_form(value, back, refusal, place, "returned ")


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """From now on module.tensor_name is parametrization(original)."""
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        present = module.parametrizations[tensor_name]
        if not unsafe:
            _check_next(module, tensor_name, parametrization)
        present.append(parametrization)
        present.unsafe |= unsafe
        return module
    if tensor_name not in module._parameters and tensor_name not in module._buffers:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'")
    original = getattr(module, tensor_name)
    functions = ParametrizationList([parametrization], original, unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        base = type(module)
        module.__class__ = type("Parametrized" + base.__name__, (base,), {"__reduce_ex__": lambda self, _: _not_pickled(self), "__deepcopy__": _deepcopy, "__module__": base.__module__})
        module.parametrizations = ModuleDict()
    setattr(type(module), tensor_name, property(_getter(tensor_name), _setter(tensor_name)))
    module.parametrizations[tensor_name] = functions
    return module


def is_parametrized(module, tensor_name=None):
    found = module._modules.get("parametrizations")
    if not isinstance(found, ModuleDict):
        return False
    return tensor_name in found if tensor_name is not None else len(found) > 0


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Makes the tensor plain again: with its present value, or with the original one."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    functions = module.parametrizations[tensor_name]
    if functions.is_tensor:
        original = functions.original
        if leave_parametrized:
            with C.no_grad():
                original.data = getattr(module, tensor_name).detach()
    elif leave_parametrized:
        value = getattr(module, tensor_name).detach()
        trains = any(part.requires_grad for part in functions._originals())
        original = Parameter(value, trains) if any(isinstance(p, Parameter) for p in functions._originals()) else value
    else:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of tensors.")
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _keep(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module):
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module, to_module, tensor_name=None):
    """Gives another module the same parametrizations, and the values of their originals."""
    if not is_parametrized(from_module):
        return to_module
    names = list(from_module.parametrizations) if tensor_name is None else [tensor_name]
    for name in names:
        if not hasattr(to_module, name):
            _keep(to_module, name, Parameter(getattr(from_module, name).detach().clone()))
        for function in from_module.parametrizations[name]:
            register_parametrization(to_module, name, function)
        for into, value in zip(to_module.parametrizations[name]._originals(), from_module.parametrizations[name]._originals()):
            with C.no_grad():
                into.copy_(value)
    return to_module
