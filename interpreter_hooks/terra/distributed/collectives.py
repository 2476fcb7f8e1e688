"""Collectives over one process: what it gives is what it gets."""

from enum import IntEnum

import _terra_C as C

from .group import of

__all__ = [
    "all_gather", "all_gather_into_tensor", "all_gather_object", "all_reduce", "all_to_all", "all_to_all_single",
    "broadcast", "broadcast_object_list", "gather", "gather_object", "reduce", "reduce_scatter", "reduce_scatter_tensor",
    "scatter", "scatter_object_list",
]  # fmt: skip


class ReduceOp(IntEnum):
    """How the tensors of several processes become one."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = range(9)


ReduceOp.RedOpType = ReduceOp  # type annotations have it


class Work:
    """A collective under way: done when it is made."""

    def __init__(self, result=()):
        self._result = list(result)

    def wait(self, timeout=None):
        return True

    def is_completed(self):
        return True

    def is_success(self):
        return True

    def exception(self):
        return None

    def result(self):
        return self._result

    def get_future(self):
        raise NotImplementedError("Work.get_future is not in Terra yet: call wait()")


def _tensor(value, name):
    if not isinstance(value, C.Tensor):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor but got {type(value)} instead.")


def _root(rank, name):
    if rank not in (0, None):
        raise ValueError(f"{name}={rank} is not in a group of one process, whose only rank is 0")


def _one(values, name):
    if len(values) != 1:
        raise ValueError(f"{name} has {len(values)} entries for a group of one process")


def _copy(into, source):
    with C.no_grad():
        into.copy_(source.view(into.shape) if into.numel() == source.numel() else source)


def _done(async_op, *tensors):
    return Work(tensors) if async_op else None


def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    _tensor(tensor, "tensor")
    of(group)
    return _done(async_op, tensor)


def reduce(tensor, dst=None, op=ReduceOp.SUM, group=None, async_op=False, group_dst=None):
    _root(dst, "dst")
    return all_reduce(tensor, op, group, async_op)


def broadcast(tensor, src=None, group=None, async_op=False, group_src=None):
    _root(src, "src")
    return all_reduce(tensor, ReduceOp.SUM, group, async_op)


def all_gather(tensor_list, tensor, group=None, async_op=False):
    _tensor(tensor, "tensor")
    of(group)
    _one(tensor_list, "tensor_list")
    _copy(tensor_list[0], tensor)
    return _done(async_op, *tensor_list)


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    return all_gather([output_tensor], input_tensor, group, async_op)


def gather(tensor, gather_list=None, dst=None, group=None, async_op=False, group_dst=None):
    _root(dst, "dst")
    if gather_list is None:
        raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    return all_gather(gather_list, tensor, group, async_op)


def scatter(tensor, scatter_list=None, src=None, group=None, async_op=False, group_src=None):
    _root(src, "src")
    if scatter_list is None:
        raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
    return reduce_scatter(tensor, scatter_list, ReduceOp.SUM, group, async_op)


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None, async_op=False):
    _tensor(output, "output")
    of(group)
    _one(input_list, "input_list")
    _copy(output, input_list[0])
    return _done(async_op, output)


def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group=None, async_op=False):
    return reduce_scatter(output, [input], op, group, async_op)


def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    _one(output_tensor_list, "output_tensor_list")
    return reduce_scatter(output_tensor_list[0], input_tensor_list, ReduceOp.SUM, group, async_op)


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False):
    return reduce_scatter(output, [input], ReduceOp.SUM, group, async_op)


def all_gather_object(object_list, obj, group=None):
    import pickle

    of(group)
    _one(object_list, "object_list")
    object_list[0] = pickle.loads(pickle.dumps(obj))


def gather_object(obj, object_gather_list=None, dst=None, group=None, group_dst=None):
    _root(dst, "dst")
    if object_gather_list is None:
        raise ValueError("Argument ``object_gather_list`` must be specified on destination rank.")
    all_gather_object(object_gather_list, obj, group)


def broadcast_object_list(object_list, src=None, group=None, device=None, group_src=None):
    _root(src, "src")
    of(group)


def scatter_object_list(scatter_object_output_list, scatter_object_input_list=None, src=None, group=None, group_src=None):
    _root(src, "src")
    of(group)
    _one(scatter_object_input_list or (), "scatter_object_input_list")
    scatter_object_output_list[0] = scatter_object_input_list[0]
