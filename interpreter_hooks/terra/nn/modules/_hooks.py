"""Hooks on modules: functions that run before and after forward, and on the gradients of its inputs and outputs.

A module has no dicts of hooks until the first is registered, or somebody asks for one, so that calling a module without hooks
is calling its forward: ModuleBase.__call__ looks for the dicts and comes to `_call_with_hooks` only when one holds something."""

import _terra_C as C

from ...utils.hooks import HookDict, RemovableHandle, of_object
from ._full_backward import observe_inputs, observe_outputs

_global_hooks = C._global_module_hooks
_registration_hooks = C._registration_hooks
_global_options = HookDict()  # by the same keys: what forward hooks were registered with


def _global_dict(kind):
    hooks = _global_hooks.get(kind)
    if hooks is None:
        hooks = _global_hooks[kind] = HookDict()
    return hooks


class Hooks:
    """The part of Module that registers and runs hooks."""

    __slots__ = ()
    _is_full_backward_hook = None  # which kind of backward hooks it has, if any

    def _hook_dict(self, kind):
        """The hooks of one kind by key, in order; what they were registered with is in `kind + '_options'`. Asking the module
        for an attribute instead would make the dict."""
        return self.__dict__.get(kind, {})

    def _hooks(self, kind):
        return list(self._hook_dict(kind).values())

    def _add_hook(self, kind, hook, prepend=False, options=None):
        hooks = self.__dict__.setdefault(kind, {})
        all_options = self.__dict__.setdefault(kind + "_options", {})
        handle = RemovableHandle(of_object(self, kind), extra=(of_object(self, kind + "_options"),))
        hooks[handle.id] = hook
        all_options[handle.id] = options or {}
        if prepend:
            rest = [(k, v) for k, v in hooks.items() if k != handle.id]
            hooks.clear()
            hooks[handle.id] = hook
            hooks.update(rest)
        return handle

    def _options(self, kind, key):
        return self._hook_dict(kind + "_options").get(key, {})

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """hook(module, args) -> None or modified args; with_kwargs: hook(module, args, kwargs) -> None or both."""
        return self._add_hook("_forward_pre_hooks", hook, prepend, {"kwargs": with_kwargs})

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """hook(module, args, output) -> None or another output."""
        return self._add_hook("_forward_hooks", hook, prepend, {"kwargs": with_kwargs, "always": always_call})

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """hook(module, grad_output) -> None or other gradients."""
        return self._add_hook("_backward_pre_hooks", hook, prepend)

    def register_full_backward_hook(self, hook, prepend=False):
        """hook(module, grad_input, grad_output) -> None or other gradients of the inputs."""
        self._take_kind_of_backward_hooks(True)
        return self._add_hook("_backward_hooks", hook, prepend)

    def register_backward_hook(self, hook):
        self._take_kind_of_backward_hooks(False)
        return self._add_hook("_backward_hooks", hook, False)

    def _take_kind_of_backward_hooks(self, full):
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of "
                "them."
            )
        self._is_full_backward_hook = full

    def register_state_dict_pre_hook(self, hook):
        return self._add_hook("_state_dict_pre_hooks", hook)

    def register_state_dict_post_hook(self, hook):
        return self._add_hook("_state_dict_hooks", hook)

    def _register_state_dict_hook(self, hook):
        return self._add_hook("_state_dict_hooks", hook)

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        bound = (lambda *args: hook(self, *args)) if with_module else hook
        return self._add_hook("_load_state_dict_pre_hooks", bound)

    def register_load_state_dict_pre_hook(self, hook):
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def register_load_state_dict_post_hook(self, hook):
        return self._add_hook("_load_state_dict_post_hooks", hook)

    def _call_with_hooks(self, args, kwargs):
        """What calling the module does when it, or every module, has hooks."""
        called = False
        try:
            args, kwargs = self._run_forward_pre_hooks(args, kwargs)
            pre_hooks = [*_global_hooks.get("backward_pre", {}).values(), *self._hooks("_backward_pre_hooks")]
            hooks = [*_global_hooks.get("backward", {}).values(), *self._hooks("_backward_hooks")]
            seen = None
            if hooks or pre_hooks:
                args, seen = observe_inputs(self, args, hooks)
            result = self.forward(*args, **kwargs)
            called = True
            result = self._run_forward_hooks(args, kwargs, result)
            if seen is not None:
                result = observe_outputs(self, result, pre_hooks, seen)
            return result
        except Exception:
            if not called:
                self._run_always_hooks(args, kwargs)
            raise

    def _run_forward_pre_hooks(self, args, kwargs):
        for hook in list(_global_hooks.get("forward_pre", {}).values()):
            args = _as_args(hook(self, args), args)
        for key, hook in list(self._hook_dict("_forward_pre_hooks").items()):
            if self._options("_forward_pre_hooks", key).get("kwargs"):
                changed = hook(self, args, kwargs)
                if changed is not None:
                    if not isinstance(changed, tuple) or len(changed) != 2:
                        raise RuntimeError(
                            "forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got "
                            f"{changed}."
                        )
                    args, kwargs = changed
            else:
                args = _as_args(hook(self, args), args)
        return args, kwargs

    def _run_forward_hooks(self, args, kwargs, result):
        for key, hook in list(_global_hooks.get("forward", {}).items()):
            if _global_options.get(key, {}).get("kwargs"):
                changed = hook(self, args, kwargs, result)
            else:
                changed = hook(self, args, result)
            result = result if changed is None else changed
        for key, hook in list(self._hook_dict("_forward_hooks").items()):
            if self._options("_forward_hooks", key).get("kwargs"):
                changed = hook(self, args, kwargs, result)
            else:
                changed = hook(self, args, result)
            result = result if changed is None else changed
        return result

    def _run_always_hooks(self, args, kwargs):
        """Hooks registered with always_call run (with no result) when forward raised; their own errors are dropped in
        favour of the first."""
        every = [(hook, _global_options.get(key, {})) for key, hook in _global_hooks.get("forward", {}).items()]
        own = [(hook, self._options("_forward_hooks", key)) for key, hook in self._hook_dict("_forward_hooks").items()]
        for hook, options in every + own:
            if options.get("always"):
                try:
                    hook(self, args, kwargs, None) if options.get("kwargs") else hook(self, args, None)
                except Exception:
                    continue


def _as_args(changed, args):
    if changed is None:
        return args
    return changed if isinstance(changed, tuple) else (changed,)


def _register_global(kind, hook, options=None):
    hooks = _global_dict(kind)
    handle = RemovableHandle(hooks, extra=(_global_options,))
    hooks[handle.id] = hook
    if options:
        _global_options[handle.id] = options
    return handle


def _register_for_members(kind, hook):
    """The first one ends what was captured with members that are set without asking anybody."""
    hooks = _registration_hooks.get(kind)
    if hooks is None:
        hooks = _registration_hooks[kind] = HookDict()
        C.capture_reset()
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def register_module_parameter_registration_hook(hook):
    """hook(module, name, parameter) -> None or another parameter, whenever a module gets one."""
    return _register_for_members("parameter", hook)


def register_module_buffer_registration_hook(hook):
    """hook(module, name, buffer) -> None or another buffer."""
    return _register_for_members("buffer", hook)


def register_module_module_registration_hook(hook):
    """hook(module, name, submodule) -> None or another module."""
    return _register_for_members("module", hook)


def register_module_forward_pre_hook(hook):
    return _register_global("forward_pre", hook)


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    return _register_global("forward", hook, {"kwargs": with_kwargs, "always": always_call})


def register_module_full_backward_pre_hook(hook):
    return _register_global("backward_pre", hook)


def register_module_full_backward_hook(hook):
    return _register_global("backward", hook)
