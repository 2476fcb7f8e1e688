"""torch.distributed over a group of one process.

Every collective of one process is a copy or nothing; larger groups are refused when they are asked for."""

import datetime
import os

from .._missing_parts import sentences
from .._names import lazily
from .collectives import *  # noqa: F401,F403
from .collectives import ReduceOp, Work
from .group import *  # noqa: F401,F403
from .group import GroupMember, ProcessGroup, group
from .device_mesh import DeviceMesh, init_device_mesh
from .stores import FileStore, HashStore, PrefixStore, Store, TCPStore

reduce_op = ReduceOp
default_pg_timeout = datetime.timedelta(minutes=30)

__all__ = [
    "DeviceMesh", "FileStore", "GroupMember", "HashStore", "PrefixStore", "ProcessGroup", "ReduceOp", "Store", "TCPStore", "Work", "group", "init_device_mesh",
]  # fmt: skip


class DistError(RuntimeError):
    """What processes can't agree on."""


class DistBackendError(DistError):
    """A backend failed."""


class DistNetworkError(DistError):
    """The network failed."""


class DistStoreError(DistError):
    """The store failed."""


def is_available():
    return True


def is_gloo_available():
    """True: the backend of that name is the group of one."""
    return True


def is_nccl_available():
    return False


def is_mpi_available():
    return False


def is_ucc_available():
    return False


def is_xccl_available():
    return False


def is_torchelastic_launched():
    return "TORCHELASTIC_RUN_ID" in os.environ


_ONE = "Terra has groups of one process, which has nobody to exchange messages with"
globals().update(
    sentences(
        "torch.distributed",
        ("P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "recv_object_list", "send", "send_object_list"),
        _ONE,
    )
)
_LATER = "it is not in Terra yet, which has groups of one process"
globals().update(sentences("torch.distributed", ("new_subgroups", "split_group"), _LATER))

__getattr__ = lazily(
    __name__,
    (
        "_composable", "_functional_collectives", "_tensor", "algorithms", "autograd", "checkpoint", "constants", "device_mesh",
        "fsdp", "nn", "optim", "rpc", "tensor",
    ),
)  # fmt: skip
