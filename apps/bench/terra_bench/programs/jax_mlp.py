"""mlp.py in JAX."""

import jax.numpy as jnp
import optax

from .jax_common import cross_entropy, dense, integers, linear, normal, training


def build(jax):
    layers = [dense(4, 64), dense(64, 64), dense(64, 2)]

    def loss(p, x, y):
        return cross_entropy(linear(p[2], jnp.tanh(linear(p[1], jnp.tanh(linear(p[0], x))))), y)

    return training(layers, optax.adam(1e-3), loss, [(normal(32, 4), integers(2, 32)) for _ in range(8)])
