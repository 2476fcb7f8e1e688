# run: --torch
"""Losses over classes, embeddings, functional forms with many options, as PyTorch's."""

import pathlib
import sys
import warnings

import torch
import torch.nn.functional as F
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from _oracle import check  # noqa: E402

warnings.simplefilter("ignore")


def with_gradient(function, *tensors):
    leaves = [t.clone().requires_grad_() for t in tensors]
    output = function(*leaves)
    output.sum().backward()
    return [output, *[leaf.grad for leaf in leaves]]


def walk():
    torch.manual_seed(2)
    scores, labels = torch.randn(5, 4), torch.tensor([0, 3, 1, -100, 2])
    weight, soft = torch.tensor([1.0, 0.5, 2.0, 1.5]), torch.randn(5, 4).softmax(1)
    for reduction in ("mean", "sum", "none"):
        for name, kwargs in (
            ("plain", {}), ("weight", {"weight": weight}), ("smoothing", {"label_smoothing": 0.1}),
            ("both", {"weight": weight, "label_smoothing": 0.2}), ("ignore", {"ignore_index": 1}),
        ):  # fmt: skip
            target = labels if name != "ignore" else labels.clamp(min=0)
            yield f"cross_entropy {reduction} {name}", with_gradient(
                lambda s: F.cross_entropy(s, target, reduction=reduction, **kwargs), scores
            )
        yield f"soft targets {reduction}", with_gradient(lambda s: F.cross_entropy(s, soft, reduction=reduction), scores)
        yield f"nll {reduction}", with_gradient(
            lambda s: F.nll_loss(F.log_softmax(s, 1), labels.clamp(min=0), weight, reduction=reduction), scores
        )
    images, classes = torch.randn(2, 3, 2, 2), torch.randint(3, (2, 2, 2))
    yield "cross_entropy of images", with_gradient(lambda s: F.cross_entropy(s, classes), images)
    p, y = torch.rand(4, 3), torch.randint(2, (4, 3)).float()
    yield "bce", with_gradient(lambda s: F.binary_cross_entropy(s, y, weight=torch.rand(3)), p)
    yield "bce pos_weight", with_gradient(lambda s: F.binary_cross_entropy_with_logits(s, y, pos_weight=torch.tensor([1.0, 2.0, 3.0])), p)
    a, b = torch.randn(4, 3), torch.randn(4, 3)
    signs = torch.tensor([1.0, -1.0, 1.0, -1.0])
    yield "margin", with_gradient(lambda s, t: F.margin_ranking_loss(s[:, 0], t[:, 0], signs, margin=0.3), a, b)
    yield "cosine", with_gradient(lambda s, t: F.cosine_embedding_loss(s, t, signs, margin=0.1), a, b)
    yield "hinge", with_gradient(lambda s: F.hinge_embedding_loss(s[:, 0], signs), a)
    yield "multi margin", with_gradient(lambda s: F.multi_margin_loss(s, torch.tensor([0, 2, 1, 1])), a)
    yield "gaussian", with_gradient(lambda s, t: F.gaussian_nll_loss(s, t, torch.full((4, 3), 0.7), full=True), a, b)
    yield "old reduction", F.mse_loss(a, b, size_average=False)
    table = nn.Embedding(6, 3, padding_idx=2)
    yield "embedding", [table.weight, table(torch.tensor([[0, 2], [5, 2]]))]
    table(torch.tensor([0, 2, 0, 5])).pow(2).sum().backward()
    yield "embedding gradient", table.weight.grad
    yield "from_pretrained", nn.Embedding.from_pretrained(torch.ones(2, 2), freeze=False)(torch.tensor([1]))
    yield "one_hot", F.one_hot(torch.tensor([0, 2, 1]), 4)
    yield "normalize", F.normalize(a)
    yield "softmax dtype", F.softmax(torch.tensor([1, 2]), 0, dtype=torch.float64)
    for mode in ("sum", "mean", "max"):
        yield f"bag {mode}", F.embedding_bag(torch.tensor([0, 1, 2, 0]), table.weight.detach(), torch.tensor([0, 3]), mode=mode)
    image = torch.randn(1, 2, 5, 5)
    yield "unfold", F.unfold(image, 3, padding=1, stride=2)
    yield "fold", F.fold(F.unfold(image, 3, padding=1, stride=2), (5, 5), 3, padding=1, stride=2)
    yield "pad", F.pad(image, (1, 2, -1, 0), value=2.5)
    q, k, v = (torch.randn(2, 3, 4) for _ in range(3))
    yield "attention", with_gradient(lambda *t: F.scaled_dot_product_attention(*t, is_causal=True), q, k, v)
    yield "indices", list(F.max_pool2d(image, 2, return_indices=True))
    yield "gumbel", F.gumbel_softmax(a, hard=True)


check(list(walk()), __file__)
