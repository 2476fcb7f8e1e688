"""What the training programs share."""

import random


def in_turn(train_step, batches):
    """step(): one training step on the next batch; the loss as a float."""
    turn = [0]

    def step():
        turn[0] += 1
        return train_step(*batches[turn[0] % len(batches)]).item()

    return step


def shuffled(batches):
    """next_batch(): in a new order for each epoch."""
    order = []

    def next_batch():
        if not order:
            order.extend(random.sample(range(len(batches)), len(batches)))
        return batches[order.pop()]

    return next_batch
