"""torch.quantization: networks of 8-bit numbers are not there yet."""

from ._missing_parts import NoInstances, sentences
from ._names import lazily
from .nn import Identity

_WHY = "it is not in Terra yet; torch.autocast('cpu') computes in bfloat16"
_NAMES = (
    "convert", "default_qconfig", "fuse_modules", "get_default_qat_qconfig", "get_default_qconfig", "prepare", "prepare_qat",
    "quantize", "quantize_dynamic", "quantize_qat",
)  # fmt: skip
globals().update(sentences("torch.quantization", _NAMES, _WHY))


class QuantStub(Identity):
    """Hands its input through, as it does in a network that was not converted."""

    def __init__(self, qconfig=None):
        super().__init__()


class DeQuantStub(QuantStub):
    """The same at the end of the network."""


class ObserverBase(metaclass=NoInstances):
    """A module that watches the range of what it is given. No module is one."""


class FakeQuantizeBase(metaclass=NoInstances):
    """A module that rounds as 8-bit numbers would. No module is one."""


__all__ = ["DeQuantStub", "FakeQuantizeBase", "ObserverBase", "QuantStub", *_NAMES]

__getattr__ = lazily(__name__)
