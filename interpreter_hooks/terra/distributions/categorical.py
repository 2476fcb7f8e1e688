import _terra_C as C

from . import constraints
from ._probs_or_logits import ProbsOrLogits, check_one_of
from .distribution import Distribution
from .utils import lazy_property, logits_to_probs, probs_to_logits

__all__ = ["Categorical"]


class Categorical(ProbsOrLogits, Distribution):
    """Index i with probability probs[..., i]."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None):
        check_one_of(probs, logits)
        self._is_probs = probs is not None
        if self._is_probs:
            if probs.dim() < 1:
                raise ValueError("`probs` parameter must be at least one-dimensional.")
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            if logits.dim() < 1:
                raise ValueError("`logits` parameter must be at least one-dimensional.")
            self.logits = logits - logits.logsumexp(-1, keepdim=True)
        given = self._param
        self._num_events = given.size(-1)
        super().__init__(given.size()[:-1], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(Categorical, batch_shape, ("probs", "logits"), _instance, {"probs": 1, "logits": 1})
        new._is_probs = self._is_probs
        new._num_events = self._num_events
        return new

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self._num_events - 1)

    @lazy_property
    def logits(self):
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self):
        return logits_to_probs(self.logits)

    @property
    def mean(self):
        return C.full(self._extended_shape(), float("nan"), dtype=self.probs.dtype)

    @property
    def mode(self):
        return self.probs.argmax(-1)

    @property
    def variance(self):
        return C.full(self._extended_shape(), float("nan"), dtype=self.probs.dtype)

    def sample(self, sample_shape=()):
        rows = self.probs.reshape(-1, self._num_events)
        count = C.Size(sample_shape).numel()
        with C.no_grad():
            return C.multinomial(rows, count, True).T.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        value = value.long().unsqueeze(-1)
        value, logits = C.broadcast_tensors([value, self.logits])
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self):
        logits = C.clamp(self.logits, min=C.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand=True):
        return self._along_front(C.arange(self._num_events, dtype=C.long), expand)
