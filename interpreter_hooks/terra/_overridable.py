"""Functions in Python that offer their calls to __torch_function__ (override.h): the public ones of the modules in which PyTorch's
can be overridden. Ops offer theirs by themselves."""

import types

import _terra_C as C

# Homes of the functions of the top level that are loaded when they are first used.
HOMES = frozenset((
    "_foreach", "_histograms", "_layer_functions", "_linear_algebra", "_native_functions", "_rare_functions", "_sparse_functions",
    "_spectral", "_windows",
))  # fmt: skip
# Made of functions that are offered, or of no concern to tensors.
NOT_OFFERED = frozenset(("broadcast_shapes", "compile", "cond", "upsample", "upsample_bilinear", "upsample_nearest"))


def offered(function, public):
    """The callable that stands for a function of the module of that name; ops and everything else as they are."""
    if type(function) is types.FunctionType:
        function.__module__ = public
    elif type(function) is not types.BuiltinFunctionType:
        return function
    return C._overridable(function)


def offer(namespace, names=None, public=None):
    """Puts such callables into a namespace, one under all names that a function has there."""
    made = {}
    for name in set(namespace["__all__"] if names is None else names) - NOT_OFFERED:
        value = namespace[name]
        if id(value) not in made:
            made[id(value)] = value, offered(value, public or namespace["__name__"])
        namespace[name] = made[id(value)][1]
