import math

import _terra_C as C

from . import constraints
from .distribution import Distribution
from .utils import broadcast_all, lazy_property

__all__ = ["VonMises"]


class VonMises(Distribution):
    """Angles around loc."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(self, loc, concentration, validate_args=None):
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(VonMises, batch_shape, ("loc", "concentration"), _instance)

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @lazy_property
    def variance(self):
        return 1 - C.special_i1e(self.concentration) / C.special_i0e(self.concentration)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        k = self.concentration
        return k * (C.cos(value - self.loc) - 1) - math.log(2 * math.pi) - C.log(C.special_i0e(k))

    @lazy_property
    def _proposal_r(self):
        """The wrapped Cauchy envelope of Best and Fisher (1979), in double."""
        k = self.concentration.double()
        tau = 1 + (1 + 4 * k**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * k)
        exact = (1 + rho**2) / (2 * rho)
        return C.where(k < 1e-5, 1 / k + k, exact)

    def sample(self, sample_shape=()):
        with C.no_grad():
            shape = self._extended_shape(sample_shape)
            k = self.concentration.double().expand(shape)
            r = self._proposal_r.expand(shape)
            x = C.empty(shape, dtype=C.float64)
            done = C.zeros(shape, dtype=C.bool)
            while not done.all():
                u = C.rand((3,) + tuple(shape), dtype=C.float64)
                u1, u2, u3 = u.unbind()
                z = C.cos(math.pi * u1)
                f = (1 + r * z) / (r + z)
                c = k * (r - f)
                accept = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
                if accept.any():
                    x = C.where(accept, (u3 - 0.5).sign() * f.acos(), x)
                    done = done | accept
            return ((x + math.pi + self.loc.double()) % (2 * math.pi) - math.pi).to(self.loc.dtype)
