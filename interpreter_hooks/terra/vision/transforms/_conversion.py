"""Transforms between kinds of images, and of tensors as numbers."""

import _terra_C as C

from ... import nn
from . import functional as F
from ._random import Probable, integer, uniform

__all__ = [
    "ConvertImageDtype", "LinearTransformation", "Normalize", "PILToTensor", "RandomErasing", "ToPILImage", "ToTensor",
]  # fmt: skip


class ToTensor:
    """Pillow's image or an array [height, width, channels] as a tensor [channels, height, width]; bytes become 0..1."""

    def __call__(self, pic):
        return F.to_tensor(pic)

    def __repr__(self):
        return f"{type(self).__name__}()"


class PILToTensor:
    """Pillow's image as a tensor [channels, height, width] of the same numbers."""

    def __call__(self, pic):
        return F.pil_to_tensor(pic)

    def __repr__(self):
        return f"{type(self).__name__}()"


class ToPILImage:
    """A tensor [channels, height, width] or an array [height, width, channels] as Pillow's image."""

    def __init__(self, mode=None):
        self.mode = mode

    def __call__(self, pic):
        return F.to_pil_image(pic, self.mode)

    def __repr__(self):
        return f"{type(self).__name__}({'' if self.mode is None else f'mode={self.mode}'})"


class ConvertImageDtype(nn.Module):
    """Between integers up to their largest and floats up to 1."""

    def __init__(self, dtype):
        super().__init__()
        self.dtype = dtype

    def forward(self, image):
        return F.convert_image_dtype(image, self.dtype)


class Normalize(nn.Module):
    """(image - mean) / std per channel."""

    def __init__(self, mean, std, inplace=False):
        super().__init__()
        self.mean = mean
        self.std = std
        self.inplace = inplace

    def forward(self, tensor):
        return F.normalize(tensor, self.mean, self.std, self.inplace)

    def __repr__(self):
        return f"{type(self).__name__}(mean={self.mean}, std={self.std})"


class LinearTransformation(nn.Module):
    """The image as one row, minus a mean, times a matrix: whitening."""

    def __init__(self, transformation_matrix, mean_vector):
        super().__init__()
        rows, columns = transformation_matrix.size()
        if rows != columns:
            raise ValueError(f"transformation_matrix should be square. Got {rows} x {columns} rectangular matrix.")
        if mean_vector.size(0) != rows:
            raise ValueError(
                f"mean_vector should have the same length {mean_vector.size(0)} as any one of the dimensions of the "
                f"transformation_matrix [{tuple(transformation_matrix.size())}]"
            )
        if transformation_matrix.dtype != mean_vector.dtype:
            raise ValueError(
                f"Input tensors should have the same dtype. Got {transformation_matrix.dtype} and {mean_vector.dtype}"
            )
        self.transformation_matrix = transformation_matrix
        self.mean_vector = mean_vector

    def forward(self, tensor):
        shape = tensor.shape
        n = shape[-3] * shape[-2] * shape[-1]
        if n != self.transformation_matrix.shape[0]:
            raise ValueError(
                "Input tensor and transformation matrix have incompatible shape."
                f"[{shape[-3]} x {shape[-2]} x {shape[-1]}] != {self.transformation_matrix.shape[0]}"
            )
        return C.mm(tensor.reshape(-1, n) - self.mean_vector, self.transformation_matrix).view(shape)

    def __repr__(self):
        matrix, mean = self.transformation_matrix.tolist(), self.mean_vector.tolist()
        return f"{type(self).__name__}(transformation_matrix={matrix}, mean_vector={mean})"


class RandomErasing(Probable):
    """A rectangle of random size and place overwritten by a value, or by normal noise (value="random")."""

    def __init__(self, p=0.5, scale=(0.02, 0.33), ratio=(0.3, 3.3), value=0, inplace=False):
        super().__init__(p)
        if not isinstance(value, (int, float, str, tuple, list)):
            raise TypeError("Argument value should be either a number or str or a sequence")
        if isinstance(value, str) and value != "random":
            raise ValueError("If value is str, it should be 'random'")
        if not isinstance(scale, (tuple, list)):
            raise TypeError("Scale should be a sequence")
        if not isinstance(ratio, (tuple, list)):
            raise TypeError("Ratio should be a sequence")
        if scale[0] < 0 or scale[1] > 1:
            raise ValueError("Scale should be between 0 and 1")
        if p < 0 or p > 1:
            raise ValueError("Random erasing probability should be between 0 and 1")
        self.scale = scale
        self.ratio = ratio
        self.value = value
        self.inplace = inplace

    @staticmethod
    def get_params(img, scale, ratio, value=None):
        """Place, size and new content of the rectangle; of the whole image where ten draws gave none that fits."""
        channels, height, width = img.shape[-3], img.shape[-2], img.shape[-1]
        low, high = C.log(C.tensor(ratio)).tolist()
        for _ in range(10):
            area = height * width * uniform(scale[0], scale[1])
            aspect = C.exp(C.empty(1).uniform_(low, high)).item()
            h, w = int(round((area * aspect) ** 0.5)), int(round((area / aspect) ** 0.5))
            if not (h < height and w < width):
                continue
            if value is None:
                v = C.empty([channels, h, w], dtype=C.float32).normal_()
            else:
                v = C.tensor(value)[:, None, None]
            i = integer(0, height - h + 1)
            j = integer(0, width - w + 1)
            return i, j, h, w, v
        return 0, 0, height, width, img

    def changed(self, img):
        value = self.value
        if isinstance(value, (int, float)):
            value = [float(value)]
        elif isinstance(value, str):
            value = None
        else:
            value = list(value)
        if value is not None and len(value) not in (1, img.shape[-3]):
            raise ValueError(
                "If value is a sequence, it should have either a single value or "
                f"{img.shape[-3]} (number of input channels)"
            )
        i, j, h, w, v = self.get_params(img, scale=self.scale, ratio=self.ratio, value=value)
        return F.erase(img, i, j, h, w, v, self.inplace)

    def __repr__(self):
        return (
            f"{type(self).__name__}(p={self.p}, scale={self.scale}, ratio={self.ratio}, value={self.value}, "
            f"inplace={self.inplace})"
        )
