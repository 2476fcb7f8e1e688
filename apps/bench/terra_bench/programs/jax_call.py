"""call.py in JAX: a jitted function of eight arrays."""

from .call import REPEATS
from .jax_common import normal


def build(jax):
    add8 = jax.jit(lambda a, b, c, d, e, f, g, h: a + b + c + d + e + f + g + h)
    a, b, c, d, e, f, g, h = (normal(16) for _ in range(8))

    def step():
        for _ in range(REPEATS):
            add8(a, b, c, d, e, f, g, h).block_until_ready()

    return step
