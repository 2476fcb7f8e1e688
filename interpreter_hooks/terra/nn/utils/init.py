"""Modules whose initial values nobody needs."""

import inspect


def skip_init(module_cls, *args, **kwargs):
    """The module with tensors as yet without values: it is made on the meta device, where drawing costs nothing."""
    from ..modules.module import Module

    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, device="meta", **kwargs).to_empty(device=device)
