"""Optimizer: groups of parameters, their settings and their state.

step() of the subclasses is written for the recorder: loops over lists and dicts, then one multi-tensor op per group."""

import gc
import warnings
from collections import OrderedDict, abc, defaultdict
from copy import deepcopy

import _terra_C as C

from .._names import lazily
from ..utils.hooks import HookDict, RemovableHandle
from .state_hooks import StateHooks

__getattr__ = lazily(
    __name__, functions={
        "terra.optim.params_type": ("DeviceDict", "ParamsT", "StateDict"),
        "terra.optim.copied": (
            "_capturable_doc", "_default_to_fused_or_foreach", "_device_dtype_check_for_fused", "_differentiable_doc",
            "_disable_dynamo_if_unsupported", "_foreach_doc", "_fused_doc", "_get_capturable_supported_devices",
            "_get_scalar_dtype", "_get_value", "_maximize_doc", "_params_doc", "_stack_if_compiling", "_to_scalar",
            "_use_grad_for_differentiable", "_view_as_real",
        ),
    },
)  # fmt: skip
_global_pre_hooks, _global_post_hooks = HookDict(), HookDict()
required = object()  # the old mark of a setting without a default


class Optimizer(StateHooks):
    """Base of optimizers. `state[p]` is the dict of a parameter's state; it exists from the first step on."""

    _opt_called = False  # whether step() was

    def __init__(self, params, defaults):
        if isinstance(params, C.Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got " + params.type()
            )
        if isinstance(params, set):
            warnings.warn(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                "will change between runs. Please use a list instead. This will be an error in a future release.",
                FutureWarning,
                stacklevel=2,
            )
        check_one_element(defaults.get("lr"))
        self.defaults = defaults
        self.state = defaultdict(dict)
        self.param_groups = []
        self._patch_step_function()
        groups = list(params)
        if len(groups) == 0:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(dict(group))
        if defaults.get("fused") and defaults.get("differentiable"):
            raise RuntimeError("`fused` does not support `differentiable`")
        if defaults.get("fused") and defaults.get("foreach"):
            raise RuntimeError("`fused` and `foreach` cannot be `True` together.")

    def add_param_group(self, param_group):
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, C.Tensor):
            params = [params]
        elif isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                "will change between runs. Please use a list instead."
            )
        params = self._without_names(param_group, list(params))
        param_group["params"] = params
        for parameter in params:
            if not isinstance(parameter, C.Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {_typename(parameter)}")
            if not (parameter.is_leaf or self.defaults.get("differentiable")):
                raise ValueError("can't optimize a non-leaf Tensor")
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        if len(params) != len(set(params)):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; "
                "see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=3,
            )
        known = set()
        for group in self.param_groups:
            known.update(group["params"])
            if ("param_names" in param_group) != ("param_names" in group):
                kind = "with names" if "param_names" in param_group else "without names"
                raise ValueError(
                    "all optimizer param groups should be with/without names. cannot add param group "
                    f"{kind} to the optimizer"
                )
        if not known.isdisjoint(params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    @staticmethod
    def _without_names(param_group, params):
        """named_parameters() may be given in the place of parameters(): the names are kept beside them."""
        named = [p for p in params if isinstance(p, tuple)]
        if not named:
            return params
        if len(named) != len(params):
            raise ValueError("all optimizer params should be with/without names. Some param names are missing")
        param_group["param_names"] = [name for name, _ in params]
        return [parameter for _, parameter in params]

    def __repr__(self):
        lines = [type(self).__name__ + " ("]
        for i, group in enumerate(self.param_groups):
            lines += [""] * (i > 0) + [f"Parameter Group {i}"]
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join(lines) + "\n)"

    def __getstate__(self):
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def _patch_step_function(self):
        """Optimizers around another one, which don't call __init__ of this class, call this in its place: step() gets hooks."""
        self.__dict__.setdefault("_optimizer_step_pre_hooks", HookDict())
        self.__dict__.setdefault("_optimizer_step_post_hooks", HookDict())
        if _global_pre_hooks or _global_post_hooks:
            self.step = self._step_with_hooks

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._patch_step_function()
        self.defaults.setdefault("differentiable", False)

    def zero_grad(self, set_to_none=True):
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    if set_to_none:
                        parameter.grad = None
                    else:
                        if parameter.grad.grad_fn is not None:
                            parameter.grad = parameter.grad.detach()
                        else:
                            parameter.grad.requires_grad_(False)
                        parameter.grad.zero_()

    def step(self, closure=None):
        raise NotImplementedError

    def _has_stepped(self):
        """Whether step() was called, as far as it is one of ours that says so."""
        return self._opt_called or not type(self).step.__module__.startswith("terra.optim")

    def _loss_of(self, closure):
        """The loss that a closure computes again, with gradients, in the middle of step()."""
        with C.enable_grad():
            return closure()

    # ---- hooks ----

    def register_step_pre_hook(self, hook):
        """hook(optimizer, args, kwargs) -> None or (args, kwargs), before step()."""
        return self._add_step_hook("_optimizer_step_pre_hooks", hook)

    def register_step_post_hook(self, hook):
        """hook(optimizer, args, kwargs), after step()."""
        return self._add_step_hook("_optimizer_step_post_hooks", hook)

    def _add_step_hook(self, kind, hook):
        hooks = self.__dict__[kind]
        handle = RemovableHandle(hooks)
        hooks[handle.id] = hook
        self.step = self._step_with_hooks  # an attribute of the instance: without hooks, step() is the class's own
        return handle

    def _step_with_hooks(self, *args, **kwargs):
        for hook in [*_global_pre_hooks.values(), *self._optimizer_step_pre_hooks.values()]:
            changed = hook(self, args, kwargs)
            if changed is not None:
                if not isinstance(changed, tuple) or len(changed) != 2:
                    raise RuntimeError(
                        f"{type(self).step} must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                    )
                args, kwargs = changed
        result = type(self).step(self, *args, **kwargs)
        for hook in [*self._optimizer_step_post_hooks.values(), *_global_post_hooks.values()]:
            hook(self, args, kwargs)
        return result

    # ---- saving ----

    def _packed_state(self):
        numbers = {}
        groups = []
        for group in self.param_groups:
            for parameter in group["params"]:
                numbers.setdefault(id(parameter), len(numbers))
            packed = {key: value for key, value in group.items() if key != "params"}
            packed["params"] = [numbers[id(parameter)] for parameter in group["params"]]
            groups.append(packed)
        state = {
            (numbers[id(key)] if isinstance(key, C.Tensor) else key): value for key, value in self.state.items()
        }
        return {"state": state, "param_groups": groups}

    def _load_packed_state(self, state_dict):
        groups = self.param_groups
        saved_groups = [dict(group) for group in state_dict["param_groups"]]
        if len(groups) != len(saved_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        for group, saved in zip(groups, saved_groups):
            if len(group["params"]) != len(saved["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
                )
        by_number = {}
        for group, saved in zip(groups, saved_groups):
            by_number.update(zip(saved["params"], group["params"]))
        state = defaultdict(dict)
        for number, value in state_dict["state"].items():
            if number in by_number:
                parameter = by_number[number]
                state[parameter] = _cast_state(parameter, value)
            else:
                state[number] = value
        for group, saved in zip(groups, saved_groups):
            saved["params"] = group["params"]
        self.__setstate__({"state": state, "param_groups": [deepcopy_settings(group) for group in saved_groups]})


def _register_global(hooks, hook):
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    for each in gc.get_objects():  # optimizers are not kept account of for the few programs that come here
        if issubclass(type(each), Optimizer):
            each.step = each._step_with_hooks
    return handle


def register_optimizer_step_pre_hook(hook):
    """hook(optimizer, args, kwargs) -> None or (args, kwargs), before step() of every optimizer."""
    return _register_global(_global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook):
    """hook(optimizer, args, kwargs), after step() of every optimizer."""
    return _register_global(_global_post_hooks, hook)


class GroupOptimizer(Optimizer):
    """Steps group by group and, unless a subclass takes a whole group at once, parameter by parameter: `_update`."""

    _takes_sparse = False  # whether it knows what to do with a sparse gradient

    def step(self, closure=None):
        if not self._opt_called:
            self._opt_called = True
        loss = None
        if closure is not None:
            loss = self._loss_of(closure)
        with C.no_grad():
            for group in self.param_groups:
                self._step_group(group)
        return loss

    def _step_group(self, group):
        for p in group["params"]:
            grad = p.grad
            if grad is not None:
                if grad.is_sparse and not self._takes_sparse:
                    self._refuse_sparse()
                self._update(group, p, grad, self.state[p])

    def _refuse_sparse(self):
        raise RuntimeError(f"{type(self).__name__} does not support sparse gradients")


def deepcopy_settings(group):
    return {key: value if key == "params" else deepcopy(value) for key, value in group.items()}


def _cast_state(parameter, value, key=None):
    """A copy of saved state in the parameter's dtype; step counters keep their own."""
    if isinstance(value, C.Tensor):
        if key != "step" and parameter.is_floating_point() and value.is_floating_point():
            return value.detach().to(parameter.dtype).clone()
        return value.detach().clone()
    if isinstance(value, dict):
        return {k: _cast_state(parameter, v, k) for k, v in value.items()}
    if isinstance(value, abc.Iterable) and not isinstance(value, (str, bytes, OrderedDict)):
        return type(value)(_cast_state(parameter, v) for v in value)
    return value


def _typename(value):
    from .._typename import typename

    return typename(value)


def in_parts(tensors):
    """Complex parameters as pairs of real ones, each of which moves for itself."""
    return [C.view_as_real(t) if t.is_complex() else t for t in tensors]


def rows_of(grad):
    """(indices of what a sparse gradient specifies, each once; its values there)"""
    grad = grad.coalesce()
    return grad._indices().unbind(0), grad._values()


def add_rows_(tensor, rows, values):
    """Adds to those rows, and touches no others."""
    return C._ops.index_put_(tensor, rows, values, True)


def check_one_element(lr):
    if isinstance(lr, C.Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")


def check_not_negative(value, text):
    check_one_element(value)
    if not 0.0 <= value:
        raise ValueError(f"Invalid {text}: {value}")


def check_betas(betas):
    for i in (0, 1):
        if not 0.0 <= betas[i] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {betas[i]}")
