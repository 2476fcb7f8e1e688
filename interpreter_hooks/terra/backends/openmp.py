"""torch.backends.openmp: Terra has threads of its own, see set_num_threads()."""


def is_available():
    return False
