"""Layers that run as one: a sequence of modules that will be swapped together."""

from ...._names import lazily
from ....nn import BatchNorm1d, BatchNorm2d, BatchNorm3d, Conv1d, Conv2d, Conv3d, Linear, ReLU, Sequential

__all__ = [
    "BNReLU2d", "BNReLU3d", "ConvBn1d", "ConvBn2d", "ConvBn3d", "ConvBnReLU1d", "ConvBnReLU2d", "ConvBnReLU3d", "ConvReLU1d",
    "ConvReLU2d", "ConvReLU3d", "LinearBn1d", "LinearReLU",
]  # fmt: skip


class _FusedModule(Sequential):
    """A sequence that is swapped as one module."""


def _sequence(name, *kinds):
    def __init__(self, *modules):
        for module, kind in zip(modules, kinds):
            if not isinstance(module, kind):
                raise AssertionError(f"Incorrect types for input modules{type(module)}")
        _FusedModule.__init__(self, *modules)

    words = " and ".join(kind.__name__ for kind in kinds)
    return type(name, (_FusedModule,), {"__init__": __init__, "__doc__": f"{words}.", "__module__": __name__})


ConvReLU1d, ConvReLU2d, ConvReLU3d = (_sequence(f"ConvReLU{n}d", conv, ReLU) for n, conv in enumerate((Conv1d, Conv2d, Conv3d), 1))
_NORMS = (BatchNorm1d, BatchNorm2d, BatchNorm3d)
ConvBn1d, ConvBn2d, ConvBn3d = (_sequence(f"ConvBn{n}d", c, b) for n, c, b in zip((1, 2, 3), (Conv1d, Conv2d, Conv3d), _NORMS))
ConvBnReLU1d, ConvBnReLU2d, ConvBnReLU3d = (
    _sequence(f"ConvBnReLU{n}d", c, b, ReLU) for n, c, b in zip((1, 2, 3), (Conv1d, Conv2d, Conv3d), _NORMS)
)
BNReLU2d, BNReLU3d = _sequence("BNReLU2d", BatchNorm2d, ReLU), _sequence("BNReLU3d", BatchNorm3d, ReLU)
LinearReLU, LinearBn1d = _sequence("LinearReLU", Linear, ReLU), _sequence("LinearBn1d", Linear, BatchNorm1d)

__getattr__ = lazily(__name__, ("qat", "quantized"))
