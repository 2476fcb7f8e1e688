"""What the JAX forms of the programs share: layers as dicts of arrays, and a jitted training step."""

import jax
import jax.numpy as jnp
import numpy as np
import optax

RANDOM = np.random.RandomState(0)


def normal(*sizes):
    return jnp.asarray(RANDOM.randn(*sizes), jnp.float32)


def uniform(bound, *sizes):
    return jnp.asarray(RANDOM.uniform(-bound, bound, sizes), jnp.float32)


def integers(high, *sizes):
    return jnp.asarray(RANDOM.randint(0, high, sizes), jnp.int32)


def dense(inputs, outputs):
    return {"w": uniform(inputs**-0.5, inputs, outputs), "b": uniform(inputs**-0.5, outputs)}


def linear(layer, x):
    return x @ layer["w"] + layer["b"]


def cross_entropy(logits, y):
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


def training(parameters, optimizer, loss_of, batches):
    """step(): one update on the next batch; the loss as a float."""

    def train(parameters, state, *batch):
        loss, gradients = jax.value_and_grad(loss_of)(parameters, *batch)
        updates, state = optimizer.update(gradients, state, parameters)
        return optax.apply_updates(parameters, updates), state, loss

    jitted = jax.jit(train, donate_argnums=(0, 1))
    now = [parameters, optimizer.init(parameters)]
    turn = [0]

    def step():
        turn[0] += 1
        *now[:], loss = jitted(*now, *batches[turn[0] % len(batches)])
        return float(loss)

    return step
