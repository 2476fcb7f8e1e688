"""torch._lowrank: factors of few columns."""

from ._linear_algebra import pca_lowrank, svd_lowrank  # noqa: F401
