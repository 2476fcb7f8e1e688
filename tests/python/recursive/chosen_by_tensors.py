# run:
# run: --capture=stress
"""SubGraphs whose ways are chosen by what tensors hold, against the same recursion in plain Python."""

import random

import terra
from _refused import refused
from terra.recursive import HostRead, InvokeOp, SubGraph, cond, item, switch_case

terra.manual_seed(0)
H = 4


class Tree:
    def __init__(self, label, children=()):
        self.label, self.children = label, list(children)


def drawn(leaves, draw=random.Random(5)):
    if leaves == 1:
        return Tree(draw.randrange(3))
    split = draw.randrange(1, leaves)
    return Tree(draw.randrange(3), [drawn(split), drawn(leaves - split)])


is_leaf = HostRead(lambda t: not t.children, bool)
label = HostRead(lambda t: t.label, int)
child = HostRead(lambda t, k: t.children[k])
left, right = HostRead(lambda t: t.children[0]), HostRead(lambda t: t.children[1])

gates, stop = terra.nn.Linear(H, 2 * H).double(), terra.nn.Linear(H, 1).double()
terra.nn.init.constant_(stop.bias, -1.0)  # most trees grow on
labels = terra.nn.Parameter(terra.randn(3, H, dtype=terra.float64))
weights = [*gates.parameters(), *stop.parameters(), labels]


def check(graph, plain, invocations, asked=weights, least_width=None):
    """Results and gradients; the calls of all invocations advance together."""
    expected = [plain(*given) for given in invocations]
    wanted = terra.autograd.grad(sum((r**2).sum() * k for k, r in enumerate(expected, 1)), asked, allow_unused=True)
    for batched in (True, False):
        before = graph.counts()
        found = [r[0] for r in graph.map(invocations, batched=batched)]
        made = terra.autograd.grad(sum((r**2).sum() * k for k, r in enumerate(found, 1)), asked, allow_unused=True)
        for a, b in zip(found, expected):
            assert terra.allclose(a, b), (batched, a, b)
        for k, (a, b) in enumerate(zip(made, wanted)):
            assert (a is None) == (b is None), (batched, k, a, b)
            assert a is None or terra.allclose(a, b), (batched, k, a, b)
        after = graph.counts()
        assert after["one_by_one"] == [], after
        if least_width:
            calls, batches = after["calls"] - before["calls"], after["batches"] - before["batches"]
            assert calls >= least_width * batches, (calls, batches)


# ---- a network decides at each node whether the tree goes on -------------------------------------------------------------

grow = SubGraph("grow")
tree = grow.handle("tree")
h = grow.input((1, H), terra.float64)
grow.output((1, H), terra.float64)


@grow.define
def _():
    own = terra.tanh(h + labels.index_select(0, label(tree).as_tensor().reshape(1)))

    def children():
        l, r = gates(own).chunk(2, 1)
        return own + InvokeOp(grow)(left(tree), terra.tanh(l))[0] * InvokeOp(grow)(right(tree), r)[0]

    return cond(is_leaf(tree), lambda: own, lambda: cond(stop(own) > 0, lambda: own * 2, children))


def plain_grow(t, h):
    own = terra.tanh(h + labels[t.label])
    if not t.children:
        return own
    if stop(own).item() > 0:
        return own * 2
    l, r = gates(own).chunk(2, 1)
    return own + plain_grow(t.children[0], terra.tanh(l)) * plain_grow(t.children[1], r)


trees = [drawn(n) for n in (1, 2, 9, 17, 30, 30, 30, 30)]
states = [terra.randn(1, H, dtype=terra.float64, requires_grad=True) for _ in trees]
check(grow, plain_grow, list(zip(trees, states)), weights + states, least_width=2)
with terra.no_grad():
    assert terra.allclose(grow(trees[3], states[3])[0], plain_grow(trees[3], states[3]))
    assert not grow(trees[3], states[3])[0].requires_grad
assert "$item(" in str(grow), str(grow)

# ---- a number of a tensor: which child is read, and what a callee is handed ------------------------------------------------

descend = SubGraph("descend")
node, depth, x = descend.handle(), descend.number(int), descend.input((H,), terra.float64)
descend.output((H,), terra.float64)
next_depth = HostRead(lambda d: d + 1, int)
below = SubGraph("below")
at, which, how_deep, y = below.handle(), below.number(int), below.number(int), below.input((H,), terra.float64)
below.output((H,), terra.float64)


@below.define
def _():
    return InvokeOp(descend)(child(at, which), next_depth(how_deep), y * 0.9)[0]


@descend.define
def _():
    scale = depth.as_tensor().to(terra.float64) + 1

    def on():
        made = terra.tanh(gates(x)[:H]) + labels[0]
        return InvokeOp(below)(node, item((made.sum() > 0).to(terra.int64)), depth, made)[0] + made.sum() * scale

    return cond(is_leaf(node), lambda: x * scale, on)


def plain_descend(t, d, x):
    if not t.children:
        return x * (d + 1)
    made = terra.tanh(gates(x)[:H]) + labels[0]
    return plain_descend(t.children[int(made.sum().item() > 0)], d + 1, made * 0.9) + made.sum() * (d + 1)


vectors = [terra.randn(H, dtype=terra.float64, requires_grad=True) for _ in trees]
check(descend, plain_descend, [(t, 0, v) for t, v in zip(trees, vectors)], [*gates.parameters(), labels, *vectors])

# ---- no structure at all: a loop that ends by what it computes; a switch by a number; ways in ways --------------------------

walk = SubGraph("walk")
v = walk.input((H,), terra.float64)
walk.output((H,), terra.float64)


@walk.define
def _():
    made = terra.tanh(gates(v)[:H]) + v * 1.1

    def twice():
        return cond(made[0] > 0, lambda: InvokeOp(walk)(made * 1.5)[0], lambda: InvokeOp(walk)(made - labels[1].detach())[0] * 2)

    ways = [lambda: InvokeOp(walk)(made + 0.1)[0] + made, twice, lambda: made * v.sum()]
    return switch_case((made.abs().sum() / 4).to(terra.int64), ways)


def plain_walk(v):
    made = terra.tanh(gates(v)[:H]) + v * 1.1
    way = int((made.abs().sum() / 4).item())
    if way == 0:
        return plain_walk(made + 0.1) + made
    if way == 1:
        return plain_walk(made * 1.5) if made[0] > 0 else plain_walk(made - labels[1].detach()) * 2
    return made * v.sum()


check(walk, plain_walk, [(v,) for v in vectors], [*gates.parameters(), *vectors])

# As deep as memory allows, in time that is linear in the depth.
count = SubGraph("count")
n = count.input((1,))
count.output((1,))
step = terra.nn.Parameter(terra.ones(1))


@count.define
def _():
    return cond(n > 0, lambda: InvokeOp(count)(n - 1)[0] + step, lambda: n * step)


(total,) = count(terra.tensor([3000.0]))
assert total.item() == 3000, total
total.backward()
assert step.grad.item() == 3000, step.grad
assert count.counts()["calls"] == 6002, count.counts()

# ---- what can't be ----------------------------------------------------------------------------------------------------------


def body_of(write, takes=((H,),)):
    graph = SubGraph("wrong")
    handle = graph.handle()
    inputs = [graph.input(size) for size in takes]
    graph.output((H,))
    graph.define(lambda: write(handle, *inputs))
    return lambda: graph(trees[1], *(terra.ones(size) for size in takes))


refused(RuntimeError, "SubGraph \"wrong\" can't be run: a host read is given something that graph \"wrong\" computes",
        body_of(lambda t, x: x * label(child(t, item(x.sum().to(terra.int64)))).as_number()))
refused(RuntimeError, "item() of a tensor with 4 elements", lambda: body_of(lambda t, x: cond(x > 0, lambda: x, lambda: x)))
refused(TypeError, "item() of a complex tensor", lambda: body_of(lambda t, x: x * item(terra.complex(x, x).sum()).as_number()))
refused(TypeError, "switch_case() goes by a scalar int, but got a scalar float",
        lambda: body_of(lambda t, x: switch_case(x.sum(), [lambda: x])))
refused(TypeError, "item() takes a tensor of the body", lambda: item(3))
refused(RuntimeError, "item() stands outside of the body of a SubGraph", lambda: item(terra.ones(1)))
refused(RuntimeError, "can't be run: 'dropout_mask' draws random numbers",
        body_of(lambda t, x: terra.nn.functional.dropout(x, 0.5)))
# What a host read raises behind a choice reaches the program as it is.
refused(IndexError, "list index out of range",
        body_of(lambda t, x: switch_case((x.sum() / 2).to(terra.int64), [lambda: x] * 2 + [
            lambda: x * label(child(child(t, label(t)), label(t))).as_number()])))
