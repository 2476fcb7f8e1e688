"""The default group, and groups made of its one process."""

import os

__all__ = [
    "Backend", "barrier", "destroy_process_group", "get_backend", "get_global_rank", "get_group_rank",
    "get_node_local_rank", "get_process_group_ranks", "get_rank", "get_world_size", "init_process_group",
    "is_backend_available", "is_initialized", "monitored_barrier", "new_group",
]  # fmt: skip

_BACKENDS = ("gloo", "nccl", "mpi", "ucc", "xccl")


class Backend(str):
    """The name of a backend, in lower case."""

    UNDEFINED, GLOO, NCCL, MPI, UCC, XCCL = "undefined", "gloo", "nccl", "mpi", "ucc", "xccl"

    def __new__(cls, name):
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish, got {name!r}")
        return super().__new__(cls, name.lower())


class ProcessGroup:
    """A group of this process alone."""

    def __init__(self, backend):
        self.backend = backend

    def rank(self):
        return 0

    def size(self):
        return 1

    def name(self):
        return self.backend


class GroupMember:
    """WORLD is the default group, NON_GROUP_MEMBER what a process outside a new group gets."""

    WORLD = None
    NON_GROUP_MEMBER = -100


class group:
    """The old name of the default group."""

    WORLD = None


def _number(given, variable, named):
    if given is not None and given >= 0:
        return given
    text = os.environ.get(variable)
    if text is None:
        raise ValueError(f"Error initializing torch.distributed using {named}: environment variable {variable} expected, but not set")
    return int(text)


def init_process_group(
    backend=None, init_method=None, timeout=None, world_size=-1, rank=-1, store=None, group_name="", pg_options=None,
    device_id=None,
):  # fmt: skip
    """Makes the default group, of one process. The size and the rank are given, or in the environment (env://), where
    WORLD_SIZE and RANK say them."""
    if is_initialized():
        raise ValueError("trying to initialize the default process group twice!")
    backend = Backend("gloo" if backend is None else str(backend).split(":")[-1])
    if backend not in _BACKENDS:
        raise ValueError(f"Unknown backend '{backend}': Terra's group of one process goes by the name 'gloo'.")
    if backend != "gloo":
        raise RuntimeError(f"Terra has no {backend} backend on the CPU. Use backend='gloo'.")
    query = dict(part.split("=") for part in (init_method or "").partition("?")[2].split("&") if "=" in part)
    size = int(query["world_size"]) if "world_size" in query else world_size
    place = int(query["rank"]) if "rank" in query else rank
    if store is None and (init_method is None or init_method.startswith("env:")):
        size, place = _number(size, "WORLD_SIZE", "env:// rendezvous"), _number(place, "RANK", "env:// rendezvous")
    if size is None or size < 0 or place is None or place < 0:
        raise ValueError("init_process_group: world_size and rank have to be given with this init_method")
    if size != 1:
        raise RuntimeError(
            f"init_process_group: a group of {size} processes was asked for, and Terra has groups of one process; several "
            "processes are not there yet. Start the program once, with WORLD_SIZE=1."
        )
    if place != 0:
        raise ValueError(f"init_process_group: rank {place} is not in a group of one process, whose only rank is 0")
    GroupMember.WORLD = group.WORLD = ProcessGroup(str(backend))


def is_initialized():
    return GroupMember.WORLD is not None


def of(which):
    """The group that a collective is called with, the default one for None."""
    if which is None:
        if GroupMember.WORLD is None:
            raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
        return GroupMember.WORLD
    return which


def destroy_process_group(group=None):
    if of(group) is GroupMember.WORLD:
        GroupMember.WORLD = globals()["group"].WORLD = None


def _outside(which):
    return which == GroupMember.NON_GROUP_MEMBER


def get_rank(group=None):
    return -1 if _outside(group) else of(group).rank()


def get_world_size(group=None):
    return -1 if _outside(group) else of(group).size()


def get_backend(group=None):
    return of(group).backend


def get_node_local_rank(fallback_rank=None):
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError("LOCAL_RANK is not in the environment. Consider passing fallback_rank.")


def get_process_group_ranks(group=None):
    of(group)
    return [0]


def get_global_rank(group, group_rank):
    if group_rank != 0:
        raise ValueError(f"Group rank {group_rank} is not part of a group of one process")
    return 0


get_group_rank = get_global_rank


def is_backend_available(backend):
    return backend.lower() == "gloo"


def new_group(ranks=None, timeout=None, backend=None, pg_options=None, use_local_synchronization=False, group_desc=None, device_id=None):
    """A group with this process, or the mark of one outside where `ranks` is empty."""
    world = of(None)
    if ranks is None or list(ranks) == [0]:
        return ProcessGroup(world.backend)
    if len(list(ranks)) == 0:
        return GroupMember.NON_GROUP_MEMBER
    raise ValueError(f"new_group: the ranks {list(ranks)} are not in a world of one process, whose only rank is 0")


def barrier(group=None, async_op=False, device_ids=None):
    of(group)
    if async_op:
        from .collectives import Work

        return Work()


def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    of(group)
