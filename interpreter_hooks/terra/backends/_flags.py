"""Switches that are set for a block."""

import contextlib


@contextlib.contextmanager
def switched(namespace, **values):
    """The names of a module's namespace have these values inside."""
    before = {name: namespace[name] for name in values}
    namespace.update(values)
    try:
        yield
    finally:
        namespace.update(before)
