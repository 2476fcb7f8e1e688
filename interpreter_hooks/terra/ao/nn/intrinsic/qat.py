"""Sequences that run as one in training, with weights that are rounded: those of convolutions as batch norm will have scaled them."""

import math

import _terra_C as C

from ...._names import lazily
from .... import nn
from ....nn import init
from .. import intrinsic as nni
from ..qat import Conv1d, Conv2d, Conv3d, Linear, conv_sizes

__all__ = [
    "ConvBn1d", "ConvBn2d", "ConvBn3d", "ConvBnReLU1d", "ConvBnReLU2d", "ConvBnReLU3d", "ConvReLU1d", "ConvReLU2d", "ConvReLU3d",
    "LinearReLU", "freeze_bn_stats", "update_bn_stats",
]  # fmt: skip


class LinearReLU(Linear, nni._FusedModule):
    """Linear and ReLU."""

    def forward(self, input):
        return nn.functional.relu(super().forward(input))


class ConvReLU1d(Conv1d, nni._FusedModule):
    """Conv1d and ReLU."""

    def forward(self, input):
        return nn.functional.relu(super().forward(input))


class ConvReLU2d(Conv2d, nni._FusedModule):
    """Conv2d and ReLU."""

    def forward(self, input):
        return nn.functional.relu(super().forward(input))


class ConvReLU3d(Conv3d, nni._FusedModule):
    """Conv3d and ReLU."""

    def forward(self, input):
        return nn.functional.relu(super().forward(input))


class _ConvBn(nni._FusedModule):
    """The weight is rounded as the norm's running deviations scale it; the scale is taken back before the norm."""

    _relu = False

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=None, padding_mode="zeros", eps=1e-05,
        momentum=0.1, freeze_bn=False, qconfig=None,
    ):  # fmt: skip
        if not qconfig:
            raise AssertionError("qconfig must be provided for QAT module")
        self._conv.__init__(self, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, False, padding_mode)
        self.qconfig = qconfig
        self.freeze_bn = freeze_bn if self.training else True
        self.bn = self._norm(out_channels, eps, momentum, True, True)
        self.weight_fake_quant = qconfig.weight()
        self.bias = C.Parameter(C.empty(out_channels)) if bias else None
        init.uniform_(self.bn.weight)
        init.zeros_(self.bn.bias)
        if self.bias is not None:
            bound = 1 / math.sqrt(self.weight[0].numel())
            init.uniform_(self.bias, -bound, bound)
        self.update_bn_stats() if self.training and not freeze_bn else self.freeze_bn_stats()

    def update_bn_stats(self):
        self.freeze_bn = False
        self.bn.training = True
        return self

    def freeze_bn_stats(self):
        self.freeze_bn = True
        self.bn.training = False
        return self

    def train(self, mode=True):
        self.training = mode
        if not self.freeze_bn:
            for module in self.children():
                module.train(mode)
        return self

    def forward(self, input):
        factor = self.bn.weight / C.sqrt(self.bn.running_var + self.bn.eps)
        of_outputs = [-1] + [1] * (self.weight.dim() - 1)
        of_channels = [1, -1] + [1] * (self.weight.dim() - 2)
        weight = self.weight_fake_quant(self.weight * factor.reshape(of_outputs))
        found = self._conv_forward(input, weight, C.zeros(self.out_channels, dtype=input.dtype)) / factor.reshape(of_channels)
        if self.bias is not None:
            found = found + self.bias.reshape(of_channels)
        found = self.bn(found)
        return nn.functional.relu(found) if self._relu else found

    @classmethod
    def from_float(cls, mod, use_precomputed_fake_quant=False):
        if not hasattr(mod, "qconfig") or not mod.qconfig:
            raise AssertionError("Input float module must have a valid qconfig")
        conv, bn = mod[0], mod[1]
        *sizes, bias, padding_mode = conv_sizes(conv)
        made = cls(*sizes, bias, padding_mode, bn.eps, bn.momentum, False, mod.qconfig)
        made.weight, made.bias = conv.weight, conv.bias
        made.bn.weight, made.bn.bias = bn.weight, bn.bias
        made.bn.running_mean, made.bn.running_var, made.bn.num_batches_tracked = (
            bn.running_mean,
            bn.running_var,
            bn.num_batches_tracked,
        )
        return made


def _conv_bn(name, conv, norm, relu):
    facts = {"_conv": conv, "_norm": norm, "_relu": relu, "__module__": __name__}
    facts["__doc__"] = f"{conv.__name__} and {norm.__name__}{', and ReLU' * relu}."
    facts["extra_repr"] = conv.extra_repr
    facts["__repr__"] = nn.Module.__repr__
    return type(name, (_ConvBn, conv), facts)


_KINDS = ((nn.Conv1d, nn.BatchNorm1d), (nn.Conv2d, nn.BatchNorm2d), (nn.Conv3d, nn.BatchNorm3d))
ConvBn1d, ConvBn2d, ConvBn3d = (_conv_bn(f"ConvBn{n}d", *kinds, False) for n, kinds in enumerate(_KINDS, 1))
ConvBnReLU1d, ConvBnReLU2d, ConvBnReLU3d = (_conv_bn(f"ConvBnReLU{n}d", *kinds, True) for n, kinds in enumerate(_KINDS, 1))


def update_bn_stats(mod):
    """For Module.apply(): norms follow their batches again."""
    if isinstance(mod, _ConvBn):
        mod.update_bn_stats()


def freeze_bn_stats(mod):
    """For Module.apply(): norms stay as they are."""
    if isinstance(mod, _ConvBn):
        mod.freeze_bn_stats()


__getattr__ = lazily(__name__)
