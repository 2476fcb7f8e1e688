"""Collectives that give a tensor instead of writing one; in a group of one process each gives what it gets."""

from .._names import lazily
from .nn import functional as _with_gradient
from .collectives import ReduceOp


def wait_tensor(tensor):
    return tensor


def all_reduce(self, reduceOp, group=None, tag=""):
    return _with_gradient.all_reduce(self)


def broadcast(self, src, group=None, tag=""):
    return _with_gradient.broadcast(self, src)


def all_gather_tensor(self, gather_dim, group=None, tag=""):
    return _with_gradient.all_reduce(self)


def reduce_scatter_tensor(self, reduceOp, scatter_dim, group=None, tag=""):
    return _with_gradient.all_reduce(self, ReduceOp.SUM)


def all_to_all_single(self, output_split_sizes, input_split_sizes, group=None, tag=""):
    return _with_gradient.all_to_all_single(None, self)


all_gather_tensor_autograd, reduce_scatter_tensor_autograd = all_gather_tensor, reduce_scatter_tensor
all_to_all_single_autograd = all_to_all_single

__getattr__ = lazily(__name__)
