"""Modules over several devices, of which there is one: the wrappers call the module that they hold."""

from ..._names import lazily
from .data_parallel import DataParallel, data_parallel
from .distributed import DistributedDataParallel
from .parallel_apply import parallel_apply
from .replicate import replicate
from .scatter_gather import gather, scatter  # noqa: F401

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel", "gather", "parallel_apply", "replicate", "scatter"]

__getattr__ = lazily(__name__, ("_functions", "comm", "distributed"))
