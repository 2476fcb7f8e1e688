"""What PyTorch tries out with tensors of several processes."""

import contextlib

from ...._missing_parts import sentences
from ...._names import lazily


@contextlib.contextmanager
def implicit_replication():
    """Plain tensors count as held by every process in it, as they are by the one there is."""
    yield


globals().update(
    sentences(
        "torch.distributed.tensor.experimental", ("context_parallel", "local_map", "register_sharding"),
        "Terra has groups of one process, which holds every tensor whole",
    )
)  # fmt: skip

__getattr__ = lazily(__name__)
