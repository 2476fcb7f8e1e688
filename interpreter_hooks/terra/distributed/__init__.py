"""torch.distributed over a group of one process.

Every collective of one process is a copy or nothing; larger groups are refused when they are asked for."""

import os

from .._missing_parts import sentences
from .._names import lazily
from .collectives import *  # noqa: F401,F403
from .collectives import ReduceOp, Work
from .group import *  # noqa: F401,F403
from .group import GroupMember, ProcessGroup, group
from .stores import FileStore, HashStore, PrefixStore, Store, TCPStore

reduce_op = ReduceOp

__all__ = [
    "FileStore", "GroupMember", "HashStore", "PrefixStore", "ProcessGroup", "ReduceOp", "Store", "TCPStore", "Work", "group",
]  # fmt: skip


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
globals().update(sentences("torch.distributed", ("batch_isend_irecv", "irecv", "isend", "recv", "send"), _ONE))
_LATER = "it is not in Terra yet, which has groups of one process"
globals().update(sentences("torch.distributed", ("init_device_mesh", "new_subgroups", "split_group"), _LATER))

__getattr__ = lazily(__name__)
