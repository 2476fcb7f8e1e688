import _terra_C as C

from . import constraints
from .exp_family import ExponentialFamily
from .utils import broadcast_all

__all__ = ["Gamma"]


def _standard_gamma(concentration):
    return C._standard_gamma(concentration)


class Gamma(ExponentialFamily):
    """The gamma distribution of shape `concentration` and the given rate."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration, rate, validate_args=None):
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Gamma, batch_shape, ("concentration", "rate"), _instance)

    @property
    def mean(self):
        return self.concentration / self.rate

    @property
    def mode(self):
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self):
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        value = _standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        value.detach().clamp_(min=C.finfo(value.dtype).tiny)
        return value

    def log_prob(self, value):
        value = value if isinstance(value, C.Tensor) else C.tensor(value, dtype=self.rate.dtype)
        if self._validate_args:
            self._validate_sample(value)
        a, b = self.concentration, self.rate
        return C.xlogy(a, b) + C.xlogy(a - 1, value) - b * value - C.lgamma(a)

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return C.igamma(self.concentration, self.rate * value)

    def entropy(self):
        a = self.concentration
        return a - C.log(self.rate) + C.lgamma(a) + (1.0 - a) * C.digamma(a)

    @property
    def _natural_params(self):
        return (self.concentration - 1, -self.rate)

    def _log_normalizer(self, x, y):
        return C.lgamma(x + 1) + (x + 1) * C.log(-y.reciprocal())
