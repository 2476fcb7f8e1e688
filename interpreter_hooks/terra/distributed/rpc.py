"""torch.distributed.rpc: calls between processes, of which there is one."""

from .._missing_parts import sentences
from .._names import lazily


def is_available():
    return False


globals().update(
    sentences(
        "torch.distributed.rpc", ("get_worker_info", "init_rpc", "remote", "rpc_async", "rpc_sync", "shutdown"),
        "Terra has groups of one process, which has nobody to call",
    )
)  # fmt: skip

__getattr__ = lazily(__name__)
