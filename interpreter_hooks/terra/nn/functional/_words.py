"""What messages call things."""


def scalar_type(tensor):
    """The dtype as PyTorch's messages say it: Float, Long, ..."""
    return tensor.type().split(".")[-1].removesuffix("Tensor")
