"""Random images, for programs that want none in particular."""

import _terra_C as C

from .vision_dataset import VisionDataset, image_of

__all__ = ["FakeData"]


class FakeData(VisionDataset):
    """Image i is normal noise of the seed random_offset + i."""

    def __init__(
        self,
        size=1000,
        image_size=(3, 224, 224),
        num_classes=10,
        transform=None,
        target_transform=None,
        random_offset=0,
    ):
        super().__init__(None, transform=transform, target_transform=target_transform)
        self.size = size
        self.num_classes = num_classes
        self.image_size = image_size
        self.random_offset = random_offset

    def __getitem__(self, index):
        if index >= len(self):
            raise IndexError(f"{type(self).__name__} index out of range")
        state = C.get_rng_state()
        C.manual_seed(index + self.random_offset)
        image = C.randn(*self.image_size)
        target = C.randint(0, self.num_classes, size=(1,), dtype=C.long)[0]
        C.set_rng_state(state)
        elements = image.mul(255).to(C.uint8).permute(1, 2, 0)
        image, target = self._transformed(image_of(elements, {1: "L", 3: "RGB", 4: "RGBA"}[image.shape[0]]), target)
        return image, int(target) if isinstance(target, C.Tensor) else target

    def __len__(self):
        return self.size
