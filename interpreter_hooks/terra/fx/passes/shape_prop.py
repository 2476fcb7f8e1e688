"""ShapeProp: runs a graph on example arguments and notes what each node gives."""

import typing

import _terra_C as C

from ..interpreter import Interpreter
from ..node import map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(typing.NamedTuple):
    shape: C.Size
    dtype: C.dtype
    requires_grad: bool
    stride: tuple
    memory_format: object
    is_quantized: bool
    qparams: dict


def _of(tensor):
    layout = C.contiguous_format if tensor.is_contiguous() else None
    return TensorMetadata(tensor.shape, tensor.dtype, tensor.requires_grad, tensor.stride(), layout, False, {})


class ShapeProp(Interpreter):
    """node.meta["tensor_meta"] says shape and dtype, node.meta["type"] the type."""

    def run_node(self, n):
        result = super().run_node(n)
        found = map_aggregate(result, lambda leaf: _of(leaf) if isinstance(leaf, C.Tensor) else None)
        if any(isinstance(leaf, C.Tensor) for leaf in _leaves(result)):
            n.meta["tensor_meta"] = found
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args):
        return super().run(*args)


def _leaves(value):
    found = []
    map_aggregate(value, found.append)
    return found
