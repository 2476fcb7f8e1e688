"""Arithmetic of sizes: PyTorch has symbols for them while it traces; here sizes are always numbers."""

import math


def sym_int(a):
    """The whole part of a number."""
    return math.trunc(a)


def sym_float(a):
    return float(a)


def sym_not(a):
    return not a


def _extreme(a, b, function):
    for name, value in (("a", a), ("b", b)):
        if not isinstance(value, (int, float)):
            raise AssertionError(f"expected {(int, float)} for {name}, got {type(value)}")
    return float(function(a, b)) if isinstance(a, float) or isinstance(b, float) else function(a, b)


def sym_max(a, b):
    """The larger of two numbers, a float if either is one."""
    return _extreme(a, b, max)


def sym_min(a, b):
    return _extreme(a, b, min)


def sym_ite(b, t, f):
    """t if b, else f, which is of the same type."""
    if not isinstance(b, bool):
        raise AssertionError(f"expected SymBool or bool, got {type(b)}")
    if type(t) is not type(f):
        raise AssertionError(f"expected type(t) == type(f), got {type(t)} and {type(f)}")
    return t if b else f


def sym_sum(args):
    return sum(args)


def sym_sqrt(a):
    return math.sqrt(a)
