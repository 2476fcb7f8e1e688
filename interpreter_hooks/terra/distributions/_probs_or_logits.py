"""Distributions that take either probabilities or logits: the one given is an attribute, the other is computed once."""

import _terra_C as C

from .utils import lazy_property, logits_to_probs, probs_to_logits


def check_one_of(probs, logits):
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class BinaryParameter:
    """One probability per element."""

    @lazy_property
    def logits(self):
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        return logits_to_probs(self.logits, is_binary=True)

    @property
    def _given(self):
        """The parameter that the instance was made from."""
        return self.__dict__["probs" if self._is_probs else "logits"]


def binary_given(probs, logits, tensor_of):
    """(name, tensor) of the parameter given, through `tensor_of`."""
    check_one_of(probs, logits)
    return ("probs", tensor_of(probs)) if probs is not None else ("logits", tensor_of(logits))


def as_tensor(value):
    return value if isinstance(value, C.Tensor) else C.tensor(value, dtype=C.get_default_dtype())
