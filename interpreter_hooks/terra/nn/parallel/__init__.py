"""Modules over several devices, of which there is one: the wrappers call the module that they hold."""

from ..._names import lazily
from .data_parallel import DataParallel, data_parallel
from .distributed import DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel"]

__getattr__ = lazily(__name__, ("data_parallel", "distributed", "scatter_gather"))
