import _terra_C as C

from . import constraints
from ._probs_or_logits import OfCategories
from .binomial import Binomial
from .categorical import Categorical
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["Multinomial"]


class Multinomial(OfCategories, Distribution):
    """How often each category comes in total_count draws."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(Multinomial, batch_shape, (), _instance)
        new.total_count = self.total_count
        new._categorical = self._categorical.expand(batch_shape)
        new._binomial = self._binomial
        return new

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self):
        return constraints.multinomial(self.total_count)

    @property
    def mean(self):
        return self.probs * self.total_count

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        drawn = self._categorical.sample((self.total_count,) + tuple(sample_shape))
        drawn = drawn.movedim(0, -1)
        counts = C.zeros(self._extended_shape(sample_shape), dtype=C.int64)
        counts = counts.scatter_add(-1, drawn, C.ones_like(drawn))
        return counts.type_as(self.probs)

    def entropy(self):
        n = C.tensor(self.total_count)
        # The marginal counts, but for 0, add the means of the logarithms of their factorials.
        weights = C.exp(self._binomial.log_prob(self._binomial.enumerate_support(expand=False)[1:]))
        values = self._binomial.enumerate_support(expand=False)[1:]
        return self.total_count * self._categorical.entropy() - C.lgamma(n + 1) + (weights * C.lgamma(values + 1)).sum((0, -1))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        powers = C.where((value == 0) & (logits == -float("inf")), 0.0, logits * value)
        return C.lgamma(value.sum(-1) + 1) - C.lgamma(value + 1).sum(-1) + powers.sum(-1)
