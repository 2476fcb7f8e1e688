"""Layers that vision models share: convolution with norm and activation, squeeze and excitation, perceptrons."""

import _terra_C as C

from ... import nn

__all__ = [
    "Conv2dNormActivation", "Conv3dNormActivation", "ConvNormActivation", "FrozenBatchNorm2d", "MLP", "Permute",
    "SqueezeExcitation",
]  # fmt: skip


class FrozenBatchNorm2d(nn.Module):
    """Batch normalization with statistics and parameters that are buffers and never change."""

    def __init__(self, num_features, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.register_buffer("weight", C.ones(num_features))
        self.register_buffer("bias", C.zeros(num_features))
        self.register_buffer("running_mean", C.zeros(num_features))
        self.register_buffer("running_var", C.ones(num_features))

    def _load_from_state_dict(self, state_dict, prefix, *args, **kwargs):
        state_dict.pop(prefix + "num_batches_tracked", None)
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)

    def forward(self, x):
        weight = self.weight.reshape(1, -1, 1, 1)
        bias = self.bias.reshape(1, -1, 1, 1)
        variance = self.running_var.reshape(1, -1, 1, 1)
        mean = self.running_mean.reshape(1, -1, 1, 1)
        scale = weight * (variance + self.eps).rsqrt()
        return x * scale + (bias - mean * scale)

    def __repr__(self):
        return f"{type(self).__name__}({self.weight.shape[0]}, eps={self.eps})"


def _same_padding(kernel_size, dilation):
    """The padding at which a convolution of stride 1 keeps the size of its input."""
    if isinstance(kernel_size, int) and isinstance(dilation, int):
        return (kernel_size - 1) // 2 * dilation
    dimensions = len(dilation if isinstance(kernel_size, int) else kernel_size)
    kernel = (kernel_size,) * dimensions if isinstance(kernel_size, int) else kernel_size
    dilation = (dilation,) * dimensions if isinstance(dilation, int) else dilation
    return tuple((k - 1) // 2 * d for k, d in zip(kernel, dilation))


class ConvNormActivation(nn.Sequential):
    """A convolution, and unless they are None a norm and an activation."""

    def __init__(
        self, in_channels, out_channels, kernel_size=3, stride=1, padding=None, groups=1, norm_layer=nn.BatchNorm2d,
        activation_layer=nn.ReLU, dilation=1, inplace=True, bias=None, conv_layer=nn.Conv2d,
    ):  # fmt: skip
        padding = _same_padding(kernel_size, dilation) if padding is None else padding
        bias = norm_layer is None if bias is None else bias
        layers = [
            conv_layer(
                in_channels, out_channels, kernel_size, stride, padding, dilation=dilation, groups=groups, bias=bias
            )
        ]
        if norm_layer is not None:
            layers.append(norm_layer(out_channels))
        if activation_layer is not None:
            layers.append(activation_layer() if inplace is None else activation_layer(inplace=inplace))
        super().__init__(*layers)
        self.out_channels = out_channels


class Conv2dNormActivation(ConvNormActivation):
    """ConvNormActivation of images."""


class Conv3dNormActivation(ConvNormActivation):
    """ConvNormActivation of volumes."""

    def __init__(
        self, in_channels, out_channels, kernel_size=3, stride=1, padding=None, groups=1, norm_layer=None,
        activation_layer=nn.ReLU, dilation=1, inplace=True, bias=None,
    ):  # fmt: skip
        norm_layer = nn.BatchNorm3d if norm_layer is None else norm_layer
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, groups, norm_layer, activation_layer, dilation,
            inplace, bias, nn.Conv3d,
        )  # fmt: skip


class SqueezeExcitation(nn.Module):
    """Scales each channel by a function of the means of all channels."""

    def __init__(self, input_channels, squeeze_channels, activation=nn.ReLU, scale_activation=nn.Sigmoid):
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(input_channels, squeeze_channels, 1)
        self.fc2 = nn.Conv2d(squeeze_channels, input_channels, 1)
        self.activation = activation()
        self.scale_activation = scale_activation()

    def _scale(self, input):
        return self.scale_activation(self.fc2(self.activation(self.fc1(self.avgpool(input)))))

    def forward(self, input):
        return self._scale(input) * input


class MLP(nn.Sequential):
    """Linear layers with norms, activations and dropout between them."""

    def __init__(
        self,
        in_channels,
        hidden_channels,
        norm_layer=None,
        activation_layer=nn.ReLU,
        inplace=None,
        bias=True,
        dropout=0.0,
    ):
        options = {} if inplace is None else {"inplace": inplace}
        layers = []
        for channels in hidden_channels[:-1]:
            layers.append(nn.Linear(in_channels, channels, bias=bias))
            if norm_layer is not None:
                layers.append(norm_layer(channels))
            layers.append(activation_layer(**options))
            layers.append(nn.Dropout(dropout, **options))
            in_channels = channels
        layers.append(nn.Linear(in_channels, hidden_channels[-1], bias=bias))
        layers.append(nn.Dropout(dropout, **options))
        super().__init__(*layers)


class Permute(nn.Module):
    """Tensor.permute as a layer."""

    def __init__(self, dims):
        super().__init__()
        self.dims = dims

    def forward(self, x):
        return x.permute(self.dims)
