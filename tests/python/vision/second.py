# run: --torch
"""transforms.v2: nests of images and labels, mixes of batches, and what only it has, as torchvision's."""

import random
import warnings

import torch
from _tables import check, elements, said
from torchvision.transforms import v2

warnings.simplefilter("ignore")
IMAGE = elements(3, 37, 53)
BATCH, LABELS = elements(4, 3, 8, 9), torch.tensor([0, 1, 2, 1])
SMOOTH = v2.InterpolationMode.BILINEAR
TRANSFORMS = {
    "flip": v2.RandomHorizontalFlip(),
    "crop": v2.RandomCrop(32, padding=4),
    "crop with border": v2.RandomCrop(60, pad_if_needed=True),
    "resized crop": v2.RandomResizedCrop(24),
    "jitter": v2.ColorJitter(0.4, 0.4, 0.4, 0.1),
    "rotation": v2.RandomRotation(30, interpolation=SMOOTH),
    "affine": v2.RandomAffine(10, (0.1, 0.1), (0.8, 1.2), 5, interpolation=SMOOTH),
    "perspective": v2.RandomPerspective(p=0.7),
    "gray": v2.RandomGrayscale(0.5),
    "blur": v2.GaussianBlur(5),
    "resize": v2.Resize(20),
    "invert": v2.RandomInvert(),
    "sharpness": v2.RandomAdjustSharpness(2),
    "RandAugment": v2.RandAugment(interpolation=SMOOTH),
    "AutoAugment": v2.AutoAugment(interpolation=SMOOTH),
    "TrivialAugmentWide": v2.TrivialAugmentWide(33, interpolation=SMOOTH),
    "five": v2.FiveCrop(10),
    "erasing": v2.RandomErasing(p=0.7),
    "chain": v2.Compose(
        [v2.ToDtype(torch.uint8, scale=True), v2.ToDtype(torch.float32), v2.Normalize([0.5] * 3, [0.5] * 3)]
    ),
    "choice": v2.RandomChoice([v2.Pad(1), v2.Pad(2)], p=[0.2, 0.8]),
    "order": v2.RandomOrder([v2.Pad(1), v2.CenterCrop(20)]),
    "apply": v2.RandomApply([v2.Pad(1)], p=0.5),
    "permutation": v2.RandomChannelPermutation(),
    "noise": v2.GaussianNoise(),
    "rgb": v2.RGB(),
    "identity": v2.Identity(),
    "pure": v2.ToPureTensor(),
}
INPUTS = {"image": (IMAGE,), "pair": (IMAGE, 3), "tensors": (IMAGE, torch.ones(3)), "dict": ({"x": IMAGE, "y": "z"},)}


def seeded(seed, function):
    torch.manual_seed(seed)
    random.seed(seed)
    return [said(function), float(torch.rand(1))]


items = []
for name, transform in TRANSFORMS.items():
    for kind, inputs in INPUTS.items():
        for seed in (0, 1, 2):
            items.append((f"{name} {kind} {seed}", seeded(seed, lambda: transform(*inputs))))  # noqa: B023
for seed in range(4):
    items.append((f"mixup {seed}", seeded(seed, lambda: v2.MixUp(num_classes=4)(BATCH, LABELS))))
    items.append((f"cutmix {seed}", seeded(seed, lambda: v2.CutMix(alpha=0.7, num_classes=4)(BATCH, LABELS))))
items.append(("cutmix without classes", said(lambda: v2.CutMix()(BATCH, LABELS))))
items.append(("nothing to compose", said(lambda: v2.Compose([]))))
items.append(("wrong probabilities", said(lambda: v2.RandomChoice([v2.Pad(1)], p=[1, 2]))))
items.append(("sizes", said(lambda: [v2.functional.get_size(IMAGE), v2.functional.get_num_channels(IMAGE)])))
items.append(
    (
        "functions",
        said(lambda: [v2.functional.horizontal_flip(IMAGE), v2.functional.to_dtype(IMAGE, torch.uint8, True)]),
    )
)
check(items, __file__)
