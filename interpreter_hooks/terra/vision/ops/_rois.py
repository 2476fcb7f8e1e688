"""Windows of feature maps, as arguments give them."""

import _terra_C as C


def rows_of(boxes):
    """[n, 5]: the image's number before each box. Boxes come so, or as a list of [m, 4], one per image."""
    if isinstance(boxes, (list, tuple)):
        for b in boxes:
            if b.size(1) != 4:
                raise AssertionError("The shape of the tensor in the boxes list is not correct as List[Tensor[L, 4]]")
        images = [C.full_like(b[:, :1], i) for i, b in enumerate(boxes)]
        return C.cat([C.cat(images, 0), C.cat(list(boxes), 0)], 1)
    if boxes.dim() != 2 or boxes.size(1) != 5:
        raise AssertionError("The boxes tensor shape is not correct as Tensor[K, 5]")
    return boxes


def pair_of(size):
    return (size, size) if isinstance(size, int) else tuple(size)
