import math

import _terra_C as C

from . import constraints
from .beta import Beta
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Cholesky factors of correlation matrices whose density is the determinant to the power concentration - 1.

    Drawn row by row, as layers of an onion (Lewandowski, Kurowicka, Joe 2009): a direction on the sphere and, by a Beta
    variable, how much of the row's unit length lies below the diagonal."""

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim, concentration=1.0, validate_args=None):
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        below = C.cat([C.zeros(1), C.arange(dim - 1)]).to(self.concentration.dtype)  # variables below those of a row
        marginal = self.concentration + 0.5 * (dim - 2)
        self._beta = Beta(below + 0.5, marginal.unsqueeze(-1) - 0.5 * below)
        super().__init__(self.concentration.size(), (dim, dim), validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(LKJCholesky, _instance)
        batch_shape = C.Size(batch_shape)
        new.dim = self.dim
        new.concentration = self.concentration.expand(batch_shape)
        new._beta = self._beta.expand(tuple(batch_shape) + (self.dim,))
        Distribution.__init__(new, batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def sample(self, sample_shape=()):
        with C.no_grad():
            length = self._beta.sample(sample_shape).unsqueeze(-1)
            shape, dtype = self._extended_shape(sample_shape), self.concentration.dtype
            direction = C.randn(shape, dtype=dtype).tril(-1)
            direction = direction / direction.norm(dim=-1, keepdim=True)
            direction[..., 0, :] = 0.0
            below = length.sqrt() * direction
            on_diagonal = (1 - (below**2).sum(-1)).clamp(min=C.finfo(dtype).tiny).sqrt()
            return below + C.diag_embed(on_diagonal)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        rows = C.arange(2, self.dim + 1)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - rows
        count = self.dim - 1
        alpha = self.concentration + 0.5 * count
        volume = 0.5 * count * math.log(math.pi) + C.mvlgamma(alpha - 0.5, count) - C.lgamma(alpha) * count
        return (order * diagonal.log()).sum(-1) - volume
