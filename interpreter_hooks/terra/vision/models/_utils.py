"""What several models use: rounded numbers of channels, and a module that gives outputs of inner layers."""

from collections import OrderedDict

from ... import nn
from ._api import WeightsEnum

__all__ = ["IntermediateLayerGetter", "WeightsEnum", "_make_divisible"]


def _make_divisible(v, divisor, min_value=None):
    """The multiple of `divisor` nearest to v, but no less than 90 % of v."""
    rounded = max(divisor if min_value is None else min_value, int(v + divisor / 2) // divisor * divisor)
    return rounded + divisor if rounded < 0.9 * v else rounded


def initialize_convolutions(model):
    """Kaiming's normal for convolutions, one and zero for norms, in the order of the model's modules."""
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out")
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, (nn.BatchNorm2d, nn.GroupNorm)):
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)


def initialize_linear(model, std=0.01):
    """A narrow normal and zero for linear layers, in the order of the model's modules."""
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, 0, std)
            nn.init.zeros_(module.bias)


class IntermediateLayerGetter(nn.ModuleDict):
    """The layers of a model up to the last wanted one; gives {new name: output} of the wanted ones.

    The model's children have to run one after the other in the order in which they were registered."""

    def __init__(self, model, return_layers):
        names = [name for name, _ in model.named_children()]
        if not set(return_layers).issubset(names):
            raise ValueError("return_layers are not present in model")
        layers = OrderedDict()
        missing = {str(name) for name in return_layers}
        for name, module in model.named_children():
            layers[name] = module
            missing.discard(name)
            if not missing:
                break
        super().__init__(layers)
        self.return_layers = {str(k): str(v) for k, v in return_layers.items()}

    def forward(self, x):
        out = OrderedDict()
        for name, module in self.items():
            x = module(x)
            if name in self.return_layers:
                out[self.return_layers[name]] = x
        return out
