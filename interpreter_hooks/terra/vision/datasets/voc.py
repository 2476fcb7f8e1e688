"""Pascal VOC: images with masks or boxes."""

import os
from xml.etree import ElementTree

from .._pil import pil
from .utils import download_and_extract_archive, verify_str_arg
from .vision_dataset import VisionDataset

__all__ = ["VOCDetection", "VOCSegmentation"]

# year -> archive, md5, folder in it
ARCHIVES = {
    "2012": ("voc2012/VOCtrainval_11-May-2012.tar", "6cd6e144f989b92b3379bac3b3de84fd", "VOCdevkit/VOC2012"),
    "2011": ("voc2011/VOCtrainval_25-May-2011.tar", "6c3384ef61512963050cb5d687e5bf1e", "TrainVal/VOCdevkit/VOC2011"),
    "2010": ("voc2010/VOCtrainval_03-May-2010.tar", "da459979d0c395079b5c75ee67908abb", "VOCdevkit/VOC2010"),
    "2009": ("voc2009/VOCtrainval_11-May-2009.tar", "a3e00b113cfcfebf17e343f59da3caa1", "VOCdevkit/VOC2009"),
    "2008": ("voc2008/VOCtrainval_14-Jul-2008.tar", "2629fa636546599198acfcfbfcf1904a", "VOCdevkit/VOC2008"),
    "2007": ("voc2007/VOCtrainval_06-Nov-2007.tar", "c52e279531787c972589f7e41ab4ae64", "VOCdevkit/VOC2007"),
    "2007-test": ("voc2007/VOCtest_06-Nov-2007.tar", "b6e924de25625d8de591ea690078ad9f", "VOCdevkit/VOC2007"),
}
ADDRESS = "https://thor.robots.ox.ac.uk/pascal/VOC/"


class _VOCBase(VisionDataset):
    def __init__(
        self,
        root,
        year="2012",
        image_set="train",
        download=False,
        transform=None,
        target_transform=None,
        transforms=None,
    ):
        super().__init__(os.fspath(root), transforms, transform, target_transform)
        self.year = verify_str_arg(year, "year", [str(y) for y in range(2007, 2013)])
        sets = ["train", "trainval", "val"] + (["test"] if year == "2007" else [])
        self.image_set = verify_str_arg(image_set, "image_set", sets)
        key = "2007-test" if year == "2007" and image_set == "test" else year
        file, md5, folder = ARCHIVES[key]
        self.url, self.filename, self.md5 = ADDRESS + file, os.path.basename(file), md5
        home = os.path.join(self.root, folder)
        if download and not os.path.isdir(home):
            download_and_extract_archive(self.url, self.root, filename=self.filename, md5=self.md5)
        if not os.path.isdir(home):
            raise RuntimeError(
                f"Dataset not found or corrupted: {folder} in {self.root}. Terra downloads no data: put "
                f"{self.filename} "
                f"(from {self.url}) there and use download=True, which unpacks it."
            )
        with open(os.path.join(home, "ImageSets", self._SPLITS_DIR, image_set + ".txt")) as file:
            names = [line.strip() for line in file]
        self.images = [os.path.join(home, "JPEGImages", name + ".jpg") for name in names]
        self.targets = [os.path.join(home, self._TARGET_DIR, name + self._TARGET_FILE_EXT) for name in names]

    def __len__(self):
        return len(self.images)

    def _target(self, path):
        raise NotImplementedError

    def __getitem__(self, index):
        image, target = pil().open(self.images[index]).convert("RGB"), self._target(self.targets[index])
        return (image, target) if self.transforms is None else self.transforms(image, target)


class VOCSegmentation(_VOCBase):
    """The target is a mask, an image of class numbers."""

    _SPLITS_DIR, _TARGET_DIR, _TARGET_FILE_EXT = "Segmentation", "SegmentationClass", ".png"

    @property
    def masks(self):
        return self.targets

    def _target(self, path):
        return pil().open(path)


class VOCDetection(_VOCBase):
    """The target is the annotation: its XML as dicts."""

    _SPLITS_DIR, _TARGET_DIR, _TARGET_FILE_EXT = "Main", "Annotations", ".xml"

    @property
    def annotations(self):
        return self.targets

    def _target(self, path):
        return self.parse_voc_xml(ElementTree.parse(path).getroot())

    @staticmethod
    def parse_voc_xml(node):
        """{tag: text or {...}}; tags that repeat are lists, and an annotation's objects always are one."""
        children = list(node)
        if not children:
            return {node.tag: node.text.strip()} if node.text else {}
        found = {}
        for child in children:
            for tag, value in VOCDetection.parse_voc_xml(child).items():
                found.setdefault(tag, []).append(value)
        objects = found.get("object") if node.tag == "annotation" else None
        values = {tag: many[0] if len(many) == 1 else many for tag, many in found.items()}
        if objects is not None:
            values["object"] = objects
        return {node.tag: values}
