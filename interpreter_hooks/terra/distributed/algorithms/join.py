"""Processes with more inputs than others: one process has nobody to wait for."""

from ..._names import lazily

__all__ = ["Join", "Joinable", "JoinHook"]


class JoinHook:
    """What a process that is done does for the others, and what all do at the end."""

    def main_hook(self):
        pass

    def post_hook(self, is_last_joiner):
        pass


class Joinable:
    """Something that a Join can wait with."""


class Join:
    """A context in which each of the joinables trains; at its end their hooks are told that this process was the last."""

    def __init__(self, joinables, enable=True, throw_on_early_termination=False, **kwargs):
        if len(joinables) == 0:
            raise ValueError("The join context manager requires at least one joinable")
        self._joinables, self._enabled, self._settings = joinables, enable, kwargs

    def __enter__(self):
        return None

    def __exit__(self, kind, value, trace):
        if self._enabled and kind is None:
            for joinable in self._joinables:
                if hasattr(joinable, "join_hook"):
                    joinable.join_hook(**self._settings).post_hook(True)

    @staticmethod
    def notify_join_context(joinable):
        return None


__getattr__ = lazily(__name__)
