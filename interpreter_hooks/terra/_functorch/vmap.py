"""Functions over batches."""

from ..func import vmap  # noqa: F401
from ..utils._pytree import tree_flatten, tree_unflatten  # noqa: F401
