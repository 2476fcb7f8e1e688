"""Hooks around an optimizer's state_dict() and load_state_dict()."""

from ..utils.hooks import HookDict, RemovableHandle


class StateHooks:
    """The part of Optimizer that keeps them; made when the first one is registered."""

    def _register_state_hook(self, kind, hook, prepend):
        hooks = self.__dict__.setdefault("_state_hooks", {}).setdefault(kind, HookDict())
        handle = RemovableHandle(hooks)
        before = dict(hooks)
        if prepend:
            hooks.clear()
        hooks[handle.id] = hook
        hooks.update(before)
        return handle

    def _state_hooks_of(self, kind):
        return list(self.__dict__.get("_state_hooks", {}).get(kind, {}).values())

    def register_state_dict_pre_hook(self, hook, prepend=False):
        """hook(optimizer), before state_dict()."""
        return self._register_state_hook("state_dict_pre", hook, prepend)

    def register_state_dict_post_hook(self, hook, prepend=False):
        """hook(optimizer, state_dict): another state_dict, or None."""
        return self._register_state_hook("state_dict_post", hook, prepend)

    def register_load_state_dict_pre_hook(self, hook, prepend=False):
        """hook(optimizer, state_dict), before it is loaded: another one, or None."""
        return self._register_state_hook("load_state_dict_pre", hook, prepend)

    def register_load_state_dict_post_hook(self, hook, prepend=False):
        """hook(optimizer), when it has been loaded."""
        return self._register_state_hook("load_state_dict_post", hook, prepend)

    def state_dict(self):
        """State by parameter number, groups with numbers for parameters: nothing in it refers to the model."""
        for hook in self._state_hooks_of("state_dict_pre"):
            hook(self)
        return self._handed_on("state_dict_post", self._packed_state())

    def load_state_dict(self, state_dict):
        self._load_packed_state(self._handed_on("load_state_dict_pre", dict(state_dict)))
        for hook in self._state_hooks_of("load_state_dict_post"):
            hook(self)

    def _handed_on(self, kind, state_dict):
        for hook in self._state_hooks_of(kind):
            other = hook(self, state_dict)
            state_dict = state_dict if other is None else other
        return state_dict
