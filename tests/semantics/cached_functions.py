# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""functools.lru_cache: results that are there already, what is counted, what is thrown out."""
import functools

import terra
from _harness import Bag, main, program


def t(i, n=3):
    return terra.arange(float(n)) + i


def info(cached):
    return tuple(cached.cache_info())


@program(calls=12, captures=8)
def number():
    log = []
    @functools.lru_cache(maxsize=None)
    def scale(n):
        log.append(n)
        return n * 2.0
    def f(x):
        return x * scale(3) + scale(3)
    def args(i):
        log.append(info(scale))
        return t(i),
    return f, args, log


@program(calls=12, captures=8)
def tensor():
    @functools.lru_cache
    def mask(n, kind):
        return terra.ones(n, n).tril() if kind == "causal" else terra.zeros(n, n)
    log = []
    def f(x):
        return x * mask(3, "causal") + mask(3, "none")
    def args(i):
        log.append(info(mask))
        if i == 6:
            mask(3, "none").add_(1)
        return t(i),
    return f, args, log


@program(calls=16, captures=4)
def cleared_and_thrown_out():
    o, log = Bag(k=1.0), []
    @functools.lru_cache(maxsize=2)
    def scale(n):
        log.append(n)
        return o.k * n
    def f(x):
        return x * scale(1)
    def args(i):
        o.k = float(i)
        if i == 7:
            scale.cache_clear()
        if i == 10:
            scale(2)
            scale(3)
        log.append(info(scale))
        return t(i),
    return f, args, log


@program(calls=12, captures=0)
def order_of_use():
    log = []
    @functools.lru_cache(maxsize=2)
    def scale(n):
        log.append(n)
        return n * 2.0
    def f(x):
        return x * scale(1) + scale(2)
    def g(x):
        return x * scale(2) + scale(1)
    def call(x, i):
        y = f(x) if i % 4 else g(x)
        if i % 3 == 0:
            scale(9)
        return y
    call.target = f
    return call, lambda i: (t(i), i), log


@program(calls=12, captures=0)
def arguments_of_all_kinds():
    @functools.lru_cache
    def scale(n, k=1):
        return n * 2.0 + k
    typed = functools.lru_cache(typed=True)(lambda n: n * 2)
    def f(x, n):
        return x * scale(n) + scale(n, k=3) + scale(1.0) + scale(True), type(typed(n)), typed(1.0), info(scale)
    return f, lambda i: (t(i), [1, 1.0, True][i % 3]), None


@program(calls=12, captures=6)
def replaced_by_another():
    def make(k):
        cached = functools.lru_cache(lambda n: n * k)
        cached(2)
        return cached
    caches = make(1.0), make(10.0)
    o = Bag(scale=caches[0])
    def f(x):
        return x * o.scale(2)
    def args(i):
        o.scale = caches[i // 6]
        return t(i),
    return f, args, None


@program(calls=12, captures=8)
def none_and_nothing():
    log = []
    @functools.cache
    def settings():
        log.append("made")
        return None
    def f(x):
        return x * 2 if settings() is None else x
    return f, lambda i: (t(i),), log


@program(calls=24, captures=6)
def recipes_of_a_library():
    # As einops has them: a recipe by pattern and names, what it makes of a shape by recipe, shape and lengths.
    class Recipe:
        def __init__(self, pattern, names, ndim):
            self.parts, self.names, self.ndim = pattern.split(), names, ndim
    log = []
    @functools.lru_cache(4)
    def prepare(pattern, operation, axes_names, ndim):
        log.append((pattern, operation, axes_names, ndim))
        return Recipe(pattern, axes_names, ndim)
    @functools.lru_cache(8)
    def lengths(recipe, shape, axes_lengths):
        log.append((recipe.parts, tuple(shape), axes_lengths))
        return [*shape[: recipe.ndim - 1], *[n for _, n in axes_lengths], -1]
    def f(x, pattern, **axes):
        recipe = prepare(pattern, "split", axes_names=tuple(axes), ndim=len(x.shape))
        return x.reshape(lengths(recipe, x.shape, tuple(axes.items()))) * len(recipe.parts), recipe.names
    def call(x, pattern, n, other):
        return f(x, pattern, h=n) if other else f(x, pattern, k=n)
    def args(i):
        if i == 13:
            prepare.cache_clear()  # from here on other recipes, of other identity
        log.append((info(prepare), info(lengths)))
        return t(i, 24).view(-1, 12), ("b (h d)", "b h")[i // 6 % 2], 2, i < 18
    return call, args, log


@program(calls=24, captures=8)
def keys_that_are_no_numbers():
    class Kind:
        pass
    class Same:
        def __init__(self, n):
            self.n = n
        def __eq__(self, other):
            return isinstance(other, Same) and self.n == other.n
        def __hash__(self):
            return 7
    kinds = [Kind(), Kind()]
    @functools.lru_cache
    def of(*what, **named):
        return len(what) + 10 * len(named)
    def f(x, what, name):
        return x * of(what, kind=Kind) + of(what, (name, (name, None)), x=name), of(name)
    of_kinds = lambda i: kinds[i // 8 % 2] if i < 20 else Same(i)
    def args(i):
        if i == 14:
            kinds[1] = Kind()
        return t(i), of_kinds(i), "a"
    return f, args, None
if __name__ == "__main__":
    main()
