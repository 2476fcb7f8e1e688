"""A function that calls itself and goes another way nearly every time is left alone: it is neither recorded again and again
nor looked up in vain at every call."""
import math

import terra
import _terra_C as C

weights = terra.sin(terra.arange(400.0)).reshape(20, 20) * 0.5
prior = terra.cos(terra.arange(80.0)).reshape(20, 4)
value = terra.sin(terra.arange(20.0) * 3)


class State:
    def __init__(self, h):
        self.h, self.children, self.visits, self.total, self.prior = h, None, 0, 0.0, 1.0


def score(parent, child):
    mean = child.total / child.visits if child.visits else 0
    return mean + 1.4 * child.prior * math.sqrt(parent.visits) / (1 + child.visits)


def simulate(state, depth):
    """Monte Carlo tree search: which child is next depends on numbers that change at each visit."""
    state.visits += 1
    if depth == 0 or state.children is None:
        chances = terra.softmax(state.h @ prior, 0).tolist()
        if depth:
            state.children = [State(terra.tanh(state.h @ weights + 0.3 * (k - 1.5))) for k in range(4)]
        for child, chance in zip(state.children or (), chances):
            child.prior = chance
        result = math.tanh(float(state.h @ value))
    else:
        child = max(state.children, key=lambda c: score(state, c))
        result = -simulate(child, depth - 1)
    state.total += result
    return result


for step in range(6):
    root = State(terra.sin(terra.arange(20.0) + step))
    for _ in range(220):
        simulate(root, 8)
stats = terra.capture.stats()
assert stats["recordings"] < 60, stats["recordings"]
assert stats["misses"] < 1000, stats["misses"]
