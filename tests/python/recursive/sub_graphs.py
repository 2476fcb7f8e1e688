"""SubGraphs and InvokeOps against the same recursion in plain Python."""

import random

import terra
from _refused import refused
from terra.recursive import HostRead, InvokeOp, SubGraph, cond, switch_case

H, WORDS = 4, 7


class Tree:
    def __init__(self, word=0, children=()):
        self.word, self.children = word, list(children)


def grow(leaves, draw=random.Random(3)):
    if leaves == 1:
        return Tree(draw.randrange(WORDS))
    left = draw.randrange(1, leaves)
    return Tree(0, [grow(left), grow(leaves - left)])


words = terra.nn.Embedding(WORDS, H).double()
join = terra.nn.Linear(2 * H, H).double()
unused = terra.nn.Parameter(terra.ones(H, dtype=terra.float64))
weights = [words.weight, join.weight, join.bias, unused]

is_leaf = HostRead(lambda t: not t.children, bool)
left = HostRead(lambda t: t.children[0])
right = HostRead(lambda t: t.children[1])
word = HostRead(lambda t: t.word, int)
arity = HostRead(lambda t: len(t.children), int)

encode = SubGraph("encode")
tree = encode.handle("tree")
encode.output((1, H), terra.float64)
encode.output((H,), terra.float64)


@encode.define
def body():
    def inner():
        (l, _), (r, _) = InvokeOp(encode)(left(tree)), InvokeOp(encode)(right(tree))
        h = terra.tanh(join(terra.cat([l, r], 1)))
        return h, h.sum(0) * unused

    def leaf():
        h = terra.tanh(words(word(tree).as_tensor().reshape(1)))
        return h, h[0] + unused

    return cond(is_leaf(tree), leaf, inner)


def plain(t):
    if not t.children:
        h = terra.tanh(words(terra.tensor([t.word])))
        return h, h[0] + unused
    h = terra.tanh(join(terra.cat([plain(t.children[0])[0], plain(t.children[1])[0]], 1)))
    return h, h.sum(0) * unused


def gradients(results, used):
    loss = sum((r[k] ** 2).sum() * (i + 1) for i, r in enumerate(results) for k in used)
    return terra.autograd.grad(loss, weights, allow_unused=True)


trees = [grow(n) for n in (1, 2, 5, 13)]
expected = [plain(t) for t in trees]
for batched in (True, False):
    for used in ((0,), (0, 1)):
        found = encode.map([(t,) for t in trees], batched=batched)
        for mine, theirs in zip(found, expected):
            for a, b in zip(mine, theirs):
                assert terra.allclose(a, b), (batched, a, b)
        for k, (a, b) in enumerate(zip(gradients(found, used), gradients([plain(t) for t in trees], used))):
            assert (a is None) == (b is None), (batched, used, k, a, b)
            assert a is None or terra.allclose(a, b), (batched, used, k, a, b)
counts = encode.counts()
assert counts["invocations"] == 4 and counts["calls"] == 4 * (1 + 3 + 9 + 25), counts
assert counts["one_by_one"] == [], counts

text = str(encode)
assert "graph @encode(" in text and "$call @encode(" in text, text

# A chain is as deep as memory allows, whatever Python's limit is.
chain = Tree(1)
for _ in range(20_000):
    chain = Tree(0, [chain, Tree(2)])
h, _ = encode(chain)
assert terra.isfinite(h).all()
while chain.children:  # so that its end is no recursion either
    chain = chain.children.pop(0)

# One call of several ways, by a number; weights that train.
sums = SubGraph("sums")
node = sums.handle()
sums.output((1,))
scale = terra.nn.Parameter(terra.ones(1))


@sums.define
def _():
    def value():
        return word(node).as_tensor().reshape(1).to(terra.float32) * scale

    def one():
        return InvokeOp(sums)(left(node))

    def two():
        return InvokeOp(sums)(left(node))[0] + InvokeOp(sums)(right(node))[0]

    return switch_case(arity(node), [value, one, two])


shared = Tree(2)
(total,) = sums(Tree(0, [Tree(0, [shared]), Tree(0, [shared, Tree(3)])]))
assert total.item() == 7, total
total.backward()
assert scale.grad.item() == 7, scale.grad


# What host reads raise reaches the program as it is, and leaves everything as it was.
refused(AttributeError, "'int' object has no attribute", lambda: sums(Tree(0, [Tree(0, [Tree(1, [3])])])))
refused(TypeError, "takes 1 operands, but got 2", lambda: encode(trees[0], trees[1]))
refused(RuntimeError, "outside of the body of a SubGraph", lambda: is_leaf(tree))
refused(RuntimeError, "has no body", lambda: SubGraph("empty")(trees[0]))
assert terra.allclose(encode(trees[2])[0], expected[2][0])

# What calls hand down as they got it may differ from invocation to invocation.
weighed = SubGraph("weighed")
at, by = weighed.handle(), weighed.input((H,), terra.float64)
weighed.output((H,), terra.float64)


@weighed.define
def _():
    def inner():
        return InvokeOp(weighed)(left(at), by)[0] + InvokeOp(weighed)(right(at), by)[0] * unused

    return cond(is_leaf(at), lambda: words(word(at).as_tensor()) * by, inner)


def plain_weighed(t, by):
    if not t.children:
        return words.weight[t.word] * by
    return plain_weighed(t.children[0], by) + plain_weighed(t.children[1], by) * unused


bys = [terra.full((H,), k + 1.0, dtype=terra.float64, requires_grad=True) for k in range(len(trees))]
for given in (bys, bys[:1] * len(trees)):
    asked = [words.weight, unused, *given[: len(set(map(id, given)))]]
    wanted = [plain_weighed(t, b) for t, b in zip(trees, given)]
    for batched in (True, False):
        found = [r[0] for r in weighed.map(list(zip(trees, given)), batched=batched)]
        for a, b in zip(found, wanted):
            assert terra.allclose(a, b), (a, b)
        slopes = [terra.autograd.grad(sum((r**2).sum() for r in all), asked, retain_graph=True) for all in (found, wanted)]
        for a, b in zip(*slopes):
            assert terra.allclose(a, b), (a, b)
assert weighed.counts()["invocations"] == 4, weighed.counts()

# Operands are what was declared.
for wrong in (terra.ones(H), terra.ones(H + 1, dtype=terra.float64), terra.ones(1, H, dtype=terra.float64), 3.0, None):
    refused(TypeError, "input 1 of SubGraph \"weighed\" is declared as f64[4], but is invoked with",
            lambda: weighed(trees[0], wrong))
times = SubGraph("times")
factor = times.number(float)
times.output((1,))
times.define(lambda: scale * factor.as_number())
assert times(2)[0].item() == 2 and times(0.5)[0].item() == 0.5 and times(True)[0].item() == 1
refused(TypeError, "input 0 of SubGraph \"times\" is declared as scalar float, but is invoked with handle", lambda: times("2"))

# What is written wrongly.
mistakes = (
    (TypeError, "cond() goes by what the structure or a tensor says, but got a bool: it", lambda: cond(True, None, None)),
    (TypeError, "switch_case() goes by what the structure or a tensor says, but got a int", lambda: switch_case(1, [None])),
    (TypeError, "host read '<lambda>' takes objects and numbers of the structure, but got a Tensor: item()", lambda: word(by)),
    (TypeError, "SubGraph 'weighed' takes tensors, objects and numbers of the structure, but got a int",
     lambda: InvokeOp(weighed)(3, by)),
    (TypeError, "InvokeOp calls a SubGraph, not a int", lambda: InvokeOp(3)),
    (RuntimeError, "belongs to a graph under construction is not known yet", lambda: by.numpy()),
    (RuntimeError, "belongs to a graph under construction is not known yet", lambda: by.tolist()),
)
for mistake in mistakes:
    refused(*mistake)
