"""Graphs that call themselves: recursive networks at the speed of batched code.

A SubGraph is a function over a structure, written once in ops; an InvokeOp calls it, from its own body too. All calls that
wait for nothing but each other run as one: a level of all trees of a batch is one matrix product.

    class Tree: ...                                  # any objects: .word, .left, .right

    is_leaf = HostRead(lambda t: t.left is None, bool)
    left, right = HostRead(lambda t: t.left), HostRead(lambda t: t.right)
    word = HostRead(lambda t: t.word, int)

    encode = SubGraph("encode")
    tree = encode.handle("tree")
    encode.output((1, 150))

    @encode.define
    def body():
        def inner():
            (l,), (r,) = InvokeOp(encode)(left(tree)), InvokeOp(encode)(right(tree))
            return terra.tanh(join(terra.cat([l, r], 1)))
        return cond(is_leaf(tree), lambda: terra.tanh(words(word(tree).as_tensor().reshape(1))), inner)

    (h,) = encode(root)                              # one structure
    states = encode.map([(root,) for root in batch])  # many at once

Weights that the body reads (of `join`, of `words`) become inputs that every call hands down; each gets one gradient for all
calls. Where a tensor chooses the way, `cond(stop(h) > 0, lambda: h, grow_on)`, all calls of a batch advance together: those
that wait for such numbers get them at once. A plain recursive Python function needs none of this under capture; it is here for
programs that say themselves what is recursive."""

import _terra_C as C

from .. import Tensor, get_default_dtype
from ..capture import mode

__all__ = ["HostRead", "HostSymbol", "InvokeOp", "SubGraph", "cond", "item", "switch_case"]


class HostSymbol:
    """A number or an object of the structure, in the body of a SubGraph: which, the host says when a call runs."""

    def __init__(self, symbol):
        self._symbol = symbol

    def as_tensor(self):
        """The number as a tensor without dimensions: an index, for instance."""
        return C.recursive_as_tensor(self._symbol)

    def as_number(self):
        """The number as an operand that decides no dtype, as Python's numbers are."""
        return C.recursive_as_number(self._symbol)


class HostRead:
    """A function that reads the structure, called when a call runs. It gives an object, or a number of type `gives`."""

    def __init__(self, function, gives=object):
        self._name = getattr(function, "__name__", "read")
        self._kind = "handle" if gives is object else gives.__name__
        self._number = C.recursive_host_function(function, self._kind)

    def __call__(self, *operands):
        symbols = [_symbol(o, f"host read '{self._name}' takes objects and numbers of the structure") for o in operands]
        return HostSymbol(C.recursive_read(self._name, self._number, self._kind, symbols))


class SubGraph:
    """A graph that may call itself. Inputs and results are declared first, then its body."""

    def __init__(self, name):
        self.name = name
        self._graph = C.recursive_sub_graph(name)
        self._compiled = None

    def handle(self, name=""):
        """The next input: an object of the structure."""
        return HostSymbol(C.recursive_host_input(self._graph, "handle", name))

    def number(self, kind=int, name=""):
        """The next input: a number of the structure, of type bool, int or float."""
        return HostSymbol(C.recursive_host_input(self._graph, kind.__name__, name))

    def input(self, size, dtype=None, name=""):
        """The next input: a tensor."""
        return C.recursive_input(self._graph, size, dtype or get_default_dtype(), name)

    def output(self, size, dtype=None):
        """The next result: a tensor."""
        C.recursive_output(self._graph, size, dtype or get_default_dtype())

    def define(self, body):
        """Calls `body` once; what it does to tensors is what the SubGraph does. A decorator."""
        with mode("off"):
            C.recursive_define(self._graph, lambda: _listed(body()))
        return body

    def __call__(self, *operands, batched=True):
        """The results of one invocation, as a tuple."""
        return self.map([operands], batched=batched)[0]

    def map(self, invocations, batched=True):
        """The results of many invocations at once. `batched` false: one call after the other, for comparison."""
        if self._compiled is None:
            self._compiled = C.recursive_compile(self._graph)
        return [tuple(r) for r in C.recursive_run(self._compiled, list(invocations), batched)]

    def counts(self):
        """What has been done so far: invocations, calls, batches, and why calls of some kind run one at a time."""
        if self._compiled is None:
            return {"invocations": 0, "calls": 0, "batches": 0, "one_by_one": []}
        return dict(zip(("invocations", "calls", "batches", "one_by_one"), C.recursive_counts(self._compiled)))

    def __str__(self):
        return C.recursive_print(self._graph)


class InvokeOp:
    """The call of a SubGraph in the body of one, complete or not. Returns its results as a tuple."""

    def __init__(self, callee):
        if not isinstance(callee, SubGraph):
            raise TypeError(f"InvokeOp calls a SubGraph, not a {type(callee).__name__}")
        self._callee = callee

    def __call__(self, *operands):
        takes = f"SubGraph {self._callee.name!r} takes tensors, objects and numbers of the structure"
        given = [o if isinstance(o, Tensor) else _symbol(o, takes) for o in operands]
        return tuple(C.recursive_invoke(self._callee._graph, given))


def item(tensor):
    """The only element of a tensor as a number of the structure: to choose a way, to be handed to a SubGraph, and to be read by
    the host inside of either."""
    return HostSymbol(C.recursive_item(tensor))


def cond(truth, if_true, if_false):
    """What one of two functions returns, by a truth that the host decides, or that a tensor of one element holds. Both return
    tensors of the same kinds."""
    if isinstance(truth, Tensor):
        truth = item(truth != 0)
    symbol = _symbol(truth, "cond() goes by what the structure or a tensor says")
    return _plain(C.recursive_cond(symbol, lambda: _listed(if_true()), lambda: _listed(if_false())))


def switch_case(number, ways):
    """What the function with that number returns, the last one where there is none. An integer tensor may hold the number."""
    if isinstance(number, Tensor):
        number = item(number)
    symbol = _symbol(number, "switch_case() goes by what the structure or a tensor says")
    return _plain(C.recursive_switch(symbol, [lambda w=w: _listed(w()) for w in ways]))


def _symbol(value, what):
    if isinstance(value, HostSymbol):
        return value._symbol
    hint = "item() makes a number of it" if isinstance(value, Tensor) else "it is the same for all calls"
    raise TypeError(f"{what}, but got a {type(value).__name__}: {hint}")


def _listed(results):
    return list(results) if isinstance(results, (list, tuple)) else [results]


def _plain(results):
    return results[0] if len(results) == 1 else tuple(results)
