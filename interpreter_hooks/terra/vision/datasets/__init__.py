"""Data sets read from files that are there already: nothing is downloaded; download=True unpacks archives.

Images are Pillow's where Pillow is installed, else tensors of bytes with their channels first."""

from ..._missing_parts import sentences
from .cifar import CIFAR10, CIFAR100
from .coco import CocoCaptions, CocoDetection
from .fakedata import FakeData
from .folder import DatasetFolder, ImageFolder
from .food101 import Food101
from .imagenet import ImageNet
from .mnist import EMNIST, KMNIST, MNIST, FashionMNIST
from .oxford_iiit_pet import OxfordIIITPet
from .stl10 import STL10
from .svhn import SVHN
from .usps import USPS
from .vision_dataset import VisionDataset
from .voc import VOCDetection, VOCSegmentation

_MISSING = (
    "CLEVRClassification", "Caltech101", "Caltech256", "CelebA", "Cityscapes", "Country211", "DTD", "EuroSAT",
    "FER2013", "FGVCAircraft", "Flickr30k", "Flickr8k", "Flowers102", "FlyingChairs", "GTSRB", "HMDB51", "INaturalist",
    "Imagenette", "Kinetics", "Kitti", "LFWPairs", "LFWPeople", "LSUN", "LSUNClass", "MovingMNIST", "Omniglot", "PCAM",
    "PhotoTour", "Places365", "QMNIST", "RenderedSST2", "SBDataset", "SBU", "SEMEION", "SUN397", "Sintel",
    "StanfordCars", "UCF101", "WIDERFace",
)  # fmt: skip
globals().update(
    sentences(
        "torchvision.datasets", _MISSING, "Terra does not read this data set; ImageFolder reads images in folders"
    )
)

__all__ = [
    "CIFAR10", "CIFAR100", "CocoCaptions", "CocoDetection", "DatasetFolder", "EMNIST", "FakeData", "FashionMNIST",
    "Food101", "ImageFolder", "ImageNet", "KMNIST", "MNIST", "OxfordIIITPet", "STL10", "SVHN", "USPS", "VOCDetection",
    "VOCSegmentation", "VisionDataset", *_MISSING,
]  # fmt: skip
