"""Arguments that are one number or one per dimension."""


def ntuple(n):
    def repeat(value):
        return tuple(value) if isinstance(value, (tuple, list)) else (value,) * n

    return repeat


single, pair, triple = ntuple(1), ntuple(2), ntuple(3)
_single, _pair, _triple = single, pair, triple
