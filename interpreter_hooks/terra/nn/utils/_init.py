"""Modules whose initial values nobody needs."""


def skip_init(module_cls, *args, **kwargs):
    """The module; its initial values are drawn all the same, as there is no device without memory to make it on first."""
    from ..modules.module import Module

    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    return module_cls(*args, **kwargs)
