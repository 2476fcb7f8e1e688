# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Captured training steps through the larger layers: transformers under masks, volumes, CTC, grids, bags."""
import terra
from _gradients import Seen, t
from _harness import main, program
from terra import nn
from terra.nn import functional as F


def wave(i, *sizes):
    return t(i, terra.Size(sizes).numel()).view(sizes)


def trains(name, make, batch, captures=6, calls=10):
    """make() -> (model, loss(model, batch)); trains with SGD on batch(i)."""
    def program_of():
        terra.manual_seed(1)
        model, loss_of = make()
        optimizer = terra.optim.SGD(model.parameters(), lr=0.05)
        def f(*inputs):
            optimizer.zero_grad()
            loss = loss_of(model, *inputs)
            loss.backward()
            optimizer.step()
            return loss.item()
        f.__code__ = f.__code__.replace()  # one of its own: entries are counted by it
        return f, batch, Seen(model)
    program_of.__name__ = name
    program(calls=calls, captures=captures)(program_of)


def squared(model, *inputs):
    return model(*inputs).pow(2).mean()


CAUSAL = nn.Transformer.generate_square_subsequent_mask(3)
PADDING = terra.tensor([[False, False, True], [False, False, False]])

trains("encoder_layer", lambda: (nn.TransformerEncoderLayer(4, 2, 8), squared), lambda i: (wave(i, 3, 2, 4),))
trains(
    "encoder_with_masks",
    lambda: (nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, dropout=0.0), 2),
             lambda m, x: m(x, mask=CAUSAL, src_key_padding_mask=PADDING.float() * -9).pow(2).mean()),
    lambda i: (wave(i, 2, 3, 4),),
)  # fmt: skip
trains(
    "transformer",
    lambda: (nn.Transformer(4, 2, 1, 1, 8, norm_first=True, activation="gelu"),
             lambda m, x, y: m(x, y, tgt_mask=CAUSAL, tgt_is_causal=True).pow(2).mean()),
    lambda i: (wave(i, 5, 2, 4), wave(i + 3, 3, 2, 4)),
)  # fmt: skip
trains(
    "attention_weights",
    lambda: (nn.MultiheadAttention(4, 2, add_bias_kv=True, add_zero_attn=True),
             lambda m, x, y: sum(part.pow(2).mean() for part in m(x, y, y, key_padding_mask=PADDING))),
    lambda i: (wave(i, 4, 2, 4), wave(i + 5, 3, 2, 4)),
)  # fmt: skip
trains(
    "volumes",
    lambda: (nn.Sequential(nn.Conv3d(1, 2, 2, padding=1), nn.BatchNorm3d(2), nn.ReLU(), nn.MaxPool3d(2),
                           nn.ConvTranspose3d(2, 1, 2, stride=2), nn.AvgPool3d(2, divisor_override=3)), squared),
    lambda i: (wave(i, 2, 1, 4, 4, 3),),
)  # fmt: skip
trains(
    "pools",
    lambda: (nn.Sequential(nn.Conv2d(1, 2, 2), nn.AdaptiveMaxPool2d((4, 3)), nn.LPPool2d(2, (2, 1)), nn.Unfold(2), nn.Linear(2, 2)), squared),
    lambda i: (wave(i, 2, 1, 6, 6),),
)  # fmt: skip
trains(
    "unpooled",
    lambda: (nn.Conv2d(1, 2, 1), lambda m, x: F.max_unpool2d(*F.max_pool2d(m(x), 2, return_indices=True), 2).pow(3).mean()),
    lambda i: (wave(i, 1, 1, 4, 4),),
)  # fmt: skip
trains(
    "sequences_without_alignment",
    lambda: (nn.Linear(3, 4), lambda m, x, y: F.ctc_loss(m(x).log_softmax(-1), y, (6, 5), (2, 1))),
    lambda i: (wave(i, 6, 2, 3), terra.tensor([[1 + i % 3, 2], [3, 1]])),
)  # fmt: skip
trains(
    "places_that_are_learned",
    lambda: (nn.Linear(2, 6),
             lambda m, x: F.grid_sample(x, F.affine_grid(m(x[:, 0, 0, :2]).view(-1, 2, 3), (2, 1, 3, 3), False),
                                        padding_mode="reflection", align_corners=False).pow(2).mean()),
    lambda i: (wave(i, 2, 1, 4, 4),),
)  # fmt: skip
trains(
    "other_sizes",
    lambda: (nn.Conv2d(1, 1, 2), lambda m, x: sum(
        F.interpolate(m(x), (3, 5), mode=mode, antialias=smooth).pow(2).mean()
        for mode, smooth in (("bilinear", False), ("bicubic", True), ("nearest", False)))),
    lambda i: (wave(i, 1, 1, 6, 6),),
)  # fmt: skip
trains(
    "bags",
    lambda: (nn.EmbeddingBag(5, 3, mode="sum", padding_idx=1), lambda m, x: m(x).pow(2).mean()),
    lambda i: (terra.tensor([[0, 1, 4], [2, i % 5, 1]]),),
)  # fmt: skip
trains(
    "margins",
    lambda: (nn.Linear(3, 4), lambda m, x, y: F.multi_margin_loss(m(x), y) + F.triplet_margin_with_distance_loss(m(x), m(x + 1), m(x * 2), swap=True)),
    lambda i: (wave(i, 3, 3), terra.tensor([i % 4, 0, 3])),
)  # fmt: skip


@program(calls=8, captures=4)
def lazy_layers():
    """The first call makes ordinary layers of them."""
    terra.manual_seed(1)
    model = nn.Sequential(nn.LazyConv1d(2, 2), nn.LazyBatchNorm1d(), nn.Flatten(), nn.LazyLinear(2))
    def f(x):
        return model(x).sum().item()
    return f, lambda i: (wave(i, 2, 3, 4),), Seen(model)


if __name__ == "__main__":
    main()
