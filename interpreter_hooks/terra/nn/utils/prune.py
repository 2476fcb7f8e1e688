"""Pruning: a parameter becomes name_orig times the mask name_mask, by a hook before forward."""

import abc
import numbers

import _terra_C as C

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer",
    "RandomStructured", "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned",
    "l1_unstructured", "ln_structured", "random_structured", "random_unstructured", "remove",
]  # fmt: skip


class BasePruningMethod(abc.ABC):
    """The hook. A subclass gives compute_mask(t, default_mask) and PRUNING_TYPE: unstructured, structured or global."""

    PRUNING_TYPE = "unstructured"

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abc.abstractmethod
    def compute_mask(self, t, default_mask):
        """A mask like default_mask with more zeros."""

    def apply_mask(self, module):
        mask = getattr(module, self._tensor_name + "_mask")
        original = getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        """Prunes module.name, on top of what was pruned before."""
        before = _hooks_of(module, name)
        if len(before) > 1:
            raise AssertionError(f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}. Use a PruningContainer.")
        method = cls(*args, **kwargs)
        method._tensor_name = name
        if before:
            key, old = before[0]
            del module._forward_pre_hooks[key]
            container = old
            if not isinstance(old, PruningContainer):
                container = PruningContainer(old)
            container.add_pruning_method(method)
            method = container
        tensor = getattr(module, name)
        scores = tensor if importance_scores is None else importance_scores
        if scores.shape != tensor.shape:
            raise AssertionError(f"importance_scores should have the same shape as parameter                     {name} of {module}")
        if not before:
            original = module._parameters[name]
            default = C.ones_like(original)
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
        else:
            original, default = getattr(module, name + "_orig"), getattr(module, name + "_mask").detach().clone()
        try:
            with C.no_grad():
                mask = method.compute_mask(scores.detach(), default_mask=default)
            module.register_buffer(name + "_mask", mask)
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if not before:
                module.register_parameter(name, original)
                del module._parameters[name + "_orig"]
            raise
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        """A pruned copy of a tensor that belongs to no module."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        return t * self.compute_mask(scores, default_mask=C.ones_like(t) if default_mask is None else default_mask)

    def remove(self, module):
        """Makes what is left a plain parameter."""
        name = self._tensor_name
        original = module._parameters[name + "_orig"]
        original.data = self.apply_mask(module).detach()
        delattr(module, name)
        del module._parameters[name + "_orig"], module._buffers[name + "_mask"]
        module.register_parameter(name, original)


def _hooks_of(module, name):
    hooks = getattr(module, "_forward_pre_hooks", {})
    return [(key, hook) for key, hook in hooks.items() if isinstance(hook, BasePruningMethod) and hook._tensor_name == name]


class PruningContainer(BasePruningMethod):
    """Several prunings of one tensor, one after the other: each looks at what the ones before have left."""

    def __init__(self, *args):
        self._pruning_methods = ()
        if len(args) == 1 and isinstance(args[0], BasePruningMethod):
            self._tensor_name = args[0]._tensor_name
        elif args:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method):
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'")
        self._pruning_methods += (method,)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, index):
        return self._pruning_methods[index]

    def compute_mask(self, t, default_mask):
        """The last one's mask of what is left."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            part = mask == 1
        elif method.PRUNING_TYPE == "structured":
            others = [d for d in range(t.dim()) if d != method.dim % t.dim()]
            left = mask.sum(others) if others else mask
            part = [slice(None)] * t.dim()
            part[method.dim] = (left != 0).nonzero().flatten()
            part = tuple(part)
        elif method.PRUNING_TYPE == "global":
            part = tuple([slice(None)] * t.dim())
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        new = mask.clone()
        new[part] = method.compute_mask(t[part], default_mask=mask[part])
        return new


class Identity(BasePruningMethod):
    """A mask of ones."""

    def compute_mask(self, t, default_mask):
        return default_mask


def _check_amount(amount):
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if (isinstance(amount, numbers.Integral) and amount < 0) or (not isinstance(amount, numbers.Integral) and not 0.0 <= amount <= 1.0):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _count(amount, size):
    """How many of `size`: a number, or a share of them."""
    if not isinstance(amount, numbers.Integral):
        return round(amount * size)
    if amount > size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={size}")
    return amount


class _Unstructured(BasePruningMethod):
    def __init__(self, amount):
        _check_amount(amount)
        self.amount = amount

    def compute_mask(self, t, default_mask):
        count = _count(self.amount, t.numel())
        mask = default_mask.clone()
        if count:
            mask.view(-1)[self._least(t, count)] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Takes away elements at random."""

    def _least(self, t, count):
        return C.topk(C.rand_like(t).view(-1), k=count).indices


class L1Unstructured(_Unstructured):
    """Takes away the elements nearest to zero."""

    def _least(self, t, count):
        return C.topk(t.abs().reshape(-1), k=count, largest=False).indices


class _Structured(BasePruningMethod):
    PRUNING_TYPE = "structured"

    def compute_mask(self, t, default_mask):
        if t.dim() <= 1:
            raise ValueError("Structured pruning can only be applied to a multidimensional tensor (i.e. tensor with dim > 1)")
        channels = t.size(self.dim)
        count = _count(self.amount, channels)
        if not count:
            return default_mask
        row = C.zeros(channels, dtype=t.dtype)
        row[self._kept(t, channels, count)] = 1
        shape = [1] * t.dim()
        shape[self.dim] = channels
        return row.view(shape).expand(t.shape) * default_mask.to(t.dtype)


class RandomStructured(_Structured):
    """Takes away whole slices along a dimension at random."""

    def __init__(self, amount, dim=-1):
        _check_amount(amount)
        self.amount, self.dim = amount, dim

    def _kept(self, t, channels, count):
        draws = C.rand(channels)
        return draws > C.kthvalue(draws, count).values


class LnStructured(_Structured):
    """Takes away the slices along a dimension with the smallest norms."""

    def __init__(self, amount, n, dim=-1):
        _check_amount(amount)
        self.amount, self.n, self.dim = amount, n, dim

    def _kept(self, t, channels, count):
        others = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        norms = t.norm(self.n, others)
        return C.topk(norms, k=channels - count, largest=True).indices


class CustomFromMask(BasePruningMethod):
    """Takes away what a mask says."""

    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def identity(module, name):
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module, name, mask):
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    """Prunes the parameters of several modules as if they were one tensor."""
    parameters = list(parameters)
    scores = importance_scores or {}
    values = [scores.get((module, name), getattr(module, name)).detach().reshape(-1) for module, name in parameters]
    masks = [getattr(module, name + "_mask", C.ones_like(getattr(module, name))).reshape(-1) for module, name in parameters]
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {pruning_method} of type {method.PRUNING_TYPE}')
    container = PruningContainer(method)
    mask = container.compute_mask(C.cat(values), C.cat(masks))
    start = 0
    for module, name in parameters:
        tensor = getattr(module, name)
        custom_from_mask(module, name, mask[start : start + tensor.numel()].view_as(tensor))
        start += tensor.numel()


def remove(module, name):
    """Makes what is left of a pruned tensor a plain parameter."""
    found = _hooks_of(module, name)
    if not found:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    key, method = found[0]
    method.remove(module)
    del module._forward_pre_hooks[key]
    return module


def is_pruned(module):
    return any(isinstance(hook, BasePruningMethod) for m in module.modules() for hook in getattr(m, "_forward_pre_hooks", {}).values())
