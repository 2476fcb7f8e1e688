"""What the training programs share."""


def in_turn(train_step, batches):
    """step(): one training step on the next batch; the loss as a float."""
    turn = [0]

    def step():
        turn[0] += 1
        return train_step(*batches[turn[0] % len(batches)]).item()

    return step
