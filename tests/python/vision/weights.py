# run: --torch
# timeout: 200
"""Weights: their enums, files that lie where torch.hub keeps them, old and wrong ways of asking for them."""

import os
import re
import tempfile
import warnings

import torch
from _tables import check, elements, said
from torchvision import models

os.environ["TORCH_HOME"] = tempfile.mkdtemp()
folder = os.path.join(os.environ["TORCH_HOME"], "hub", "checkpoints")
os.makedirs(folder)
warnings.simplefilter("ignore")


def stored(weights, model, renamed=lambda key: key):
    """Puts the model's values where the weights are looked for, under older names."""
    state = {renamed(key): value for key, value in model.state_dict().items()}
    torch.save(state, os.path.join(folder, os.path.basename(weights.url)))
    return model.eval()


def equal(a, b):
    b.eval()
    image = elements(1, 3, 64, 64)
    return torch.equal(a(image), b(image))


def warned(function):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        function()
    return [str(w.message).split(". ")[0].split(" for ")[0] for w in seen]


def facts(name):
    enum = models.get_model_weights(name)
    members = [[w.name, w.url, w.meta["num_params"], str(w.transforms())] for w in enum]
    return [enum.__name__, str(enum.DEFAULT), members]


torch.manual_seed(1)
squeezenet = stored(models.SqueezeNet1_1_Weights.DEFAULT, models.squeezenet1_1())
densenet = stored(
    models.DenseNet121_Weights.IMAGENET1K_V1,
    models.densenet121(),
    lambda key: re.sub(r"(denselayer\d+\.(?:norm|conv))(\d)(?!\.num)", r"\1.\2", key),
)
googlenet = stored(models.GoogLeNet_Weights.DEFAULT, models.googlenet(transform_input=True, init_weights=False))
resized = models.ResNet18_Weights.DEFAULT.transforms()

CALLS = {
    **{name: lambda name=name: facts(name) for name in models.list_models(models)},
    **{name: lambda name=name: facts(name) for name in models.list_models(models.segmentation)},
    "by member": lambda: equal(squeezenet, models.squeezenet1_1(weights=models.SqueezeNet1_1_Weights.IMAGENET1K_V1)),
    "by name": lambda: equal(squeezenet, models.squeezenet1_1(weights="IMAGENET1K_V1")),
    "by default": lambda: equal(squeezenet, models.get_model("squeezenet1_1", weights="DEFAULT")),
    "by long name": lambda: equal(
        squeezenet, models.squeezenet1_1(weights=str(models.SqueezeNet1_1_Weights.DEFAULT).partition(".")[2])
    ),
    "pretrained": lambda: equal(squeezenet, models.squeezenet1_1(pretrained=True)),
    "positional": lambda: equal(squeezenet, models.squeezenet1_1(True)),
    "pretrained=False warns": lambda: warned(lambda: models.squeezenet1_1(pretrained=False)),
    "older keys": lambda: equal(densenet, models.densenet121(weights="DEFAULT")),
    "heads dropped": lambda: [
        equal(googlenet, models.googlenet(weights="DEFAULT")),
        models.googlenet(weights="DEFAULT").aux1,
    ],
    "heads kept": lambda: models.googlenet(weights="DEFAULT", aux_logits=True).aux1 is None,
    "get_weight": lambda: str(models.get_weight("ResNet50_Weights.IMAGENET1K_V2")),
    "get_weight of no enum": lambda: models.get_weight("Nothing.X"),
    "get_weight of no member": lambda: models.get_weight("ResNet50_Weights.X"),
    "get_weight of a word": lambda: models.get_weight("ResNet50"),
    "another enum": lambda: models.resnet18(weights=models.ResNet50_Weights.DEFAULT),
    "no such name": lambda: models.resnet18(weights="BEST"),
    "other classes": lambda: models.squeezenet1_1(weights="DEFAULT", num_classes=3),
    "no such model": lambda: models.get_model("resnet17"),
    "verify": lambda: [
        str(models.ResNet18_Weights.verify(w)) for w in (None, "DEFAULT", models.ResNet18_Weights.DEFAULT)
    ],
    "of a builder": lambda: models.get_model_weights(models.resnet18).__name__,
    "transforms": lambda: resized(elements(3, 300, 400, scale=255).to(torch.uint8)),
    "crop and resize": lambda: [resized.crop_size, resized.resize_size],
}
check([(name, said(function)) for name, function in CALLS.items()], __file__)

if "terra" in torch.__file__:
    try:
        models.resnet18(weights="DEFAULT")
    except FileNotFoundError as error:
        text = str(error)
    for part in ("ResNet18_Weights.IMAGENET1K_V1", "resnet18-f37072fd.pth", folder, "load_state_dict"):
        assert part in text, text
