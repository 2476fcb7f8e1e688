"""torch.distributed.tensor: tensors that lie in parts with several processes. There are none: these are the names by which
programs ask whether a tensor is one."""

from ..._missing_parts import NoInstances, sentences
from ..._names import lazily
from ..device_mesh import DeviceMesh, init_device_mesh  # noqa: F401
from .placement_types import Partial, Placement, Replicate, Shard  # noqa: F401


class DTensor(metaclass=NoInstances):
    """A tensor of several processes. No tensor is one."""


_BECAUSE = "Terra has groups of one process, which holds every tensor whole"
globals().update(
    sentences(
        "torch.distributed.tensor",
        ("distribute_module", "distribute_tensor", "empty", "full", "ones", "rand", "randn", "zeros"), _BECAUSE,
    )
)  # fmt: skip
DTensor.from_local = staticmethod(sentences("torch.distributed.tensor.DTensor", ("from_local",), _BECAUSE)["from_local"])

__getattr__ = lazily(__name__, ("experimental", "placement_types"))
