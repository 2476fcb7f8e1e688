"""torch.quasirandom: sequences that fill a cube evenly."""

import functools

import _terra_C as C

from ._names import lazily
from ._sobol_numbers import LARGEST, polynomials_and_numbers

__all__ = ["SobolEngine"]


@functools.lru_cache(maxsize=8)
def _directions(dimension, bits):
    """For each dimension the numbers that the points are made of, the first one half of the cube's side."""
    rows = [[1] * bits]
    for degree, coefficients, numbers in polynomials_and_numbers(dimension):
        row = list(numbers)
        for i in range(degree, bits):
            number = row[i - degree] ^ row[i - degree] << degree
            for k in range(1, degree):
                if coefficients >> (degree - 1 - k) & 1:
                    number ^= row[i - k] << k
            row.append(number)
        rows.append(row[:bits])
    return [[number << (bits - 1 - i) for i, number in enumerate(row)] for row in rows]


class SobolEngine:
    """Draws the points of Sobol's sequence in the unit cube, one after the other; with scramble=True of one that is
    scrambled at random, by `seed` if it is given."""

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension, scramble=False, seed=None):
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        if dimension > LARGEST:
            raise NotImplementedError(
                f"SobolEngine has direction numbers for up to {LARGEST} dimensions in Terra, and {dimension} were asked for. "
                "torch.rand draws points that are independent of each other."
            )
        self.seed = seed
        self.scramble = scramble
        self.dimension = dimension
        self.sobolstate = C.tensor(_directions(dimension, self.MAXBIT), dtype=C.int64)
        self.shift = C.zeros(dimension, dtype=C.int64)
        if scramble:
            self._scramble()
        self.quasi = self.shift.clone()
        self._first_point = (self.quasi / 2**self.MAXBIT).reshape(1, -1)
        self.num_generated = 0

    def _scramble(self):
        """Digits of the numbers are mixed by random triangular matrices, and those of the points shifted."""
        bits = self.MAXBIT
        generator = None
        if self.seed is not None:
            generator = C.Generator()
            generator.manual_seed(self.seed)
        digits = C.randint(2, (self.dimension, bits), generator=generator)
        self.shift = (digits << C.arange(bits)).sum(-1)
        matrices = C.randint(2, (self.dimension, bits, bits), generator=generator).tril()
        matrices.diagonal(dim1=-2, dim2=-1).fill_(1)
        places = C.arange(bits - 1, -1, -1)  # the first digit is the highest
        digits = self.sobolstate.unsqueeze(-1) >> places & 1
        mixed = C.matmul(digits, matrices.transpose(1, 2)) % 2
        self.sobolstate = (mixed << places).sum(-1)

    def _points(self, first, count):
        """Points first + 1 to first + count, as integers: each is the one before, changed in one direction."""
        numbers = C.arange(first + 1, first + count + 1)
        gray = numbers ^ numbers >> 1
        points = self.shift.repeat(count, 1)
        for place in range((first + count).bit_length()):
            points = points ^ (gray >> place & 1).unsqueeze(1) * self.sobolstate[:, place]
        return points

    def draw(self, n=1, out=None, dtype=None):
        """The next n points as the rows of a matrix, of the default dtype if none is given."""
        dtype = C.get_default_dtype() if dtype is None else dtype
        before = self.num_generated
        result = self._points(max(before - 1, 0), n - (before == 0))
        if result.size(0):
            self.quasi = result[-1].clone()
        result = result.to(dtype) * 2.0**-self.MAXBIT
        if before == 0:
            result = C.cat([self._first_point.to(dtype), result])
        self.num_generated += n
        if out is not None:
            out.resize_as_(result).copy_(result)
            return out
        return result

    def draw_base2(self, m, out=None, dtype=None):
        """The next 2 ** m points, where the number of points drawn then is a power of two."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1) != 0:
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: "
                f"n={self.num_generated}+2**{m}={total}. If you still want to do this, please use 'SobolEngine.draw()' "
                "instead."
            )
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self):
        """Back to the first point."""
        self.quasi = self.shift.clone()
        self.num_generated = 0
        return self

    def fast_forward(self, n):
        """Leaves n points out."""
        last = self.num_generated + n - 1
        if last > 0:
            self.quasi = self._points(last - 1, 1)[0].clone()
        self.num_generated += n
        return self

    def __repr__(self):
        parts = [f"dimension={self.dimension}"]
        if self.scramble:
            parts.append("scramble=True")
        if self.seed is not None:
            parts.append(f"seed={self.seed}")
        return f"{self.__class__.__name__}({', '.join(parts)})"


__getattr__ = lazily(__name__)
