import math

import _terra_C as C

from . import constraints
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """What exceeds a high threshold `loc`: the exponential distribution where the concentration is 0, heavier tails above
    that, an upper bound below it."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True

    def __init__(self, loc, scale, concentration, validate_args=None):
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(GeneralizedPareto, batch_shape, ("loc", "scale", "concentration"), _instance)

    def _cases(self):
        """(where the concentration is 0, the concentration with 1 there, so that one may divide by it)"""
        exponential = C.isclose(self.concentration, C.zeros_like(self.concentration))
        return exponential, C.where(exponential, C.ones_like(self.concentration), self.concentration)

    def _z(self, x):
        return (x - self.loc) / self.scale

    def rsample(self, sample_shape=()):
        return self.icdf(C.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        exponential, concentration = self._cases()
        power = 1 / concentration + C.ones_like(z)
        tail = C.where(power == 0, power, power * C.log1p(concentration * z))  # nothing of -inf for the uniform one
        return C.where(exponential, -z, -tail) - self.scale.log()

    def log_survival_function(self, value):
        """log(1 - cdf)."""
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        exponential, concentration = self._cases()
        return C.where(exponential, -z, -C.log1p(concentration * z) / concentration)

    def log_cdf(self, value):
        return C.log1p(-C.exp(self.log_survival_function(value)))

    def cdf(self, value):
        return C.exp(self.log_cdf(value))

    def icdf(self, value):
        exponential, concentration = self._cases()
        log_rest = C.log1p(-value)
        power = self.loc + self.scale / concentration * C.expm1(-concentration * log_rest)
        return C.where(exponential, self.loc - self.scale * log_rest, power)

    @property
    def mean(self):
        c = self.concentration
        exists = c < 1
        return C.where(exists, self.loc + self.scale / (1 - C.where(exists, c, 0.5)), math.inf)

    @property
    def variance(self):
        exists = self.concentration < 0.5
        c = C.where(exists, self.concentration, 0.25)
        return C.where(exists, self.scale**2 / ((1 - c) ** 2 * (1 - 2 * c)), math.inf)

    def entropy(self):
        return C.log(self.scale) + self.concentration + 1

    @property
    def mode(self):
        return self.loc

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        end = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, C.where(self.concentration < 0, end, math.inf))
