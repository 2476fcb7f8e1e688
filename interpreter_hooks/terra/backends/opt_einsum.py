"""torch.backends.opt_einsum: einsum contracts from the left; the switches are kept."""

enabled = False
strategy = None


def is_available():
    return False
