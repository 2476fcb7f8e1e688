"""Transforms with arguments, for tensors and for Pillow's images."""

import torchvision.transforms as T

CASES = [
    (name, arguments, options)
    for name, *calls in (
        ("Resize", ((20,), {}), (((20, 31),), {}), ((60,), {}), ((20,), {"interpolation": "NEAREST"}),
         ((30,), {"max_size": 40}),
         ((18,), {"interpolation": "BICUBIC"}), ((20,), {"antialias": False}), (((18, 90),), {})),
        ("CenterCrop", ((20,), {}), (((10, 60),), {})),
        ("Pad", ((3,), {}), (((1, 2),), {"fill": 7}), (((1, 2, 3, 4),), {"padding_mode": "reflect"}),
         (((5, 2, 3, 4),), {"padding_mode": "symmetric"}), ((3,), {"padding_mode": "edge"})),
        ("RandomCrop", ((16,), {}), ((18,), {"padding": 4}), ((18,), {"padding": 4, "padding_mode": "reflect"}),
         (((60, 20),), {"pad_if_needed": True, "fill": 3})),
        ("RandomResizedCrop", ((24,), {}), (((20, 30),), {"scale": (0.5, 1), "ratio": (0.9, 1.1)}),
         ((16,), {"scale": (2.0, 3.0)})),
        ("RandomHorizontalFlip", ((), {})),
        ("RandomVerticalFlip", ((), {"p": 0.8})),
        ("ColorJitter", ((0.4, 0.4, 0.4, 0.1), {}), ((), {"brightness": (0.5, 1.5)}), ((), {"hue": 0.5})),
        ("Grayscale", ((), {}), ((3,), {})),
        ("RandomGrayscale", ((0.6,), {})),
        ("RandomRotation", ((30,), {"interpolation": "BILINEAR"}),
         ((45,), {"interpolation": "BILINEAR", "expand": True}),
         ((45,), {"interpolation": "BILINEAR", "center": (3, 4), "fill": 1})),
        ("RandomAffine",
         ((10,), {"translate": (0.1, 0.2), "scale": (0.5, 2.0), "shear": 10, "interpolation": "BILINEAR"}),
         ((0,), {"shear": (1, 2, 3, 4), "interpolation": "BILINEAR", "fill": 1})),
        ("RandomPerspective", ((), {"p": 0.9}),),
        ("GaussianBlur", ((3,), {}), (((5, 7),), {"sigma": 1.5})),
        ("RandomInvert", ((), {})),
        ("RandomPosterize", ((3,), {"p": 0.7})),
        ("RandomSolarize", ((0.5,), {"p": 0.7})),
        ("RandomAdjustSharpness", ((2,), {"p": 0.7})),
        ("RandomAutocontrast", ((), {})),
        ("RandomEqualize", ((), {})),
        ("AutoAugment", ((), {"interpolation": "BILINEAR"}), ((), {"policy": "CIFAR10", "interpolation": "BILINEAR"}),
         ((), {"policy": "SVHN", "interpolation": "BILINEAR"})),
        ("RandAugment", ((4, 15), {"interpolation": "BILINEAR"}),),
        ("TrivialAugmentWide", ((), {"interpolation": "BILINEAR", "num_magnitude_bins": 33}),),
        ("AugMix", ((), {}),),
        ("RandomErasing", ((), {}), ((), {"p": 1, "value": "random"}), ((), {"p": 1, "value": (1, 2, 3)})),
        ("ElasticTransform", ((), {"sigma": 2.0}),),
        ("FiveCrop", ((12,), {})),
        ("TenCrop", (((10, 12),), {"vertical_flip": True})),
        ("Normalize", (([0.5, 0.4, 0.3], [0.2, 0.3, 0.4]), {})),
    )
    for arguments, options in calls
]  # fmt: skip


def made(name, arguments, options):
    options = dict(options)
    if "interpolation" in options:
        options["interpolation"] = T.InterpolationMode[options["interpolation"]]
    if "policy" in options:
        options["policy"] = T.AutoAugmentPolicy[options["policy"]]
    return getattr(T, name)(*arguments, **options)
