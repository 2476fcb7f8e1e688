"""ptb.py in JAX."""

import jax.numpy as jnp
import optax

from .jax_common import cross_entropy, dense, integers, linear, normal, training, uniform
from .lstm import BATCH, HIDDEN, LAYERS, STEPS
from .ptb import WORDS


def unroll(jax, p, sequence):
    h, c, outputs = [jnp.zeros((BATCH, HIDDEN))] * LAYERS, [jnp.zeros((BATCH, HIDDEN))] * LAYERS, []
    for t in range(STEPS):
        inputs = sequence[t]
        for layer in range(LAYERS):
            gates = jnp.concatenate([inputs, h[layer]], 1) @ p["w"][layer] + p["b"][layer]
            i, f, u, o = jnp.split(gates, 4, 1)
            c[layer] = jax.nn.sigmoid(f) * c[layer] + jax.nn.sigmoid(i) * jnp.tanh(u)
            h[layer] = inputs = jax.nn.sigmoid(o) * jnp.tanh(c[layer])
        outputs.append(inputs)
    return outputs


def cells():
    return {
        "w": [uniform(0.1, 2 * HIDDEN, 4 * HIDDEN) for _ in range(LAYERS)],
        "b": [jnp.zeros(4 * HIDDEN) for _ in range(LAYERS)],
    }


def build(jax):
    p = cells() | {"words": normal(WORDS, HIDDEN), "out": dense(HIDDEN, WORDS)}

    def loss(p, x, y):
        outputs = unroll(jax, p, p["words"][x])
        return cross_entropy(linear(p["out"], jnp.concatenate(outputs)), y.reshape(-1))

    batches = [(integers(WORDS, STEPS, BATCH), integers(WORDS, STEPS, BATCH)) for _ in range(4)]
    return training(p, optax.chain(optax.clip_by_global_norm(5.0), optax.sgd(1.0)), loss, batches)
