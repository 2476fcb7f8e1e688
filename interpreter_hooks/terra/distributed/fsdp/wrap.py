"""Rules by which modules would be wrapped: with one process they are asked, and nothing is divided."""

import functools

__all__ = ["always_wrap_policy", "size_based_auto_wrap_policy", "transformer_auto_wrap_policy", "ModuleWrapPolicy"]


def always_wrap_policy(*args, **kwargs):
    return True


def size_based_auto_wrap_policy(module, recurse, nonwrapped_numel, min_num_params=int(1e8), **_):
    """Whether what isn't wrapped yet has that many parameters."""
    return nonwrapped_numel >= min_num_params


def transformer_auto_wrap_policy(module, recurse, nonwrapped_numel, transformer_layer_cls):
    return recurse or isinstance(module, tuple(transformer_layer_cls))


class ModuleWrapPolicy:
    """Modules of these classes."""

    def __init__(self, module_classes):
        self._classes = tuple(module_classes)

    def __call__(self, module, recurse, *args, **kwargs):
        return recurse or isinstance(module, self._classes)


lambda_auto_wrap_policy = functools.partial(lambda module, recurse, nonwrapped_numel, lambda_fn: recurse or lambda_fn(module))
