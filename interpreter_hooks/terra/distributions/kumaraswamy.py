import math

import _terra_C as C

from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .uniform import Uniform
from .utils import broadcast_all, euler_constant

__all__ = ["Kumaraswamy"]


def moment(a, b, n):
    """The mean of x ** n: b B(1 + n / a, b)."""
    return C.exp(C.log(b) + C.lgamma(1 + n / a) + C.lgamma(b) - C.lgamma(1 + n / a + b))


class Kumaraswamy(TransformedDistribution):
    """Of distribution function 1 - (1 - x ** a) ** b on the unit interval."""

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1, concentration0, validate_args=None):
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(C.full_like(self.concentration0, 0), C.full_like(self.concentration0, 1), validate_args=validate_args)
        transforms = [
            PowerTransform(exponent=self.concentration0.reciprocal()), AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]  # fmt: skip
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Kumaraswamy, _instance)
        new.concentration1 = self.concentration1.expand(batch_shape)
        new.concentration0 = self.concentration0.expand(batch_shape)
        return super().expand(batch_shape, _instance=new)

    @property
    def mean(self):
        return moment(self.concentration1, self.concentration0, 1)

    @property
    def mode(self):
        a, b = self.concentration1, self.concentration0
        log_mode = a.reciprocal() * C.log((a - 1) / (a * b - 1))
        return C.where((a < 1) | (b < 1), math.nan, log_mode.exp())

    @property
    def variance(self):
        return moment(self.concentration1, self.concentration0, 2) - C.pow(self.mean, 2)

    def entropy(self):
        t1, t0 = 1 - self.concentration1.reciprocal(), 1 - self.concentration0.reciprocal()
        harmonic = C.digamma(self.concentration0 + 1) + euler_constant
        return t0 + t1 * harmonic - C.log(self.concentration1) - C.log(self.concentration0)
