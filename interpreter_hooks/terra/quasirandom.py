"""torch.quasirandom: sequences that fill a cube evenly."""

from ._names import lazily

__all__ = ["SobolEngine"]


class SobolEngine:
    """Imports; making one says that it is not there."""

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension, scramble=False, seed=None):
        raise NotImplementedError(
            "torch.quasirandom.SobolEngine is not in Terra: it rests on a table of direction numbers for each dimension. "
            "torch.rand draws points that are independent of each other."
        )


__getattr__ = lazily(__name__)
