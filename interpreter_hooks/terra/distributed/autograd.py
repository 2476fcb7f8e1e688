"""torch.distributed.autograd: gradients through calls between processes, of which there is one."""

from .._missing_parts import sentences
from .._names import lazily


def is_available():
    return False


globals().update(
    sentences(
        "torch.distributed.autograd", ("backward", "context", "get_gradients"), "Terra has groups of one process, which has nobody to call"
    )
)

__getattr__ = lazily(__name__)
