# run: TERRA_EXACT=1
# run:
# run: HARNESS_MODE=frame
# run: TERRA_BATCHES=off HARNESS_MODE=frame
# run: HARNESS_MODE=stress TERRA_STRICT=1
"""Recursive functions that look words up in tables with sparse gradients: of the rows that were looked up, of no others."""
import terra
import terra.nn.functional as F
from _harness import main
from _recursion import parameter, recursive, tree

CALLS = 30
LARGE = 5000  # calls that get different tensors of that size don't run together


def table(rows=LARGE, seed=7):
    return parameter(rows, 3, seed)


def looked_up(words, **options):
    return lambda node: F.embedding(terra.tensor(node.word), words, sparse=True, **options)


def network(leaf):
    weights, bias = parameter(3, 3, 1), parameter(1, 3, 2)

    def encode(node):
        if node.is_leaf:
            return leaf(node)
        return terra.tanh((encode(node.left) + encode(node.right)) @ weights + bias[0])
    return encode, (weights, bias)


def taken(*parameters):
    """Gradients, which are gone then: dense ones, or where the rows of sparse ones are, and what they are."""
    said = []
    for p in parameters:
        g, p.grad = p.grad, None
        if g is None or not g.is_sparse:
            said.append(g)
            continue
        g = g.coalesce()
        said.append(("sparse", tuple(g.shape), g.indices(), g.values()))
    return said


def trees(i):
    return tree(i), tree(i + 1), tree(i + 2)


def rows_of(words, **options):
    encode, others = network(looked_up(words, **options))

    def f(*batch):
        sum((encode(t) ** 2).sum() for t in batch).backward()
        return taken(words, *others)
    return f, trees, None


@recursive(calls=CALLS)
def a_large_table():
    return rows_of(table())


@recursive(calls=CALLS)
def a_small_table():
    return rows_of(table(50))


@recursive(calls=CALLS)
def a_row_that_gets_nothing():
    return rows_of(table(), padding_idx=3)


@recursive(calls=CALLS)
def two_tables():
    left, right = table(), table(LARGE + 1, 8)
    encode, others = network(lambda node: looked_up(left)(node) * looked_up(right)(node))

    def f(*batch):
        sum(encode(t).sum() for t in batch).backward()
        return taken(left, right, *others)
    return f, trees, None


@recursive(calls=CALLS)
def one_table_looked_up_twice_and_read():
    words = table(60)
    encode, others = network(lambda node: looked_up(words)(node) * words[node.word + 1] + looked_up(words)(node))

    def f(*batch):
        sum(encode(t).sum() for t in batch).backward()
        return taken(words, *others)
    return f, trees, None


@recursive(calls=CALLS)
def calls_that_no_gradient_reaches():
    words = table()
    encode, others = network(looked_up(words))

    def f(first, second, third):
        states = [encode(t) for t in (first, second, third)]
        states[1].sum().backward()
        return [s * 1 for s in states], taken(words, *others)
    return f, trees, None


@recursive(calls=CALLS)
def a_loss_of_parts_that_are_infinite():
    words = table()
    encode, others = network(looked_up(words))

    def f(first, second, third):
        (encode(first).sum() * float("inf") + encode(second).sum()).backward()
        (_, _, places, values), *rest = taken(words, *others)
        return places, values.nan_to_num(7.5), [g.nan_to_num(7.5) for g in rest]
    return f, trees, None


@recursive(calls=CALLS)
def hooks_on_the_table():
    words, log = table(), []
    words.register_hook(lambda g: log.append((g.is_sparse, tuple(g.shape))))
    encode, others = network(looked_up(words))

    def f(*batch):
        sum(encode(t).sum() for t in batch).backward()
        return taken(words, *others), list(log)
    return f, trees, None


@recursive(calls=CALLS)
def gradients_asked_for():
    words = table()
    encode, (weights, bias) = network(looked_up(words))

    def f(*batch):
        g, other = terra.autograd.grad(sum(encode(t).sum() for t in batch), (words, weights))
        g = g.coalesce()
        return g.indices(), g.values(), other
    return f, trees, None


@recursive(calls=CALLS)
def a_table_that_is_computed():
    base = table(40)
    words = None
    encode, others = network(lambda node: F.embedding(terra.tensor(node.word), words, sparse=True))

    def f(*batch):
        nonlocal words
        words = base * 1
        words.retain_grad()
        try:
            sum(encode(t).sum() for t in batch).backward()
        except RuntimeError as error:
            return type(error).__name__, taken(*others) and None
        return words.grad.is_sparse, taken(base, *others)
    return f, trees, None


@recursive(calls=CALLS)
def training_with_sparse_adam():
    words = table()
    encode, others = network(looked_up(words))
    sparse, dense = terra.optim.SparseAdam([words], lr=0.01), terra.optim.SGD(others, lr=0.01)

    def f(*batch):
        loss = sum((encode(t) ** 2).sum() for t in batch)
        loss.backward()
        sparse.step(), dense.step()
        sparse.zero_grad(), dense.zero_grad()
        return loss.detach(), words[:20].detach() * 1
    return f, trees, None


main()
