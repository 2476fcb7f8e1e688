"""Where a network's numbers become quantized ones, and numbers again."""

from ..._names import lazily
from ...nn import Module

__all__ = ["DeQuantStub", "QuantStub", "QuantWrapper"]


class _Stub(Module):
    """Hands its input on."""

    def __init__(self, qconfig=None):
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x):
        return x


class QuantStub(_Stub):
    """Hands its input on, watched once the network is prepared, and quantizes it once it is converted."""


class DeQuantStub(_Stub):
    """Hands its input on, and makes numbers of it once the network is converted."""


class QuantWrapper(Module):
    """A module between the two."""

    def __init__(self, module):
        super().__init__()
        qconfig = getattr(module, "qconfig", None)
        self.add_module("quant", QuantStub(qconfig))
        self.add_module("dequant", DeQuantStub(qconfig))
        self.add_module("module", module)
        self.train(module.training)

    def forward(self, X):  # noqa: N803
        return self.dequant(self.module(self.quant(X)))


__getattr__ = lazily(__name__)
