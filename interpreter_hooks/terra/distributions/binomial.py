import _terra_C as C

from . import constraints
from ._probs_or_logits import BinaryParameter
from .distribution import Distribution

__all__ = ["Binomial"]


class Binomial(BinaryParameter, Distribution):
    """Successes among total_count trials."""

    arg_constraints = {"total_count": constraints.nonnegative_integer, "probs": constraints.unit_interval, "logits": constraints.real}
    has_enumerate_support = True

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        self._take_counted(total_count, probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Binomial, batch_shape, ("total_count",), _instance)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self):
        return self.total_count * self.probs

    @property
    def mode(self):
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        with C.no_grad():
            return C.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        n, logits = self.total_count, self.logits
        # n log(1 + e^logits), written so that no exponential overflows.
        positive = (logits.clamp(min=0) + logits - logits.clamp(max=0)) / 2  # of slope 1/2 at 0
        normalizer = n * positive + n * C.log1p(C.exp(-C.abs(logits))) - C.lgamma(n + 1)
        return value * logits - C.lgamma(value + 1) - C.lgamma(n - value + 1) - normalizer

    def entropy(self):
        total_count = int(self.total_count.max())
        if not self.total_count.min() == total_count:
            raise NotImplementedError("Inhomogeneous total count not supported by `entropy`.")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(C.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand=True):
        total_count = int(self.total_count.max())
        if not self.total_count.min() == total_count:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        return self._along_front(C.arange(1 + total_count, dtype=self._param.dtype), expand)
