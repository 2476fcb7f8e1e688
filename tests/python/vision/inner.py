# run: --torch
"""Outputs of inner layers, models of our own from a family's parts, and names of torchvision's modules."""

import importlib

import torch
from _tables import check, elements, said, summary
from torch import nn
from torchvision import models
from torchvision.models._utils import IntermediateLayerGetter, _make_divisible
from torchvision.models.feature_extraction import create_feature_extractor, get_graph_node_names

MODULES = (
    "datasets.cifar", "datasets.fakedata", "datasets.folder", "datasets.mnist", "datasets.stl10", "datasets.svhn",
    "datasets.utils", "datasets.vision", "datasets.voc", "io.image", "models.alexnet", "models.detection",
    "models.mobilenet", "models.optical_flow", "models.quantization", "models.segmentation.lraspp", "models.video",
    "ops.boxes", "ops.drop_block", "ops.feature_pyramid_network", "ops.focal_loss", "ops.misc", "ops.roi_align",
    "ops.roi_pool", "ops.stochastic_depth", "transforms.autoaugment", "transforms.functional", "transforms.transforms",
    "transforms.v2.functional", "utils", "version",
)  # fmt: skip
IMAGE = elements(2, 3, 64, 64) - 0.5


def resnet():
    torch.manual_seed(2)
    return models.resnet18().eval()


def extracted(nodes):
    return create_feature_extractor(resnet(), nodes)(IMAGE)


def twice():
    """A second call gives the second image's outputs."""
    extractor = create_feature_extractor(resnet(), ["layer2.0.bn1"])
    extractor(IMAGE)
    return extractor(IMAGE[:1])


def node_names(model):
    train, evaluation = get_graph_node_names(model, suppress_diff_warning=True)
    return [len(train), len(evaluation), train]


def both_modes():
    """Members and their statistics are shared by the graphs of the two modes."""
    extractor = create_feature_extractor(resnet(), train_return_nodes={"bn1": "a"}, eval_return_nodes={"layer1.0": "b"})
    extractor.train()
    first = extractor(IMAGE)
    return [first, extractor.bn1.num_batches_tracked, extractor.eval()(IMAGE), [n for n, _ in extractor.named_children()]]


def transferred():
    """The usual change of the last layer, with the rest frozen."""
    torch.manual_seed(3)
    model = models.mobilenet_v2()
    for parameter in model.parameters():
        parameter.requires_grad = False
    model.classifier[1] = nn.Linear(model.last_channel, 3)
    model.eval()(IMAGE).sum().backward()
    return [parameter.grad for parameter in model.parameters() if parameter.grad is not None]


CALLS = {
    "features": lambda: extracted({"layer1": "a", "layer4.1.relu_1": "b", "avgpool": "c"}),
    "features by names": lambda: extracted(["layer3", "fc"]),
    "features twice": twice,
    "names": lambda: [node_names(resnet()), node_names(models.mobilenet_v2()), node_names(models.vit_b_16())],
    "features in both modes": both_modes,
    "no such node": lambda: extracted(["layer9"]),
    "no nodes": lambda: create_feature_extractor(resnet()),
    "layers": lambda: IntermediateLayerGetter(resnet(), {"layer2": "q", "layer3": "r"})(IMAGE),
    "no such layer": lambda: IntermediateLayerGetter(resnet(), {"layer9": "q"}),
    "children": lambda: nn.Sequential(*list(resnet().children())[:-2])(IMAGE),
    "transfer": transferred,
    "divisible": lambda: [_make_divisible(v, 8) for v in (1, 11.9, 12, 20, 33.3)] + [_make_divisible(3, 4, 16)],
    "two blocks": lambda: models.resnet.Bottleneck(8, 2, dilation=2, groups=2)(elements(1, 8, 5, 5)),
    "basic block in groups": lambda: models.resnet.BasicBlock(8, 8, groups=2),
    "stride": lambda: models.mobilenetv2.InvertedResidual(8, 8, 3, 1),
    "dilated in two": lambda: models.resnet18(replace_stride_with_dilation=[True, False]),
    "squeezenet 2": lambda: models.SqueezeNet("2_0"),
    "mnasnet 0": lambda: models.MNASNet(0),
    "patches": lambda: models.vit_b_16(image_size=100),
    "another size": lambda: models.VisionTransformer(32, 8, 1, 2, 8, 8)(elements(1, 3, 40, 40)),
    "no blocks": lambda: [models.ConvNeXt([]), models.EfficientNet([], 0.1)],
    **{name: lambda name=name: bool(importlib.import_module("torchvision." + name)) for name in MODULES},
}
check([(name, said(lambda: summary(function()))) for name, function in CALLS.items()], __file__)  # noqa: B023
