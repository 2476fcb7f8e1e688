"""COCO, by the annotations that pycocotools reads."""

import os

from .._pil import pil
from .vision_dataset import VisionDataset

__all__ = ["CocoCaptions", "CocoDetection"]


class CocoDetection(VisionDataset):
    """The target is the list of an image's annotations."""

    def __init__(self, root, annFile, transform=None, target_transform=None, transforms=None):
        super().__init__(root, transforms, transform, target_transform)
        try:
            from pycocotools.coco import COCO
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                "COCO: pycocotools reads the annotations and is not installed: pip install pycocotools.",
                name="pycocotools",
            ) from None
        self.coco = COCO(annFile)
        self.ids = sorted(self.coco.imgs.keys())

    def _load_image(self, id):
        return pil().open(os.path.join(self.root, self.coco.loadImgs(id)[0]["file_name"])).convert("RGB")

    def _load_target(self, id):
        return self.coco.loadAnns(self.coco.getAnnIds(id))

    def __getitem__(self, index):
        if not isinstance(index, int):
            raise ValueError(f"Index must be of type integer, got {type(index)} instead.")
        image, target = self._load_image(self.ids[index]), self._load_target(self.ids[index])
        return (image, target) if self.transforms is None else self.transforms(image, target)

    def __len__(self):
        return len(self.ids)


class CocoCaptions(CocoDetection):
    """The target is the list of an image's captions."""

    def _load_target(self, id):
        return [annotation["caption"] for annotation in super()._load_target(id)]
