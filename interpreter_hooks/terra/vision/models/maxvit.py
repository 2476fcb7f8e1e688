"""MaxViT: convolutions, then attention inside windows, then attention between windows at equal places of a grid."""

import math
from collections import OrderedDict
from functools import partial

import _terra_C as C

from ... import nn
from ...nn import functional as F
from ..ops.misc import Conv2dNormActivation, SqueezeExcitation
from ..ops.stochastic_depth import StochasticDepth
from ._api import builder
from .swin_transformer import relative_positions

__all__ = ["MaxVit", "maxvit_t"]


def _dropped(p):
    return StochasticDepth(p, mode="row") if p else nn.Identity()


class MBConv(nn.Module):
    """1 x 1 to more channels, 3 x 3 in each, squeeze and excitation, 1 x 1, beside a shortcut."""

    def __init__(
        self, in_channels, out_channels, expansion_ratio, squeeze_ratio, stride, activation_layer, norm_layer,
        p_stochastic_dropout=0.0,
    ):  # fmt: skip
        super().__init__()
        self.proj = nn.Identity()
        if stride != 1 or in_channels != out_channels:
            projection = [nn.Conv2d(in_channels, out_channels, kernel_size=1, stride=1, bias=True)]
            pooling = [nn.AvgPool2d(kernel_size=3, stride=stride, padding=1)] if stride == 2 else []
            self.proj = nn.Sequential(*pooling, *projection)
        inner = int(out_channels * expansion_ratio)
        options = {"activation_layer": activation_layer, "norm_layer": norm_layer, "inplace": None}
        self.stochastic_depth = _dropped(p_stochastic_dropout)
        layers = OrderedDict()
        layers["pre_norm"] = norm_layer(in_channels)
        layers["conv_a"] = Conv2dNormActivation(in_channels, inner, kernel_size=1, stride=1, padding=0, **options)
        layers["conv_b"] = Conv2dNormActivation(
            inner, inner, kernel_size=3, stride=stride, padding=1, groups=inner, **options
        )
        layers["squeeze_excitation"] = SqueezeExcitation(inner, int(out_channels * squeeze_ratio), activation=nn.SiLU)
        layers["conv_c"] = nn.Conv2d(inner, out_channels, kernel_size=1, bias=True)
        self.layers = nn.Sequential(layers)

    def forward(self, x):
        return self.proj(x) + self.stochastic_depth(self.layers(x))


class RelativePositionalMultiHeadAttention(nn.Module):
    """Attention among the positions of each part, [batch, parts, positions, channels]."""

    def __init__(self, feat_dim, head_dim, max_seq_len):
        super().__init__()
        if feat_dim % head_dim:
            raise ValueError(f"feat_dim: {feat_dim} must be divisible by head_dim: {head_dim}")
        self.n_heads = feat_dim // head_dim
        self.head_dim = head_dim
        self.size = int(math.sqrt(max_seq_len))
        self.max_seq_len = max_seq_len
        self.to_qkv = nn.Linear(feat_dim, self.n_heads * self.head_dim * 3)
        self.scale_factor = feat_dim**-0.5
        self.merge = nn.Linear(self.head_dim * self.n_heads, feat_dim)
        rows = (2 * self.size - 1) ** 2
        self.relative_position_bias_table = nn.Parameter(C.empty((rows, self.n_heads), dtype=C.float32))
        self.register_buffer("relative_position_index", relative_positions(self.size, self.size))
        nn.init.trunc_normal_(self.relative_position_bias_table, std=0.02)

    def get_relative_positional_bias(self):
        bias = self.relative_position_bias_table[self.relative_position_index.view(-1)]
        return bias.view(self.max_seq_len, self.max_seq_len, -1).permute(2, 0, 1).contiguous().unsqueeze(0)

    def forward(self, x):
        batch, parts, positions, channels = x.shape
        heads = [
            t.reshape(batch, parts, positions, self.n_heads, self.head_dim).permute(0, 1, 3, 2, 4)
            for t in C.chunk(self.to_qkv(x), 3, dim=-1)
        ]
        q, k, v = heads
        weights = q.matmul((k * self.scale_factor).transpose(-2, -1)) + self.get_relative_positional_bias()
        out = F.softmax(weights, dim=-1).matmul(v)
        return self.merge(out.permute(0, 1, 3, 2, 4).reshape(batch, parts, positions, channels))


class SwapAxes(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.a = a
        self.b = b

    def forward(self, x):
        return C.swapaxes(x, self.a, self.b)


class WindowPartition(nn.Module):
    """[batch, channels, height, width] to [batch, windows, positions, channels]."""

    def forward(self, x, p):
        batch, channels, height, width = x.shape
        x = x.reshape(batch, channels, height // p, p, width // p, p).permute(0, 2, 4, 3, 5, 1)
        return x.reshape(batch, (height // p) * (width // p), p * p, channels)


class WindowDepartition(nn.Module):
    """The way back."""

    def forward(self, x, p, h_partitions, w_partitions):
        batch, _, _, channels = x.shape
        x = x.reshape(batch, h_partitions, w_partitions, p, p, channels).permute(0, 5, 1, 3, 2, 4)
        return x.reshape(batch, channels, h_partitions * p, w_partitions * p)


class PartitionAttentionLayer(nn.Module):
    """Attention and a perceptron, inside windows ("window") or among equal places of all windows ("grid")."""

    def __init__(
        self, in_channels, head_dim, partition_size, partition_type, grid_size, mlp_ratio, activation_layer, norm_layer,
        attention_dropout, mlp_dropout, p_stochastic_dropout,
    ):  # fmt: skip
        super().__init__()
        if partition_type not in ("grid", "window"):
            raise ValueError("partition_type must be either 'grid' or 'window'")
        grid = partition_type == "grid"
        self.n_heads = in_channels // head_dim
        self.head_dim = head_dim
        self.n_partitions = grid_size[0] // partition_size
        self.partition_type = partition_type
        self.grid_size = grid_size
        self.p, self.g = (self.n_partitions, partition_size) if grid else (partition_size, self.n_partitions)
        self.partition_op = WindowPartition()
        self.departition_op = WindowDepartition()
        self.partition_swap = SwapAxes(-2, -3) if grid else nn.Identity()
        self.departition_swap = SwapAxes(-2, -3) if grid else nn.Identity()
        self.attn_layer = nn.Sequential(
            norm_layer(in_channels),
            RelativePositionalMultiHeadAttention(in_channels, head_dim, partition_size**2),
            nn.Dropout(attention_dropout),
        )
        self.mlp_layer = nn.Sequential(
            nn.LayerNorm(in_channels),
            nn.Linear(in_channels, in_channels * mlp_ratio),
            activation_layer(),
            nn.Linear(in_channels * mlp_ratio, in_channels),
            nn.Dropout(mlp_dropout),
        )
        self.stochastic_dropout = StochasticDepth(p_stochastic_dropout, mode="row")

    def forward(self, x):
        rows, columns = self.grid_size[0] // self.p, self.grid_size[1] // self.p
        if self.grid_size[0] % self.p or self.grid_size[1] % self.p:
            raise ValueError(
                "Grid size must be divisible by partition size. Got grid size of "
                f"{self.grid_size} and partition size of {self.p}"
            )
        x = self.partition_swap(self.partition_op(x, self.p))
        x = x + self.stochastic_dropout(self.attn_layer(x))
        x = x + self.stochastic_dropout(self.mlp_layer(x))
        return self.departition_op(self.departition_swap(x), self.p, rows, columns)


class MaxVitLayer(nn.Module):
    def __init__(
        self, in_channels, out_channels, squeeze_ratio, expansion_ratio, stride, norm_layer, activation_layer, head_dim,
        mlp_ratio, mlp_dropout, attention_dropout, p_stochastic_dropout, partition_size, grid_size,
    ):  # fmt: skip
        super().__init__()
        layers = OrderedDict()
        layers["MBconv"] = MBConv(
            in_channels, out_channels, expansion_ratio, squeeze_ratio, stride, activation_layer, norm_layer,
            p_stochastic_dropout,
        )  # fmt: skip
        for kind in ("window", "grid"):
            layers[f"{kind}_attention"] = PartitionAttentionLayer(
                out_channels, head_dim, partition_size, kind, grid_size, mlp_ratio, activation_layer, nn.LayerNorm,
                attention_dropout, mlp_dropout, p_stochastic_dropout,
            )  # fmt: skip
        self.layers = nn.Sequential(layers)

    def forward(self, x):
        return self.layers(x)


def _halved(size):
    """What a 3 x 3 convolution of stride 2 with padding leaves."""
    return tuple((s - 1) // 2 + 1 for s in size)


class MaxVitBlock(nn.Module):
    """Layers, the first of which halves the image."""

    def __init__(
        self, in_channels, out_channels, squeeze_ratio, expansion_ratio, norm_layer, activation_layer, head_dim,
        mlp_ratio,
        mlp_dropout, attention_dropout, partition_size, input_grid_size, n_layers, p_stochastic,
    ):  # fmt: skip
        super().__init__()
        if len(p_stochastic) != n_layers:
            raise ValueError(f"p_stochastic must have length n_layers={n_layers}, got p_stochastic={p_stochastic}.")
        self.layers = nn.ModuleList()
        self.grid_size = _halved(input_grid_size)
        for i, p in enumerate(p_stochastic):
            self.layers += [MaxVitLayer(
                in_channels if i == 0 else out_channels, out_channels, squeeze_ratio, expansion_ratio, 2 if i == 0
                else 1,
                norm_layer, activation_layer, head_dim, mlp_ratio, mlp_dropout, attention_dropout, p, partition_size,
                self.grid_size,
            )]  # fmt: skip

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class MaxVit(nn.Module):
    def __init__(
        self, input_size, stem_channels, partition_size, block_channels, block_layers, head_dim, stochastic_depth_prob,
        norm_layer=None, activation_layer=nn.GELU, squeeze_ratio=0.25, expansion_ratio=4, mlp_ratio=4, mlp_dropout=0.0,
        attention_dropout=0.0, num_classes=1000,
    ):  # fmt: skip
        super().__init__()
        norm_layer = partial(nn.BatchNorm2d, eps=1e-3, momentum=0.01) if norm_layer is None else norm_layer
        size = _halved(input_size)
        grid = size
        for i in range(len(block_channels)):
            grid = _halved(grid)
            if grid[0] % partition_size or grid[1] % partition_size:
                raise ValueError(
                    f"Input size {size} of block {i} is not divisible by partition size {partition_size}. Consider "
                    f"changing "
                    f"the partition size or the input size.\nCurrent configuration yields the size {grid}."
                )
        self.stem = nn.Sequential(
            Conv2dNormActivation(
                3, stem_channels, 3, stride=2, norm_layer=norm_layer, activation_layer=activation_layer, bias=False,
                inplace=None,
            ),
            Conv2dNormActivation(
                stem_channels, stem_channels, 3, stride=1, norm_layer=None, activation_layer=None, bias=True
            ),
        )  # fmt: skip
        self.partition_size = partition_size
        self.blocks = nn.ModuleList()
        step = stochastic_depth_prob / max(sum(block_layers) - 1, 1)
        depths = [i * step for i in range(sum(block_layers))]
        channels = stem_channels
        for out_channels, count in zip(block_channels, block_layers):
            block = MaxVitBlock(
                channels, out_channels, squeeze_ratio, expansion_ratio, norm_layer, activation_layer, head_dim,
                mlp_ratio,
                mlp_dropout, attention_dropout, partition_size, size, count, depths[:count],
            )  # fmt: skip
            self.blocks.append(block)
            depths, channels, size = depths[count:], out_channels, block.grid_size
        self.classifier = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.LayerNorm(channels),
            nn.Linear(channels, channels),
            nn.Tanh(),
            nn.Linear(channels, num_classes, bias=False),
        )
        for module in self.modules():
            if isinstance(module, (nn.Conv2d, nn.Linear)):
                nn.init.normal_(module.weight, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
            elif isinstance(module, nn.BatchNorm2d):
                nn.init.constant_(module.weight, 1)
                nn.init.constant_(module.bias, 0)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.classifier(x)


def _input_size(weights, kwargs):
    size = weights.meta["min_size"]
    if tuple(kwargs.setdefault("input_size", size)) != size:
        raise ValueError(f"The parameter 'input_size' expected value {size} but got {kwargs['input_size']} instead.")


@builder(prepare=_input_size)
def maxvit_t(**kwargs):
    input_size = kwargs.pop("input_size", (224, 224))
    return MaxVit(input_size, 64, 7, [64, 128, 256, 512], [2, 2, 5, 2], 32, 0.2, **kwargs)
