"""Modules whose parameters lie in parts with several processes: of one process the wrapper holds the module whole."""

from enum import Enum, auto
from typing import NamedTuple

import _terra_C as C

from ..._missing_parts import NoInstances, sentences
from ..._names import lazily
from ...nn import Module
from ..group import of

__all__ = [
    "BackwardPrefetch", "CPUOffload", "FullyShardedDataParallel", "MixedPrecision", "MixedPrecisionPolicy", "OffloadPolicy",
    "CPUOffloadPolicy", "ShardingStrategy", "StateDictType", "fully_shard",
]  # fmt: skip


class ShardingStrategy(Enum):
    FULL_SHARD = auto()
    SHARD_GRAD_OP = auto()
    NO_SHARD = auto()
    HYBRID_SHARD = auto()
    _HYBRID_SHARD_ZERO2 = auto()


class BackwardPrefetch(Enum):
    BACKWARD_PRE = auto()
    BACKWARD_POST = auto()


class StateDictType(Enum):
    FULL_STATE_DICT = auto()
    LOCAL_STATE_DICT = auto()
    SHARDED_STATE_DICT = auto()


class MixedPrecision(NamedTuple):
    param_dtype: C.dtype | None = None
    reduce_dtype: C.dtype | None = None
    buffer_dtype: C.dtype | None = None
    keep_low_precision_grads: bool = False
    cast_forward_inputs: bool = False
    cast_root_forward_inputs: bool = True


class MixedPrecisionPolicy(NamedTuple):
    param_dtype: C.dtype | None = None
    reduce_dtype: C.dtype | None = None
    output_dtype: C.dtype | None = None
    cast_forward_inputs: bool = True


class CPUOffload(NamedTuple):
    offload_params: bool = False


class OffloadPolicy(NamedTuple):
    """Nothing is moved."""


class CPUOffloadPolicy(NamedTuple):
    """Everything is on the CPU as it is."""

    pin_memory: bool = True


def _check_precision(policy):
    if policy is not None and any(isinstance(value, C.dtype) for value in policy):
        raise NotImplementedError(
            "Parameters in another dtype than the module's are not in Terra's group of one process yet: leave the policy "
            "out, and use torch.autocast"
        )


class FullyShardedDataParallel(Module):
    """The module, under the names `module` and `_fsdp_wrapped_module`: a group of one process divides nothing."""

    def __init__(self, module, process_group=None, sharding_strategy=None, *_, mixed_precision=None, **__):
        of(process_group)
        _check_precision(mixed_precision)
        super().__init__()
        self._fsdp_wrapped_module = module

    @property
    def module(self):
        return self._fsdp_wrapped_module

    def forward(self, *inputs, **kwargs):
        return self._fsdp_wrapped_module(*inputs, **kwargs)

    def clip_grad_norm_(self, max_norm, norm_type=2.0):
        from ...nn.utils import clip_grad_norm_

        return clip_grad_norm_(self.parameters(), max_norm, norm_type)


class FSDPModule(metaclass=NoInstances):
    """What fully_shard() makes of a module in PyTorch. With one process it leaves the class of the module as it is."""


def fully_shard(module, *, mesh=None, mp_policy=None, **_):
    """The module as it is."""
    if mesh is None:
        of(None)
    _check_precision(mp_policy)
    return module


_WHY = "it is not in Terra yet, whose groups have one process; state_dict() has everything"
globals().update(sentences("torch.distributed.fsdp", ("register_fsdp_forward_method", "share_comm_ctx"), _WHY))

__getattr__ = lazily(__name__, ("fully_sharded_data_parallel", "wrap"))
