"""Several modules, each with its own part of a batch."""

__all__ = ["get_a_var", "parallel_apply"]


def get_a_var(value):
    """The first tensor in lists, tuples and dicts; None where there is none."""
    from ...utils._pytree import tree_leaves

    return next((leaf for leaf in tree_leaves(value) if hasattr(leaf, "requires_grad")), None)


def parallel_apply(modules, inputs, kwargs_tup=None, devices=None):
    """Each module with its own inputs, one after the other."""
    if len(modules) != len(inputs):
        raise AssertionError(f"The number of modules {len(modules)} is not equal to the number of inputs {len(inputs)}")
    options = [{}] * len(modules) if kwargs_tup is None else kwargs_tup
    given = [each if isinstance(each, (list, tuple)) else (each,) for each in inputs]
    return [module(*each, **option) for module, each, option in zip(modules, given, options)]
