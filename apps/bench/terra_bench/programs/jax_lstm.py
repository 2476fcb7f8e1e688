"""lstm.py in JAX."""

import optax

from .jax_common import dense, linear, normal, training
from .jax_ptb import cells, unroll
from .lstm import BATCH, HIDDEN, STEPS


def build(jax):
    p = cells() | {"out": dense(HIDDEN, 1)}

    def loss(p, x, y):
        return ((linear(p["out"], unroll(jax, p, x)[-1]) - y) ** 2).mean()

    return training(p, optax.sgd(0.01), loss, [(normal(STEPS, BATCH, HIDDEN), normal(BATCH, 1)) for _ in range(4)])
