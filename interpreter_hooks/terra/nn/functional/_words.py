"""What messages call things."""


def scalar_type(tensor):
    """The dtype as PyTorch's messages say it: Float, Long, ..."""
    return tensor.type().split(".")[-1].removesuffix("Tensor")


_C_TYPES = {
    "Byte": "unsigned char", "Char": "signed char", "Short": "short", "Int": "int", "Long": "long int", "Half": "c10::Half",
    "BFloat16": "c10::BFloat16", "ComplexHalf": "c10::complex<c10::Half>", "ComplexFloat": "c10::complex<float>",
    "ComplexDouble": "c10::complex<double>",
}  # fmt: skip


def c_type(tensor):
    """The dtype as PyTorch's messages say it in C++'s words: float, long int, ..."""
    name = scalar_type(tensor)
    return _C_TYPES.get(name, name.lower())
