"""torch.backends.mkl: Terra computes with OpenBLAS instead."""


def is_available():
    return False
