"""Warnings that a process gives once, however often there is a reason."""

import warnings

_told = set()


def warn_once(text, category=UserWarning, stacklevel=2):
    """Warns of what the caller's caller does, the first time that this text is given."""
    if text not in _told:
        _told.add(text)
        warnings.warn(text, category, stacklevel=stacklevel + 1)
