"""lenet.py in JAX, images as NHWC."""

import jax.numpy as jnp
import optax

from .jax_common import cross_entropy, dense, integers, linear, normal, training, uniform


def build(jax):
    lax = jax.lax
    p = {
        "c1": uniform(0.2, 5, 5, 1, 32), "b1": jnp.zeros(32), "c2": uniform(0.035, 5, 5, 32, 64), "b2": jnp.zeros(64),
        "f1": dense(3136, 512), "f2": dense(512, 10),
    }  # fmt: skip

    def conv(x, w):
        return lax.conv_general_dilated(x, w, (1, 1), [(2, 2)] * 2, dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def pool(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def loss(p, x, y):
        x = pool(jax.nn.relu(conv(x, p["c1"]) + p["b1"]))
        x = pool(jax.nn.relu(conv(x, p["c2"]) + p["b2"]))
        return cross_entropy(linear(p["f2"], jax.nn.relu(linear(p["f1"], x.reshape(x.shape[0], -1)))), y)

    batches = [(normal(64, 28, 28, 1), integers(10, 64)) for _ in range(4)]
    return training(p, optax.sgd(0.01, 0.9), loss, batches)
