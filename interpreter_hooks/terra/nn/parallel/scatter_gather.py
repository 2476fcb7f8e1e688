"""Parts of a batch on several devices: there are none, and what needs one says so."""

from ..._missing_parts import sentences

__all__ = ["gather", "parallel_apply", "replicate", "scatter", "scatter_kwargs"]

_WHY = "Terra has one device, on which there is nothing to divide: call the module itself"
globals().update(sentences("torch.nn.parallel", ("gather", "replicate", "scatter", "scatter_kwargs"), _WHY))


def parallel_apply(modules, inputs, kwargs_tup=None, devices=None):
    """Each module with its own inputs, one after the other."""
    if len(modules) != len(inputs):
        raise AssertionError(f"The number of modules {len(modules)} is not equal to the number of inputs {len(inputs)}")
    options = [{}] * len(modules) if kwargs_tup is None else kwargs_tup
    given = [each if isinstance(each, (list, tuple)) else (each,) for each in inputs]
    return [module(*each, **option) for module, each, option in zip(modules, given, options)]
