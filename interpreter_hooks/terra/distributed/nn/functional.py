"""Collectives that give a tensor with a gradient. In a group of one process each of them is a view of its input."""

from ..._names import lazily
from ..collectives import ReduceOp, _one, _root, _tensor
from ..group import of

__all__ = [
    "all_gather", "all_reduce", "all_to_all", "all_to_all_single", "broadcast", "gather", "reduce", "reduce_scatter", "scatter",
]  # fmt: skip


def _alone(tensor, group):
    _tensor(tensor, "tensor")
    of(group)
    return tensor.view_as(tensor)


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    return _alone(tensor, group)


def reduce(tensor, dst, op=ReduceOp.SUM, group=None):
    _root(dst, "dst")
    return _alone(tensor, group)


def broadcast(tensor, src, group=None):
    _root(src, "src")
    return _alone(tensor, group)


def all_gather(tensor, group=None):
    return (_alone(tensor, group),)


def gather(tensor, dst=0, group=None):
    _root(dst, "dst")
    return all_gather(tensor, group)


def scatter(tensors, src=0, group=None):
    _root(src, "src")
    _one(tensors, "tensors")
    return _alone(tensors[0], group)


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None):
    _one(input_list, "input_list")
    return _alone(input_list[0], group)


def all_to_all(output_tensor_list, input_tensor_list, group=None):
    _one(input_tensor_list, "input_tensor_list")
    return (_alone(input_tensor_list[0], group),)


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None):
    return _alone(input, group)


__getattr__ = lazily(__name__)
