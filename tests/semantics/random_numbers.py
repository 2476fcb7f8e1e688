# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
# run: TERRA_EXACT=1 TERRA_SELF_CHECK=all
"""Python's random numbers: drawn once in each call, in order, whoever computes the call."""
import random

import terra
from _harness import main, program


def t(n):
    return terra.arange(4.0) * 0.5 + n


def seeded(f):
    """The generator is the same at the start of each transcript, and what it gives afterwards is part of it."""
    def args(i):
        if i == 0:
            random.seed(7)
        return (t(i),)
    return f, args, None


@program(calls=24, captures=6)
def bits():
    def f(x):
        return x * random.getrandbits(3), random.getrandbits(16)
    return seeded(f)


@program(calls=30, captures=4)
def integers_below_a_bound():
    def f(x):
        k = random.randint(0, 3)
        return x * k, random.random()
    return seeded(f)


@program(calls=30, captures=4)
def one_of_a_list():
    def f(x):
        return x * random.choice([0.5, 2.0, 3.0, 7.0]), random.random()
    return seeded(f)


@program(calls=20, captures=8)
def numbers_in_a_range():
    def f(x):
        return x * random.uniform(-1, 1) + random.random() * 2
    return seeded(f)


@program(calls=20, captures=8)
def a_generator_of_its_own():
    rng = random.Random(3)
    def f(x):
        rng.seed if False else None
        return x * rng.random() + rng.getrandbits(4)
    def args(i):
        if i == 0:
            rng.seed(3)
        return (t(i),)
    return f, args, None


@program(calls=24, captures=4)
def coin_flips():
    def f(x):
        if random.random() < 0.5:
            x = x.flip(0)
        return x + random.getrandbits(2)
    return seeded(f)


if __name__ == "__main__":
    main()
