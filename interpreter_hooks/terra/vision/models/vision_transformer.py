"""Vision transformers: images as sequences of patches."""

import math
import re
from collections import OrderedDict
from functools import partial
from typing import Callable, NamedTuple

import _terra_C as C

from ... import nn
from ..._predicates import _assert
from ...nn import functional as F
from ..ops.misc import MLP, Conv2dNormActivation
from ._api import builder

__all__ = ["VisionTransformer", "vit_b_16", "vit_b_32", "vit_h_14", "vit_l_16", "vit_l_32"]


class ConvStemConfig(NamedTuple):
    """One convolution of a stem that takes the place of cutting the image into patches."""

    out_channels: int
    kernel_size: int
    stride: int
    norm_layer: Callable = nn.BatchNorm2d
    activation_layer: Callable = nn.ReLU


class MLPBlock(MLP):
    """The perceptron of an encoder's block."""

    _version = 2

    def __init__(self, in_dim, mlp_dim, dropout):
        super().__init__(in_dim, [mlp_dim, in_dim], activation_layer=nn.GELU, inplace=None, dropout=dropout)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.normal_(module.bias, std=1e-6)


class EncoderBlock(nn.Module):
    def __init__(
        self, num_heads, hidden_dim, mlp_dim, dropout, attention_dropout, norm_layer=partial(nn.LayerNorm, eps=1e-6)
    ):
        super().__init__()
        self.num_heads = num_heads
        self.ln_1 = norm_layer(hidden_dim)
        self.self_attention = nn.MultiheadAttention(hidden_dim, num_heads, dropout=attention_dropout, batch_first=True)
        self.dropout = nn.Dropout(dropout)
        self.ln_2 = norm_layer(hidden_dim)
        self.mlp = MLPBlock(hidden_dim, mlp_dim, dropout)

    def forward(self, input):
        _assert(input.dim() == 3, f"Expected (batch_size, seq_length, hidden_dim) got {input.shape}")
        x = self.ln_1(input)
        x, _ = self.self_attention(x, x, x, need_weights=False)
        x = self.dropout(x) + input
        return x + self.mlp(self.ln_2(x))


class Encoder(nn.Module):
    def __init__(
        self, seq_length, num_layers, num_heads, hidden_dim, mlp_dim, dropout, attention_dropout,
        norm_layer=partial(nn.LayerNorm, eps=1e-6),
    ):  # fmt: skip
        super().__init__()
        self.pos_embedding = nn.Parameter(C.empty(1, seq_length, hidden_dim).normal_(std=0.02))
        self.dropout = nn.Dropout(dropout)
        layers = OrderedDict()
        for i in range(num_layers):
            layers[f"encoder_layer_{i}"] = EncoderBlock(
                num_heads, hidden_dim, mlp_dim, dropout, attention_dropout, norm_layer
            )
        self.layers = nn.Sequential(layers)
        self.ln = norm_layer(hidden_dim)

    def forward(self, input):
        _assert(input.dim() == 3, f"Expected (batch_size, seq_length, hidden_dim) got {input.shape}")
        return self.ln(self.layers(self.dropout(input + self.pos_embedding)))


class VisionTransformer(nn.Module):
    def __init__(
        self, image_size, patch_size, num_layers, num_heads, hidden_dim, mlp_dim, dropout=0.0, attention_dropout=0.0,
        num_classes=1000, representation_size=None, norm_layer=partial(nn.LayerNorm, eps=1e-6), conv_stem_configs=None,
    ):  # fmt: skip
        super().__init__()
        if image_size % patch_size:
            raise AssertionError("Input shape indivisible by patch size!")
        self.image_size = image_size
        self.patch_size = patch_size
        self.hidden_dim = hidden_dim
        self.mlp_dim = mlp_dim
        self.attention_dropout = attention_dropout
        self.dropout = dropout
        self.num_classes = num_classes
        self.representation_size = representation_size
        self.norm_layer = norm_layer
        if conv_stem_configs is None:
            self.conv_proj = nn.Conv2d(3, hidden_dim, kernel_size=patch_size, stride=patch_size)
        else:
            self.conv_proj = self._stem(conv_stem_configs)
        self.class_token = nn.Parameter(C.zeros(1, 1, hidden_dim))
        self.seq_length = (image_size // patch_size) ** 2 + 1
        self.encoder = Encoder(
            self.seq_length, num_layers, num_heads, hidden_dim, mlp_dim, dropout, attention_dropout, norm_layer
        )
        heads = OrderedDict()
        if representation_size is None:
            heads["head"] = nn.Linear(hidden_dim, num_classes)
        else:
            heads["pre_logits"] = nn.Linear(hidden_dim, representation_size)
            heads["act"] = nn.Tanh()
            heads["head"] = nn.Linear(representation_size, num_classes)
        self.heads = nn.Sequential(heads)
        self._initialize()

    def _stem(self, configs):
        stem, channels = nn.Sequential(), 3
        for i, config in enumerate(configs):
            stem.add_module(f"conv_bn_relu_{i}", Conv2dNormActivation(
                channels, config.out_channels, kernel_size=config.kernel_size, stride=config.stride,
                norm_layer=config.norm_layer, activation_layer=config.activation_layer,
            ))  # fmt: skip
            channels = config.out_channels
        stem.add_module("conv_last", nn.Conv2d(channels, self.hidden_dim, kernel_size=1))
        return stem

    def _initialize(self):
        if isinstance(self.conv_proj, nn.Conv2d):
            inputs = self.conv_proj.in_channels * self.conv_proj.kernel_size[0] * self.conv_proj.kernel_size[1]
            nn.init.trunc_normal_(self.conv_proj.weight, std=math.sqrt(1 / inputs))
            if self.conv_proj.bias is not None:
                nn.init.zeros_(self.conv_proj.bias)
        else:
            last = self.conv_proj.conv_last
            nn.init.normal_(last.weight, mean=0.0, std=math.sqrt(2.0 / last.out_channels))
            if last.bias is not None:
                nn.init.zeros_(last.bias)
        if self.representation_size is not None:
            pre_logits = self.heads.pre_logits
            nn.init.trunc_normal_(pre_logits.weight, std=math.sqrt(1 / pre_logits.in_features))
            nn.init.zeros_(pre_logits.bias)
        nn.init.zeros_(self.heads.head.weight)
        nn.init.zeros_(self.heads.head.bias)

    def _process_input(self, x):
        """Patches in rows: [n, positions, hidden_dim]."""
        n, _, height, width = x.shape
        _assert(height == self.image_size, f"Wrong image height! Expected {self.image_size} but got {height}!")
        _assert(width == self.image_size, f"Wrong image width! Expected {self.image_size} but got {width}!")
        rows, columns = height // self.patch_size, width // self.patch_size
        return self.conv_proj(x).reshape(n, self.hidden_dim, rows * columns).permute(0, 2, 1)

    def forward(self, x):
        x = self._process_input(x)
        x = C.cat([self.class_token.expand(x.shape[0], -1, -1), x], dim=1)
        return self.heads(self.encoder(x)[:, 0])


def interpolate_embeddings(image_size, patch_size, model_state, interpolation_mode="bicubic", reset_heads=False):
    """A state_dict for images of another size: the embeddings of positions are resized as an image is."""
    embedding = model_state["encoder.pos_embedding"]
    n, length, hidden = embedding.shape
    if n != 1:
        raise ValueError(f"Unexpected position embedding shape: {embedding.shape}")
    side = image_size // patch_size
    if side**2 + 1 == length:
        return model_state
    old = int(math.sqrt(length - 1))
    if old * old != length - 1:
        raise ValueError(
            f"seq_length is not a perfect square! Instead got seq_length_1d * seq_length_1d = {old * old} and "
            f"seq_length = {length - 1}"
        )
    grid = embedding[:, 1:].permute(0, 2, 1).reshape(1, hidden, old, old)
    grid = F.interpolate(grid, size=side, mode=interpolation_mode, align_corners=True)
    grid = grid.reshape(1, hidden, side**2).permute(0, 2, 1)
    model_state["encoder.pos_embedding"] = C.cat([embedding[:, :1], grid], dim=1)
    if not reset_heads:
        return model_state
    return OrderedDict((k, v) for k, v in model_state.items() if not k.startswith("heads"))


def _image_size(weights, kwargs):
    size = weights.meta["min_size"][0]
    if kwargs.setdefault("image_size", size) != size:
        raise ValueError(f"The parameter 'image_size' expected value {size} but got {kwargs['image_size']} instead.")


def _renamed(key):
    """Files of the first version say linear_1 and linear_2 for the layers 0 and 3 of a perceptron."""
    return re.sub(r"mlp\.linear_([12])\.", lambda found: f"mlp.{'03'[int(found[1]) - 1]}.", key)


def _vit(kwargs, patch_size, num_layers, num_heads, hidden_dim, mlp_dim):
    image_size = kwargs.pop("image_size", 224)
    return VisionTransformer(image_size, patch_size, num_layers, num_heads, hidden_dim, mlp_dim, **kwargs)


@builder(prepare=_image_size, renamed=_renamed)
def vit_b_16(**kwargs):
    return _vit(kwargs, 16, 12, 12, 768, 3072)


@builder(prepare=_image_size, renamed=_renamed)
def vit_b_32(**kwargs):
    return _vit(kwargs, 32, 12, 12, 768, 3072)


@builder(prepare=_image_size, renamed=_renamed)
def vit_l_16(**kwargs):
    return _vit(kwargs, 16, 24, 16, 1024, 4096)


@builder(prepare=_image_size, renamed=_renamed)
def vit_l_32(**kwargs):
    return _vit(kwargs, 32, 24, 16, 1024, 4096)


@builder(prepare=_image_size, renamed=_renamed)
def vit_h_14(**kwargs):
    return _vit(kwargs, 14, 32, 16, 1280, 5120)
