"""torch.backends.mha: attention's short way for evaluation; there is one way here, and the switch is kept."""

_fastpath = True


def get_fastpath_enabled():
    return _fastpath


def set_fastpath_enabled(value):
    globals()["_fastpath"] = value
