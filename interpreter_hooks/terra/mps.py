"""Answers for programs that ask about Apple's GPUs: there is none."""


def is_available():
    return False


def manual_seed(seed):
    """Nothing to seed."""
