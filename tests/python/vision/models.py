# run: --torch
# timeout: 400
"""Models: names and shapes of all parameters, their initial values, the random stream behind them, and an output."""

import hashlib
import warnings

import torch
from _tables import check, elements, summary
from torchvision import models

warnings.simplefilter("ignore")

# One or two of each family; models_all.py has the others.
NAMES = (
    "alexnet", "convnext_tiny", "densenet121", "efficientnet_b0", "efficientnet_b5", "efficientnet_v2_s", "googlenet",
    "inception_v3", "maxvit_t", "mnasnet0_5", "mnasnet1_3", "mobilenet_v2", "mobilenet_v3_large", "mobilenet_v3_small",
    "regnet_x_400mf", "regnet_y_400mf", "resnet18", "resnet50", "resnext50_32x4d", "shufflenet_v2_x0_5",
    "shufflenet_v2_x2_0", "squeezenet1_0", "squeezenet1_1", "swin_t", "swin_v2_t", "wide_resnet50_2",
)  # fmt: skip
SMALL = {"num_classes": 7}
VARIANTS = {
    "resnet18 dilated": lambda: models.resnet50(
        replace_stride_with_dilation=[False, True, True], zero_init_residual=True
    ),
    "densenet efficient": lambda: models.densenet121(memory_efficient=True, drop_rate=0.1, **SMALL),
    "mobilenet_v2 narrow": lambda: models.mobilenet_v2(width_mult=0.35, **SMALL),
    "mobilenet_v3 dilated": lambda: models.mobilenet_v3_large(dilated=True, reduced_tail=True, **SMALL),
    "googlenet plain": lambda: models.googlenet(aux_logits=False, transform_input=True, init_weights=False, **SMALL),
    "vit of our own": lambda: models.VisionTransformer(32, 8, 2, 2, 16, 32, num_classes=3, representation_size=5),
    "resnet of our own": lambda: models.ResNet(models.resnet.BasicBlock, [1, 1, 1, 1], num_classes=4),
}
SEGMENTATION = ("fcn_resnet50", "deeplabv3_resnet50", "deeplabv3_mobilenet_v3_large", "lraspp_mobilenet_v3_large")


def described(model):
    state = model.state_dict()
    names = ";".join(f"{key} {list(value.shape)}" for key, value in state.items())
    totals = [float(value.double().abs().sum()) for value in state.values()]
    places = sum(total * (i % 13) for i, total in enumerate(totals))
    count = sum(p.numel() for p in model.parameters())
    return [count, hashlib.md5(names.encode()).hexdigest(), sum(totals), places]


def sized(name):
    return {"inception_v3": 75, "maxvit_t": 224, "vit_b_16": 224, "vit_b_32": 224, "vit of our own": 32}.get(name, 64)


def lines(builders):
    for name, build in builders.items():
        torch.manual_seed(5)
        model = build()
        yield f"{name} initial", [*described(model), float(torch.rand(1))]
        model.eval()
        with torch.no_grad():
            yield f"{name} output", summary(model(elements(2, 3, sized(name), sized(name))))


if __name__ == "__main__":
    builders = {name: models.get_model_builder(name) for name in NAMES} | VARIANTS
    segmentation = {
        name: lambda name=name: models.get_model(name, weights=None, weights_backbone=None, num_classes=5)
        for name in SEGMENTATION
    }
    items = [*lines(builders), *lines(segmentation)]
    items.append(("names", [name for name in models.list_models(models, include="*net*")]))
    items.append(("excluded", models.list_models(models.segmentation, exclude="*resnet*")))
    check(items, __file__)
