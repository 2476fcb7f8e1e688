"""Swin transformers, versions 1 and 2: attention inside windows, which shift from block to block."""

import math
from functools import partial

import _terra_C as C

from ... import nn
from ...nn import functional as F
from ..ops.misc import MLP, Permute
from ..ops.stochastic_depth import StochasticDepth
from ._api import builder

__all__ = ["SwinTransformer", "swin_b", "swin_s", "swin_t", "swin_v2_b", "swin_v2_s", "swin_v2_t"]
__fx_leaves__ = ("_quarters", "shifted_window_attention")  # torch.fx does not look into them


def _quarters(x):
    """[..., height, width, c] to [..., height / 2, width / 2, 4c], with a border of zeros for odd sizes."""
    height, width = x.shape[-3:-1]
    x = F.pad(x, (0, 0, 0, width % 2, 0, height % 2))
    corners = [x[..., row::2, column::2, :] for column in (0, 1) for row in (0, 1)]
    return C.cat(corners, -1)


class PatchMerging(nn.Module):
    """Between stages: four neighbours become one with twice the channels."""

    def __init__(self, dim, norm_layer=nn.LayerNorm):
        super().__init__()
        self.dim = dim
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = norm_layer(4 * dim)

    def forward(self, x):
        return self.reduction(self.norm(_quarters(x)))


class PatchMergingV2(nn.Module):
    """As PatchMerging, with the norm behind."""

    def __init__(self, dim, norm_layer=nn.LayerNorm):
        super().__init__()
        self.dim = dim
        self.reduction = nn.Linear(4 * dim, 2 * dim, bias=False)
        self.norm = norm_layer(2 * dim)

    def forward(self, x):
        return self.norm(self.reduction(_quarters(x)))


def _windows(x, size):
    """[batch, height, width, c] to [batch * windows, positions, c]."""
    batch, height, width, channels = x.shape
    x = x.view(batch, height // size[0], size[0], width // size[1], size[1], channels)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(-1, size[0] * size[1], channels)


def _from_windows(x, size, batch, height, width):
    x = x.view(batch, height // size[0], width // size[1], size[0], size[1], -1)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(batch, height, width, -1)


def _apart(height, width, size, shift):
    """[windows, positions, positions]: -100 between positions that only the shift has brought into one window."""
    regions, count = C.zeros(1, height, width, 1), 0
    for rows in (slice(0, -size[0]), slice(-size[0], -shift[0]), slice(-shift[0], None)):
        for columns in (slice(0, -size[1]), slice(-size[1], -shift[1]), slice(-shift[1], None)):
            regions[:, rows, columns] = count
            count += 1
    regions = _windows(regions, size).squeeze(-1)
    different = regions.unsqueeze(1) - regions.unsqueeze(2)
    return C.where(different != 0, C.full_like(different, -100.0), C.zeros_like(different))


def shifted_window_attention(
    input, qkv_weight, proj_weight, relative_position_bias, window_size, num_heads, shift_size, attention_dropout=0.0,
    dropout=0.0, qkv_bias=None, proj_bias=None, logit_scale=None, training=True,
):  # fmt: skip
    """Attention inside windows of [batch, height, width, channels]; with `logit_scale` by cosines (version 2)."""
    batch, height, width, channels = input.shape
    down, right = -height % window_size[0], -width % window_size[1]
    x = F.pad(input, (0, 0, 0, right, 0, down))
    tall, wide = height + down, width + right
    shift = [0 if window >= extent else s for s, window, extent in zip(shift_size, window_size, (tall, wide))]
    if sum(shift) > 0:
        x = C.roll(x, shifts=(-shift[0], -shift[1]), dims=(1, 2))
    x = _windows(x, window_size)
    if logit_scale is not None and qkv_bias is not None:
        third = qkv_bias.numel() // 3
        qkv_bias = C.cat([qkv_bias[:third], C.zeros_like(qkv_bias[:third]), qkv_bias[2 * third :]])
    qkv = F.linear(x, qkv_weight, qkv_bias)
    n, positions = x.shape[0], x.shape[1]
    q, k, v = qkv.reshape(n, positions, 3, num_heads, channels // num_heads).permute(2, 0, 3, 1, 4).unbind(0)
    if logit_scale is not None:
        attention = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)
        attention = attention * C.clamp(logit_scale, max=math.log(100.0)).exp()
    else:
        attention = (q * (channels // num_heads) ** -0.5).matmul(k.transpose(-2, -1))
    attention = attention + relative_position_bias
    if sum(shift) > 0:
        mask = _apart(tall, wide, window_size, shift).to(x.dtype).unsqueeze(1).unsqueeze(0)
        attention = attention.view(batch, n // batch, num_heads, positions, positions) + mask
        attention = attention.view(-1, num_heads, positions, positions)
    attention = F.dropout(F.softmax(attention, dim=-1), p=attention_dropout, training=training)
    x = attention.matmul(v).transpose(1, 2).reshape(n, positions, channels)
    x = F.dropout(F.linear(x, proj_weight, proj_bias), p=dropout, training=training)
    x = _from_windows(x, window_size, batch, tall, wide)
    if sum(shift) > 0:
        x = C.roll(x, shifts=(shift[0], shift[1]), dims=(1, 2))
    return x[:, :height, :width, :].contiguous()


def relative_positions(height, width):
    """[positions, positions]: for each pair of positions of a window, the row of a table of relative positions."""
    rows = C.arange(height).repeat_interleave(width)
    columns = C.arange(width).repeat(height)
    down = rows.unsqueeze(1) - rows.unsqueeze(0) + height - 1
    right = columns.unsqueeze(1) - columns.unsqueeze(0) + width - 1
    return down * (2 * width - 1) + right


class ShiftedWindowAttention(nn.Module):
    """Version 1: a learned number per relative position and head is added to what is attended to."""

    def __init__(
        self, dim, window_size, shift_size, num_heads, qkv_bias=True, proj_bias=True, attention_dropout=0.0, dropout=0.0
    ):
        super().__init__()
        if len(window_size) != 2 or len(shift_size) != 2:
            raise ValueError("window_size and shift_size must be of length 2")
        self.window_size = window_size
        self.shift_size = shift_size
        self.num_heads = num_heads
        self.attention_dropout = attention_dropout
        self.dropout = dropout
        self.qkv = nn.Linear(dim, dim * 3, bias=qkv_bias)
        self.proj = nn.Linear(dim, dim, bias=proj_bias)
        self.define_relative_position_bias_table()
        self.define_relative_position_index()

    def define_relative_position_bias_table(self):
        positions = (2 * self.window_size[0] - 1) * (2 * self.window_size[1] - 1)
        self.relative_position_bias_table = nn.Parameter(C.zeros(positions, self.num_heads))
        nn.init.trunc_normal_(self.relative_position_bias_table, std=0.02)

    def define_relative_position_index(self):
        self.register_buffer("relative_position_index", relative_positions(*self.window_size).flatten())

    def _by_pair(self, table):
        n = self.window_size[0] * self.window_size[1]
        return table[self.relative_position_index].view(n, n, -1).permute(2, 0, 1).contiguous().unsqueeze(0)

    def get_relative_position_bias(self):
        return self._by_pair(self.relative_position_bias_table)

    def _attention(self, x, logit_scale=None):
        return shifted_window_attention(
            x, self.qkv.weight, self.proj.weight, self.get_relative_position_bias(), self.window_size, self.num_heads,
            self.shift_size, self.attention_dropout, self.dropout, self.qkv.bias, self.proj.bias, logit_scale,
            self.training,
        )  # fmt: skip

    def forward(self, x):
        return self._attention(x)


class ShiftedWindowAttentionV2(ShiftedWindowAttention):
    """Version 2: cosines, and a perceptron of the logarithms of the relative positions."""

    def __init__(
        self, dim, window_size, shift_size, num_heads, qkv_bias=True, proj_bias=True, attention_dropout=0.0, dropout=0.0
    ):
        super().__init__(dim, window_size, shift_size, num_heads, qkv_bias, proj_bias, attention_dropout, dropout)
        self.logit_scale = nn.Parameter(C.log(10 * C.ones((num_heads, 1, 1))))
        self.cpb_mlp = nn.Sequential(
            nn.Linear(2, 512, bias=True), nn.ReLU(inplace=True), nn.Linear(512, num_heads, bias=False)
        )
        if qkv_bias:
            with C.no_grad():
                third = self.qkv.bias.numel() // 3
                self.qkv.bias[third : 2 * third].zero_()

    def define_relative_position_bias_table(self):
        height, width = self.window_size
        down = C.arange(-(height - 1), height, dtype=C.float32) / (height - 1)
        right = C.arange(-(width - 1), width, dtype=C.float32) / (width - 1)
        down = down.unsqueeze(1).expand(2 * height - 1, 2 * width - 1)
        right = right.unsqueeze(0).expand(2 * height - 1, 2 * width - 1)
        table = C.stack([down, right], -1).unsqueeze(0) * 8
        self.register_buffer("relative_coords_table", C.sign(table) * C.log2(C.abs(table) + 1.0) / 3.0)

    def get_relative_position_bias(self):
        return 16 * C.sigmoid(self._by_pair(self.cpb_mlp(self.relative_coords_table).view(-1, self.num_heads)))

    def forward(self, x):
        return self._attention(x, self.logit_scale)


class SwinTransformerBlock(nn.Module):
    def __init__(
        self, dim, num_heads, window_size, shift_size, mlp_ratio=4.0, dropout=0.0, attention_dropout=0.0,
        stochastic_depth_prob=0.0, norm_layer=nn.LayerNorm, attn_layer=ShiftedWindowAttention,
    ):  # fmt: skip
        super().__init__()
        self.norm1 = norm_layer(dim)
        self.attn = attn_layer(
            dim, window_size, shift_size, num_heads, attention_dropout=attention_dropout, dropout=dropout
        )
        self.stochastic_depth = StochasticDepth(stochastic_depth_prob, "row")
        self.norm2 = norm_layer(dim)
        self.mlp = MLP(dim, [int(dim * mlp_ratio), dim], activation_layer=nn.GELU, inplace=None, dropout=dropout)
        for module in self.mlp.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                if module.bias is not None:
                    nn.init.normal_(module.bias, std=1e-6)

    def forward(self, x):
        x = x + self.stochastic_depth(self.attn(self.norm1(x)))
        return x + self.stochastic_depth(self.mlp(self.norm2(x)))


class SwinTransformerBlockV2(SwinTransformerBlock):
    """Version 2, with the norms behind."""

    def __init__(
        self, dim, num_heads, window_size, shift_size, mlp_ratio=4.0, dropout=0.0, attention_dropout=0.0,
        stochastic_depth_prob=0.0, norm_layer=nn.LayerNorm, attn_layer=ShiftedWindowAttentionV2,
    ):  # fmt: skip
        super().__init__(
            dim, num_heads, window_size, shift_size, mlp_ratio, dropout, attention_dropout, stochastic_depth_prob,
            norm_layer, attn_layer,
        )  # fmt: skip

    def forward(self, x):
        x = x + self.stochastic_depth(self.norm1(self.attn(x)))
        return x + self.stochastic_depth(self.norm2(self.mlp(x)))


class SwinTransformer(nn.Module):
    def __init__(
        self, patch_size, embed_dim, depths, num_heads, window_size, mlp_ratio=4.0, dropout=0.0, attention_dropout=0.0,
        stochastic_depth_prob=0.1, num_classes=1000, norm_layer=None, block=None, downsample_layer=PatchMerging,
    ):  # fmt: skip
        super().__init__()
        self.num_classes = num_classes
        block = SwinTransformerBlock if block is None else block
        norm_layer = partial(nn.LayerNorm, eps=1e-5) if norm_layer is None else norm_layer
        patches = nn.Conv2d(3, embed_dim, kernel_size=tuple(patch_size), stride=tuple(patch_size))
        layers = [nn.Sequential(patches, Permute([0, 2, 3, 1]), norm_layer(embed_dim))]
        blocks, done = sum(depths), 0
        for stage, depth in enumerate(depths):
            dim = embed_dim * 2**stage
            made = []
            for i in range(depth):
                made.append(block(
                    dim, num_heads[stage], window_size=window_size,
                    shift_size=[0 if i % 2 == 0 else w // 2 for w in window_size], mlp_ratio=mlp_ratio, dropout=dropout,
                    attention_dropout=attention_dropout, norm_layer=norm_layer,
                    stochastic_depth_prob=stochastic_depth_prob * float(done) / (blocks - 1),
                ))  # fmt: skip
                done += 1
            layers.append(nn.Sequential(*made))
            if stage < len(depths) - 1:
                layers.append(downsample_layer(dim, norm_layer))
        self.features = nn.Sequential(*layers)
        channels = embed_dim * 2 ** (len(depths) - 1)
        self.norm = norm_layer(channels)
        self.permute = Permute([0, 3, 1, 2])
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.flatten = nn.Flatten(1)
        self.head = nn.Linear(channels, num_classes)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.trunc_normal_(module.weight, std=0.02)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, x):
        x = self.permute(self.norm(self.features(x)))
        return self.head(self.flatten(self.avgpool(x)))


def _swin(kwargs, embed_dim, depths, num_heads, stochastic_depth_prob, window=7, **parts):
    options = {"stochastic_depth_prob": stochastic_depth_prob, **parts, **kwargs}
    return SwinTransformer([4, 4], embed_dim, depths, num_heads, [window, window], **options)


_swin_v2 = partial(_swin, window=8, block=SwinTransformerBlockV2, downsample_layer=PatchMergingV2)


@builder
def swin_t(**kwargs):
    return _swin(kwargs, 96, [2, 2, 6, 2], [3, 6, 12, 24], 0.2)


@builder
def swin_s(**kwargs):
    return _swin(kwargs, 96, [2, 2, 18, 2], [3, 6, 12, 24], 0.3)


@builder
def swin_b(**kwargs):
    return _swin(kwargs, 128, [2, 2, 18, 2], [4, 8, 16, 32], 0.5)


@builder
def swin_v2_t(**kwargs):
    return _swin_v2(kwargs, 96, [2, 2, 6, 2], [3, 6, 12, 24], 0.2)


@builder
def swin_v2_s(**kwargs):
    return _swin_v2(kwargs, 96, [2, 2, 18, 2], [3, 6, 12, 24], 0.3)


@builder
def swin_v2_b(**kwargs):
    return _swin_v2(kwargs, 128, [2, 2, 18, 2], [4, 8, 16, 32], 0.5)
