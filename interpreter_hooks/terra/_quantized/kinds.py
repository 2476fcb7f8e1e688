"""What quantized elements are: the dtypes of PyTorch's quantized tensors, and how scales belong to their elements."""

import _terra_C as C


class qscheme:  # noqa: N801
    """How scales and zero points belong to elements."""

    __module__ = "torch"

    def __init__(self, name, per_channel=False, symmetric=False):
        self._name, self.per_channel, self.symmetric = name, per_channel, symmetric

    def __repr__(self):
        return f"torch.{self._name}"

    def __reduce__(self):
        return _kind, (self._name,)


def _kind(name):
    return globals()[name]


STORAGE = {C.quint8: C.uint8, C.qint8: C.int8, C.qint32: C.int32}  # {dtype: that of its integers}
OF_STORAGE = {storage: dtype for dtype, storage in STORAGE.items()}


def limits(dtype):
    """(least integer, greatest integer) of a quantized dtype, or of one of integers."""
    found = C.iinfo(STORAGE.get(dtype, dtype))
    return found.min, found.max


per_tensor_affine, per_tensor_symmetric = qscheme("per_tensor_affine"), qscheme("per_tensor_symmetric", symmetric=True)
per_channel_affine = qscheme("per_channel_affine", per_channel=True)
per_channel_symmetric = qscheme("per_channel_symmetric", per_channel=True, symmetric=True)
per_channel_affine_float_qparams = qscheme("per_channel_affine_float_qparams", per_channel=True)
