import _terra_C as C

from ..nn import functional as F
from . import constraints
from ._probs_or_logits import BinaryParameter
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["Geometric"]


class Geometric(BinaryParameter, Distribution):
    """Failures before the first success."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._take(probs, logits, lambda given: broadcast_all(given)[0])
        super().__init__(self._param.size(), validate_args=validate_args)
        if self._validate_args and self._is_probs:
            value = self.probs
            valid = value > 0
            if not valid.all():
                raise ValueError(
                    f"Expected parameter probs ({type(value).__name__} of shape {tuple(value.shape)}) "
                    f"of distribution {self!r} to be positive but found invalid values:\n{value[~valid]}"
                )

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Geometric, batch_shape, (), _instance)

    @property
    def mean(self):
        return 1.0 / self.probs - 1.0

    @property
    def mode(self):
        return C.zeros_like(self.probs)

    @property
    def variance(self):
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape=()):
        with C.no_grad():
            drawn = C.empty(self._extended_shape(sample_shape), dtype=self.probs.dtype).uniform_(C.finfo(self.probs.dtype).tiny, 1)
            return (drawn.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        certain = (probs == 1) & (value == 0)
        return value * (-C.where(certain, 0.0, probs)).log1p() + self.probs.log()

    def entropy(self):
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs
