"""Distributions that take either probabilities or logits: the one given is an attribute, the other is computed once."""

import _terra_C as C

from .utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits


def check_one_of(probs, logits):
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


def as_tensor(value):
    return value if isinstance(value, C.Tensor) else C.tensor(value, dtype=C.get_default_dtype())


class ProbsOrLogits:
    """What was made from one of the two."""

    @property
    def _param(self):
        """The parameter that the instance was made from."""
        return self.__dict__["probs" if self._is_probs else "logits"]

    @property
    def param_shape(self):
        return self._param.size()


class BinaryParameter(ProbsOrLogits):
    """One probability per element."""

    def _take(self, probs, logits, tensor_of=as_tensor):
        """Keeps the one that is given, through `tensor_of`."""
        check_one_of(probs, logits)
        self._is_probs = probs is not None
        if self._is_probs:
            self.probs = tensor_of(probs)
        else:
            self.logits = tensor_of(logits)

    def _take_counted(self, total_count, probs, logits):
        """The same beside a number of trials for each element, in its dtype."""
        check_one_of(probs, logits)
        total_count, given = broadcast_all(total_count, logits if probs is None else probs)
        self.total_count = total_count.type_as(given)
        self._take(*((None, given) if probs is None else (given, None)))

    def _expanded(self, cls, batch_shape, names, _instance=None, event_dims=()):
        new = super()._expanded(cls, batch_shape, (*names, "probs", "logits"), _instance, event_dims)
        new._is_probs = self._is_probs
        return new

    @lazy_property
    def logits(self):
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        return logits_to_probs(self.logits, is_binary=True)


class OfCategories:
    """What the distributions that hold a Categorical show of it."""

    @property
    def _param(self):
        return self._categorical._param

    @property
    def logits(self):
        return self._categorical.logits

    @property
    def probs(self):
        return self._categorical.probs

    @property
    def param_shape(self):
        return self._categorical.param_shape
