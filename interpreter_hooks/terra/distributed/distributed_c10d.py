"""torch.distributed.distributed_c10d: where PyTorch keeps the functions of torch.distributed."""

from . import *  # noqa: F401,F403
from .collectives import *  # noqa: F401,F403
from .group import *  # noqa: F401,F403
from .group import GroupMember


def _get_default_group():
    if GroupMember.WORLD is None:
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
    return GroupMember.WORLD
