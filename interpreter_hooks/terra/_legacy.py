"""FloatTensor and its kin: the constructors from before torch.tensor."""

import _terra_C as C

_DTYPES = {
    "FloatTensor": C.float32, "DoubleTensor": C.float64, "HalfTensor": C.float16, "BFloat16Tensor": C.bfloat16,
    "LongTensor": C.int64, "IntTensor": C.int32, "ShortTensor": C.int16, "CharTensor": C.int8, "ByteTensor": C.uint8,
    "BoolTensor": C.bool,
}  # fmt: skip


class _LegacyType(type):
    """FloatTensor(2, 3) has that size and any values; FloatTensor([1, 2]) those values. isinstance asks for the dtype."""

    def __call__(cls, *args):
        if not args:
            return C.empty(0, dtype=cls.dtype, device="cpu")
        if len(args) == 1 and isinstance(args[0], C.Size):
            return C.empty(args[0], dtype=cls.dtype, device="cpu")
        if len(args) == 1 and not isinstance(args[0], int):
            given = args[0]
            return given.to(cls.dtype) if isinstance(given, C.Tensor) else C.tensor(given, dtype=cls.dtype, device="cpu")
        return C.empty(args, dtype=cls.dtype, device="cpu")

    def __instancecheck__(cls, instance):
        return isinstance(instance, C.Tensor) and instance.dtype == cls.dtype


TYPES = {name: _LegacyType(name, (), {"dtype": dtype, "__module__": "torch"}) for name, dtype in _DTYPES.items()}
