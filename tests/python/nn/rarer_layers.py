# run: --torch
"""Layers and functions that are seldom used: values, gradients, running state and errors as PyTorch's."""

import pathlib
import sys
import warnings

import torch
from torch import nn
from torch.nn import functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check, outcomes  # noqa: E402
from _walk import walk  # noqa: E402

warnings.simplefilter("ignore")

CASES = [
    (nn.LocalResponseNorm, (4,), {"alpha": 0.5}, [(1, 5, 3)]), (nn.RMSNorm, ((2, 3),), {"eps": 0.1, "elementwise_affine": False}, [(2, 2, 3)]),
    *[(nn.TripletMarginWithDistanceLoss, (), {"swap": swap, "margin": 2.0, "reduction": r}, [(3, 4)] * 3) for swap in (False, True) for r in ("none", "sum")],
    (nn.TripletMarginWithDistanceLoss, (), {"distance_function": lambda a, b: (a - b).abs().sum(-1)}, [(3, 4)] * 3),
    (nn.RReLU, (0.2, 0.4), {}, [(3, 4)]), (nn.Hardtanh, (-0.5, 0.3), {}, [(3, 4)]), (nn.Softmax2d, (), {}, [(1, 3, 2, 2)]),
    (nn.ChannelShuffle, (2,), {}, [(1, 4, 2)]), (nn.FeatureAlphaDropout, (0.4,), {}, [(2, 4, 2)]),
    (nn.UpsamplingNearest2d, (), {"scale_factor": 2}, [(1, 1, 2, 2)]), (nn.UpsamplingBilinear2d, ((3, 3),), {}, [(1, 1, 2, 2)]),
]  # fmt: skip


def numbers(*sizes):
    return torch.arange(1.0, 1 + torch.Size(sizes).numel()).reshape(sizes).sin()


def run(function, *inputs):
    """Values, and gradients by the inputs."""
    inputs = [x.clone().requires_grad_(x.is_floating_point()) for x in inputs]
    result = function(*inputs)
    weighted = (result * torch.linspace(0.5, 1.5, result.numel()).view(result.shape)).sum()
    return [result, torch.autograd.grad(weighted, [x for x in inputs if x.requires_grad])]


def losses():
    scores, classes = numbers(3, 4), torch.tensor([2, 0, 3])
    lists = torch.tensor([[2, 0, -1, 1], [3, 3, -1, -1], [-1, 0, 1, 2]])
    weight = torch.tensor([0.5, 1.0, 2.0, 0.1])
    signs = torch.tensor([1.0, -1.0, 1.0])
    for reduction in ("none", "mean", "sum"):
        yield f"multilabel {reduction}", run(lambda x: F.multilabel_margin_loss(x, lists, reduction=reduction), scores)
        yield f"one sample {reduction}", run(lambda x: F.multilabel_margin_loss(x, lists[0], reduction=reduction), scores[0])
        for p in (1, 2):
            yield f"margin {p} {reduction}", run(lambda x: F.multi_margin_loss(x, classes, p, 0.7, weight, reduction=reduction), scores)
        yield f"one class {reduction}", run(lambda x: F.multi_margin_loss(x, classes[0], reduction=reduction), scores[0])
        yield f"cosine {reduction}", run(lambda x, y: F.cosine_embedding_loss(x, y, signs, 0.1, reduction=reduction), scores, scores.cos())
        yield f"linear {reduction}", run(
            lambda x, w, b: F.linear_cross_entropy(x, w, classes, linear_bias=b, reduction=reduction, label_smoothing=0.1),
            numbers(3, 2), numbers(4, 2), numbers(4),
        )  # fmt: skip
        for var in (scores.abs(), scores.abs()[:, :1], scores[:, 0].abs(), scores[:1].abs()):
            yield f"gaussian {reduction}", run(lambda x, v: F.gaussian_nll_loss(x, scores.cos(), v, True, reduction=reduction), scores, var)
    yield "gaussian, one variance", F.gaussian_nll_loss(scores, scores.cos(), 0.3)
    torch.manual_seed(1)
    layer = nn.LinearCrossEntropyLoss(4, 3, out_features=(2,), bias=True, weight=torch.ones(3))
    yield "linear", [repr(layer), list(layer.parameters()), layer(numbers(2, 4), torch.tensor([[0, 1], [2, 0]]))]


def adaptive():
    for kwargs in ({}, {"div_value": 2.0, "head_bias": True}):
        torch.manual_seed(1)
        layer = nn.AdaptiveLogSoftmaxWithLoss(6, 9, [3, 5], **kwargs)
        yield "adaptive", [repr(layer), list(layer.parameters())]
        x = numbers(5, 6).requires_grad_()
        output, loss = layer(x, torch.tensor([0, 4, 2, 8, 3]))
        loss.backward()
        yield "  loss", [output, loss, x.grad, [p.grad for p in layer.parameters()]]
        yield "  all", [layer.log_prob(x), layer.predict(x), layer.predict(x[:1]), layer(x[0], torch.tensor(4))]


def bags():
    table, index = numbers(5, 3), torch.tensor([4, 1, 1, 0, 4, 2])
    offsets = torch.tensor([0, 2, 2, 5])
    for mode in ("sum", "mean", "max"):
        yield f"bags {mode}", run(lambda w: F.embedding_bag(index, w, offsets, mode=mode), table)
        yield f"  padding {mode}", run(lambda w: F.embedding_bag(index, w, offsets, mode=mode, padding_idx=1), table)
        yield f"  rows {mode}", run(lambda w: F.embedding_bag(index.view(2, 3), w, mode=mode, padding_idx=-1), table)
        yield f"  last {mode}", run(lambda w: F.embedding_bag(index.int(), w, torch.tensor([0, 4, 6]), mode=mode, include_last_offset=True), table)
        yield f"  none {mode}", F.embedding_bag(index[:0], table, torch.tensor([0, 0]), mode=mode)
    yield "weights", run(lambda w, s: F.embedding_bag(index, w, offsets, mode="sum", per_sample_weights=s, padding_idx=1), table, numbers(6))
    yield "frequency", run(lambda w: F.embedding_bag(index, w, offsets, mode="mean", scale_grad_by_freq=True), table)
    torch.manual_seed(1)
    layer = nn.EmbeddingBag(5, 2, max_norm=0.5, mode="sum", padding_idx=2)
    yield repr(layer), [layer(index, offsets), layer.weight]
    fixed = nn.EmbeddingBag.from_pretrained(table, mode="max")
    yield repr(fixed), [fixed(index.view(3, 2)), fixed.weight.requires_grad]


def synchronized():
    torch.manual_seed(1)
    plain = nn.Sequential(nn.BatchNorm1d(2, momentum=None), nn.Sequential(nn.BatchNorm1d(2, affine=False), nn.Linear(2, 2)))
    plain(numbers(3, 2))
    model = nn.SyncBatchNorm.convert_sync_batchnorm(plain)
    yield "converted", [repr(model), model(numbers(4, 2)), list(model.state_dict().values())]
    model.eval()
    yield "  eval", model(numbers(4, 2))


def of_convolutions():
    """torch.nn.grad"""
    x, w, g = numbers(2, 2, 3, 4), numbers(2, 2, 2, 2), numbers(2, 2, 2, 3)
    grad = nn.grad
    yield "of images", [grad.conv2d_input(x.shape, w, g), grad.conv2d_weight(x, w.shape, g)]
    x, w, g = x[:, :, 0], w[:, :, 0], g[:, :, 0]
    yield "of sequences", [grad.conv1d_input(x.shape, w, g), grad.conv1d_weight(x, w.shape, g)]
    x, w, g = numbers(1, 2, 3, 2, 4), numbers(2, 1, 2, 1, 2), numbers(1, 2, 1, 2, 4)
    how = ((2, 1, 1), (0, 0, 1), (1, 1, 2), 2)
    yield "of volumes", [grad.conv3d_input(x.shape, w, g, *how), grad.conv3d_weight(x, w.shape, g, *how)]


def rest():
    yield "pdist", [run(lambda x: F.pdist(x, p), numbers(4, 3)) for p in (1.0, 2.0, 3.0, float("inf"))]
    yield "pdist of one, different numbers", [F.pdist(numbers(1, 3)), F.pdist(numbers(3, 3), 0)]
    x = numbers(2, 3)
    yield "in place", [F.celu_(x.clone()), F.selu_(x.clone()), F.threshold_(x.clone(), 0.1, 9.0), F.rrelu_(x.clone())]
    yield "across maps", [nn.CrossMapLRN2d(size, 0.5, k=2)(numbers(1, 7, 2, 1)) for size in (1, 3, 4, 5)]
    yield "time first", run(F.conv_tbc, numbers(4, 2, 3), numbers(2, 3, 2), numbers(2))
    yield "empty", [nn.BatchNorm1d(3)(numbers(0, 3)), nn.BatchNorm2d(3)(numbers(0, 3, 2, 2)), F.linear(numbers(2, 0), numbers(3, 0), numbers(3))]
    yield "empty, gradients", [run(F.linear, numbers(2, 0), numbers(3, 0), numbers(3)), F.pixel_shuffle(numbers(1, 0, 2, 2), 2)]
    yield "nothing", [F.batch_norm(numbers(0), None, None, training=True), F.instance_norm(numbers(2, 0, 2)), nn.InstanceNorm1d(2)(numbers(0, 2, 3))]
    yield "vectors", [F.linear(x, numbers(3)), F.linear(torch.arange(6).view(2, 3), torch.arange(3).view(1, 3))]
    head = run(F.scaled_dot_product_attention, numbers(2, 3, 0), numbers(2, 4, 0), numbers(2, 4, 5))
    yield "attention without keys' width", [head[0].shape, [g.shape for g in head[1]]]
    yield "transposed", run(lambda x, w: F.conv_transpose2d(x, w, dilation=3, output_padding=2), numbers(1, 1, 2, 2), numbers(1, 2, 2, 2))


x, i = numbers(2, 3), torch.tensor([0, 1])
ERRORS = """
F.multilabel_margin_loss(x, i[None]) | F.multilabel_margin_loss(x, torch.tensor([[0, 1, 3]] * 2)) | F.multilabel_margin_loss(x, torch.zeros(2, 3)) | F.multilabel_margin_loss(x[..., None], x)
F.multi_margin_loss(x, i, p=3) | F.multi_margin_loss(x, i[:1]) | F.multi_margin_loss(x, i, weight=x[0, :2]) | F.multi_margin_loss(x[:, :0], i)
F.gaussian_nll_loss(x, x, -x.abs()) | F.gaussian_nll_loss(x, x, x[0].abs()) | F.gaussian_nll_loss(x, x, -1.0) | F.gaussian_nll_loss(x, x, x.abs(), reduction='x')
F.cosine_embedding_loss(x, x, x) | F.cosine_embedding_loss(x, x, i[0]) | F.margin_ranking_loss(x, x, i) | F.triplet_margin_loss(x, x, x[0]) | F.triplet_margin_loss(x, x, x, margin=0)
F.triplet_margin_with_distance_loss(x, x, x, margin=-1) | nn.TripletMarginWithDistanceLoss(margin=-1) | F.linear_cross_entropy(x[None], x, i)
F.pdist(x[0]) | F.pdist(x, -1) | F.dropout1d(x[0]) | F.dropout2d(x[0]) | F.local_response_norm(x, 2) | F.conv_tbc(x, x, x)
nn.AdaptiveLogSoftmaxWithLoss(8, 10, []) | nn.AdaptiveLogSoftmaxWithLoss(8, 10, [3, 3]) | nn.AdaptiveLogSoftmaxWithLoss(8, 10, [3, 12])
nn.AdaptiveLogSoftmaxWithLoss(3, 10, [3, 4])(x, i + 9) | nn.AdaptiveLogSoftmaxWithLoss(3, 10, [3, 4])(x, i[:1]) | nn.AdaptiveLogSoftmaxWithLoss(3, 10, [3, 4])(x, x)
F.embedding_bag(i, x) | F.embedding_bag(i, x, torch.tensor([0, 3])) | F.embedding_bag(i, x, i, mode='foo') | F.embedding_bag(i[0], x, i) | F.embedding_bag(i, x, i[None])
F.embedding_bag(i, x, i, mode='max', scale_grad_by_freq=True) | F.embedding_bag(i, x, i, per_sample_weights=x[0]) | F.embedding_bag(i, x, i, per_sample_weights=x[0, :2])
F.embedding_bag(i, x, i[:0], include_last_offset=True) | F.embedding_bag(i, x, i, padding_idx=2) | nn.EmbeddingBag(4, 3, padding_idx=5) | nn.SyncBatchNorm(4)(x[0])
F.max_unpool2d(x[None, None], i, 2) | F.max_unpool2d(x, i, 2) | F.max_unpool2d(x[None], torch.zeros(1, 2, 3).int(), 2) | F.max_unpool2d(x[None], torch.zeros(1, 2, 3).long(), 2, output_size=(9, 9)) | F.max_unpool1d(x, i, 2, output_size=(1, 2, 3, 4))
F.fractional_max_pool2d(x[None], 1) | F.fractional_max_pool2d(x[None], 2, 5) | F.fractional_max_pool2d(x[None], 1, 1, _random_samples=torch.rand(1, 2, 2)) | nn.FractionalMaxPool2d(2) | nn.FractionalMaxPool2d(2, 2, 0.5) | nn.FractionalMaxPool3d(2, output_ratio=1.5)
F.adaptive_max_pool2d(x, 2) | F.adaptive_max_pool2d(x[None, :0], 2) | F.adaptive_max_pool3d(x[None], 2) | F.adaptive_avg_pool3d(x[None], 2) | F.lp_pool2d(x[None], 0, 2) | F.avg_pool2d(x[None], 1, divisor_override=0)
F.max_pool3d(x[None, None], 4) | F.max_pool3d(x[None, None], 1, padding=1) | F.conv3d(x, x) | F.conv3d(x[None, None], numbers(2, 3, 1, 1, 1)) | F.conv3d(x[None, None], numbers(1, 1, 3, 1, 1)) | F.conv3d(x[None, None], numbers(1, 1, 1, 1, 1), stride=0) | F.conv3d(x[None, None], numbers(1, 1, 0, 1, 1))
F.conv_transpose3d(x[None, None], numbers(1, 1, 1, 1, 1), output_padding=1) | F.conv_transpose3d(x[None, None], numbers(2, 1, 1, 1, 1)) | F.conv2d(x[None], numbers(1, 1, 1, 1), dilation=0)
F.scaled_dot_product_attention(x[0], x[0], x[0]) | F.scaled_dot_product_attention(x, x.double(), x) | F.scaled_dot_product_attention(x, x, x, attn_mask=i) | F.scaled_dot_product_attention(x, x, x, x, is_causal=True)
F.scaled_dot_product_attention(numbers(4, 2, 3), numbers(3, 2, 3), numbers(3, 2, 3), enable_gqa=True) | F.scaled_dot_product_attention(x, x, x, dropout_p=2.0)
F.max_pool1d(x[None, :0], 2) | F.max_pool2d(x[None, :, :0], 1) | F.avg_pool1d(x[None, :0], 1) | F.adaptive_avg_pool2d(x[None, :0], 2) | F.avg_pool2d(numbers(1, 0, 2, 2), 1)
F.unfold(x[None], 4) | F.unfold(x[None], 0) | F.unfold(x[None], 1, stride=0) | F.unfold(x[None, None, :, :0], 1) | F.fold(x, 4, 2) | F.fold(x[None], 4, 1) | F.fold(x[0], 4, 1) | F.fold(x, 4, 1, padding=-1)
"""


check([*walk(CASES), *losses(), *adaptive(), *bags(), *synchronized(), *of_convolutions(), *rest(), *outcomes(ERRORS, globals())], __file__)
