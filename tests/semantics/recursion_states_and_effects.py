# run: TERRA_EXACT=1
# run: TERRA_STRICT=1
# run: TERRA_STRICT=1 HARNESS_MODE=frame
# run: TERRA_BATCHES=off HARNESS_MODE=frame
# run: TERRA_EXACT=1 HARNESS_MODE=frame
# run: TERRA_EXACT=1 HARNESS_MODE=verify
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Functions that call themselves: what calls hand down and give back, and what they do to the world on the way."""
import contextlib
import functools

import terra
from _harness import main
from _recursion import Node, bushy, nested, recursive, table, tree


# ---- states ----

@recursive
def a_pair_of_states():
    words, weights = table(), table(6, 9)

    def encode(node):
        if node.is_leaf:
            return words[node.word], terra.zeros(3)
        (hl, cl), (hr, cr) = encode(node.left), encode(node.right)
        i, f, u = (terra.cat([hl, hr]) @ weights).chunk(3)
        c = terra.sigmoid(i) * terra.tanh(u) + terra.sigmoid(f) * (cl + cr)
        return terra.tanh(c), c
    return encode, lambda i: (tree(i),), None


@recursive
def a_dict_of_states():
    words = table()

    def encode(node):
        if node.is_leaf:
            return {"h": words[node.word], "size": 1}
        left, right = encode(node.left), encode(node.right)
        size = left["size"] + right["size"]
        return {"h": terra.tanh(left["h"] * right["h"] + 1 / size), "size": size}
    return encode, lambda i: (tree(i),), None


@recursive
def a_state_object():
    words = table()

    class State:
        def __init__(self, h, height, below=()):
            self.h, self.height, self.below = h, height, below

        def joined(self, other):
            height = 1 + max(self.height, other.height)
            return State(terra.tanh(self.h - other.h) * height, height, (self, other))

    def encode(node):
        return State(words[node.word], 0) if node.is_leaf else encode(node.left).joined(encode(node.right))
    return encode, lambda i: (tree(i),), None


@recursive
def states_of_many_children():
    words = table()

    def encode(node):
        word, children = node
        states = [encode(child) for child in children]
        h = words[word]
        if states:
            hs, counts = zip(*states)
            h = terra.tanh(h + sum(hs)) / len(hs)
            return h, 1 + sum(counts)
        return h, 1
    return encode, lambda i: (bushy(i, lambda word, children: (word, children)),), None


@recursive
def results_that_are_lists():
    words = table()

    def leaves(node):
        return [words[node.word]] if node.is_leaf else leaves(node.left) + leaves(node.right)
    return leaves, lambda i: (tree(i),), None


@recursive
def a_number_and_a_tensor():
    words = table()

    def encode(node):
        """A leaf gives a plain number, anything above it a tensor."""
        if node.is_leaf:
            return node.word
        left, right = encode(node.left), encode(node.right)
        return words[left] if isinstance(left, int) and isinstance(right, int) else words[0] * left - right
    return encode, lambda i: (tree(i),), None


@recursive
def handed_down():
    words = table()

    def mark(node, above, depth):
        here = terra.tanh(above * 0.5 + depth)
        if node.is_leaf:
            return here * words[node.word]
        return mark(node.left, here, depth + 1) + mark(node.right, -here, depth + 1)
    return mark, lambda i: (tree(i), table(1, 3, i)[0], 0), None


@recursive
def an_accumulator_in_tail_position():
    words = table()

    def fold(items, total, sign=1):
        if not items:
            return total
        return fold(items[1:], terra.tanh(total + sign * words[items[0]]), -sign)
    return fold, lambda i: ([(i * k) % 8 for k in range(i % 6)], terra.zeros(3)), None


@recursive
def default_arguments():
    words = table()

    def encode(node, scale=1.0, seen=[], *, bias=0.25):
        seen.append(scale)
        if node.is_leaf:
            return words[node.word] * scale + bias
        return encode(node.left, scale / 2) + encode(node.right, bias=bias * scale)

    def args(i):
        if i == 7:
            encode.__defaults__ = (2.0, [])
        if i == 10:
            encode.__kwdefaults__ = {"bias": -1.0}
        return tree(i),
    return encode, args, encode


@recursive
def starred_and_named_arguments():
    words = table()

    def encode(node, *factors, **options):
        if node.is_leaf:
            y = words[node.word]
            for factor in factors:
                y = y * factor
            return y + options.get("bias", 0)
        return encode(node.left, *factors, 0.5, **options) - encode(node.right, *factors, bias=len(factors))
    return encode, lambda i: (tree(i), 1 + i % 2), None


@recursive
def a_tuple_of_both_ways():
    """Up and down in one: what the left child found goes into the right one."""
    words = table()

    def encode(node, carried):
        if node.is_leaf:
            carried = terra.tanh(carried + words[node.word])
            return carried, carried.sum()
        carried, left = encode(node.left, carried)
        carried, right = encode(node.right, carried * 0.5)
        return carried, left * right
    return encode, lambda i: (tree(i), terra.zeros(3) + i), None


# ---- who calls whom ----

@recursive
def a_closure():
    words = table()

    def f(node, scale):
        count = 0

        def encode(node):
            nonlocal count
            count += 1
            if node.is_leaf:
                return words[node.word] * scale
            return terra.tanh(encode(node.left) - encode(node.right) * count)
        return encode(node), count
    return f, lambda i: (tree(i), 1 + i % 3), None


@recursive
def methods_and_static_methods():
    class Encoder:
        depth_limit = 3

        def __init__(self):
            self.words, self.calls = table(), 0

        def encode(self, node, depth=0):
            self.calls += 1
            if node.is_leaf or depth == self.depth_limit:
                return self.words[node.word if node.is_leaf else 0]
            return self.join(self.encode(node.left, depth + 1), self.encode(node.right, depth + 1))

        @staticmethod
        def join(a, b):
            return terra.tanh(a - b)

        @classmethod
        def height(cls, node):
            return 0 if node.is_leaf else 1 + max(cls.height(node.left), cls.height(node.right))

    encoder = Encoder()

    def f(node):
        return encoder.encode(node) * Encoder.height(node)

    def args(i):
        if i == 9:
            Encoder.depth_limit = 1
        return tree(i),
    return f, args, encoder


@recursive
def a_callable_object():
    class Encoder:
        def __init__(self):
            self.words = table()

        def __call__(self, node):
            return self.words[node.word] if node.is_leaf else terra.tanh(self(node.left) + 2 * self(node.right))

    encoder = Encoder()

    def f(node):
        return encoder(node)
    return f, lambda i: (tree(i),), None


@recursive
def mutual_recursion():
    words = table()

    def even(node):
        return words[node.word] if node.is_leaf else terra.tanh(odd(node.left) + odd(node.right))

    def odd(node):
        return -words[node.word] if node.is_leaf else even(node.left) * even(node.right)
    return even, lambda i: (tree(i),), None


@recursive
def three_functions_in_a_ring():
    words = table()

    def sentence(items):
        return words[items[0]] + clause(items[1:]) if items else terra.zeros(3)

    def clause(items):
        return words[items[0]] * phrase(items[1:]) if items else terra.ones(3)

    def phrase(items):
        return terra.tanh(words[items[0]] - sentence(items[1:])) if items else terra.zeros(3) + 0.5
    return sentence, lambda i: ([(3 * k + i) % 8 for k in range(i % 7)],), None


@recursive
def a_decorated_function():
    words, calls = table(), []

    def logged(function):
        @functools.wraps(function)
        def wrapper(node, *rest):
            calls.append((function.__name__, node.word))
            return function(node, *rest) * 0.9
        return wrapper

    @logged
    def encode(node):
        return words[node.word] if node.is_leaf else terra.tanh(encode(node.left) - encode(node.right))
    return encode, lambda i: (tree(i),), calls


@recursive
def itself_as_an_argument():
    words = table()

    def step(itself, node):
        return words[node.word] if node.is_leaf else terra.tanh(itself(itself, node.left) - itself(itself, node.right))

    def f(node):
        return step(step, node) + (lambda g, n: g(g, n))(lambda g, n: 1 if n < 2 else n * g(g, n - 1), 5)
    f.target = step
    return f, lambda i: (tree(i),), None


@recursive
def a_function_replaced_between_calls():
    words, world = table(), {}

    def plain(node):
        return words[node.word] if node.is_leaf else terra.tanh(world["encode"](node.left) - world["encode"](node.right))

    def louder(node):
        return words[node.word] * 2 if node.is_leaf else world["encode"](node.left) + plain(node.right)

    def f(node):
        return world["encode"](node)
    f.target = plain

    def args(i):
        world["encode"] = louder if i in (6, 7, 10) else plain
        return tree(i),
    return f, args, None


@recursive
def code_replaced_between_calls():
    words = table()

    def encode(node):
        return words[node.word] if node.is_leaf else terra.tanh(encode(node.left) - encode(node.right))

    def other(node):
        return words[node.word] * 2 if node.is_leaf else encode(node.left) + encode(node.right)
    encode_code = encode.__code__

    def args(i):
        encode.__code__ = encode_code
        if i in (8, 11):
            # the free variables of both are `encode` and `words`
            encode.__code__ = other.__code__
        return tree(i),
    return encode, args, None


@recursive
def a_generator_that_recurses():
    words = table()

    def nodes(node, depth=0):
        if not node.is_leaf:
            yield from nodes(node.left, depth + 1)
            yield depth, None
            yield from nodes(node.right, depth + 1)
        else:
            yield depth, node.word

    def f(node):
        total = terra.zeros(3)
        for depth, word in nodes(node):
            total = terra.tanh(total + (words[word] if word is not None else depth))
        return total
    return f, lambda i: (tree(i),), None


@recursive
def partial_and_cached():
    words = table()

    def encode(weights, node):
        return weights[node.word] if node.is_leaf else terra.tanh(bound(node.left) - bound(node.right))
    bound = functools.partial(encode, words)

    @functools.lru_cache(maxsize=None)
    def ways(n):
        return 1 if n < 2 else ways(n - 1) + ways(n - 2)

    def f(node, n):
        return bound(node) * ways(n)
    f.target = encode

    def args(i):
        if i == 9:
            ways.cache_clear()
        return tree(i), i % 8
    return f, args, None


# ---- what happens on the way ----

@recursive
def outputs_in_visit_order():
    words = table()

    def encode(node, outputs):
        outputs.append(node.word)
        h = words[node.word] if node.is_leaf else terra.tanh(encode(node.left, outputs) - encode(node.right, outputs))
        outputs.append(h)
        return h
    return encode, lambda i: (tree(i), []), None


@recursive
def states_stored_into_nodes():
    words = table()

    def encode(node):
        if node.is_leaf:
            node.state = words[node.word]
        else:
            encode(node.left)
            encode(node.right)
            node.state = terra.tanh(node.left.state - node.right.state)

    kept = [tree(k) for k in range(3)]

    def f(node):
        before = getattr(node, "state", None)
        encode(node)
        return before, node.state
    f.target = encode
    return f, lambda i: (kept[i % 3] if i % 2 else tree(i),), kept


@recursive
def a_counter_and_a_dict():
    words, seen = table(), {}

    class Counter:
        calls = 0
        deepest = 0
    counter = Counter()

    def encode(node, depth=0):
        counter.calls += 1
        counter.deepest = max(counter.deepest, depth)
        if node.is_leaf:
            seen[node.word] = seen.get(node.word, 0) + 1
            return words[node.word] * seen[node.word]
        return terra.tanh(encode(node.left, depth + 1) - encode(node.right, depth + 1))
    return encode, lambda i: (tree(i),), (counter, seen)


@recursive
def numbered_in_visit_order():
    """Each leaf takes the next number: calls depend on each other through a list."""
    words = table()

    def encode(node, numbers):
        if node.is_leaf:
            number = numbers.pop() if numbers else 0
            return words[node.word] * number
        return terra.tanh(encode(node.left, numbers) - encode(node.right, numbers))
    return encode, lambda i: (tree(i), list(range(i % 6))), None


@recursive
def rows_written_into_a_tensor():
    words = table()

    def encode(node, rows, k):
        if node.is_leaf:
            h = words[node.word]
        else:
            k, left = encode(node.left, rows, k)
            k, right = encode(node.right, rows, k)
            h = terra.tanh(left - right + rows.sum())
        rows[k] = h
        return k + 1, h
    return encode, lambda i: (tree(i), terra.zeros(14, 3), 0), None


@recursive
def in_place_on_results():
    words = table()

    def encode(node):
        if node.is_leaf:
            return words[node.word].clone()
        left = encode(node.left)
        left.mul_(0.5).sub_(encode(node.right))
        left[0] += 1
        return left.tanh_()
    return encode, lambda i: (tree(i),), None


@recursive
def leaves_that_are_views_written_later():
    """A leaf gives a row of the table itself, and its parent writes into it."""
    words = table()

    def encode(node):
        if node.is_leaf:
            return words[node.word]
        left, right = encode(node.left), encode(node.right)
        left += 0.125
        return terra.tanh(left - right)
    return encode, lambda i: (tree(i),), words


@recursive
def printing():
    words = table()

    def encode(node, indent=""):
        if node.is_leaf:
            print(f"{indent}{node.word}")
            return words[node.word]
        print(f"{indent}(")
        h = terra.tanh(encode(node.left, indent + "  ") - encode(node.right, indent + "  "))
        print(f"{indent}) {h.sum().item():.4f}")
        return h
    return encode, lambda i: (tree(i),), None


@recursive
def numbers_in_the_middle():
    words = table()

    def encode(node):
        if node.is_leaf:
            return words[node.word]
        left, right = encode(node.left), encode(node.right)
        return terra.tanh(left + right) if left.sum().item() > right.sum().item() else left - right * 0.5
    return encode, lambda i: (tree(i),), None


@recursive
def expansion_decided_by_tensors():
    """A tree that nobody made before: a node has children while its state says so."""
    weights = table(3, 6)

    def grow(h, depth):
        if depth == 0 or h.max() < 0.2:
            return h, 1
        left, right = terra.tanh(h @ weights).chunk(2)
        (left, n), (right, m) = grow(left, depth - 1), grow(right, depth - 1)
        return left + right, n + m + 1
    return grow, lambda i: (table(1, 3, i)[0], 4), None


@recursive
def contexts_in_each_call():
    words, log = table(), []

    @contextlib.contextmanager
    def level(word):
        log.append(("in", word))
        try:
            yield len(log)
        finally:
            log.append(("out", word))

    def encode(node):
        with level(node.word) as n:
            return words[node.word] * n if node.is_leaf else terra.tanh(encode(node.left) - encode(node.right))
    return encode, lambda i: (tree(i),), log


@recursive
def a_stack_of_its_own():
    """The same walk without recursion, beside the recursive one."""
    words = table()

    def encode(node):
        return words[node] if isinstance(node, int) else terra.tanh(encode(node[0]) - encode(node[1]))

    def f(root):
        stack, states = [(root, False)], []
        while stack:
            node, done = stack.pop()
            if isinstance(node, int):
                states.append(words[node])
            elif done:
                right, left = states.pop(), states.pop()
                states.append(terra.tanh(left - right))
            else:
                stack += [(node, True), (node[1], False), (node[0], False)]
        return states[0], encode(root)
    f.target = encode
    return f, lambda i: (nested(i),), None


@recursive
def batches_of_trees():
    words = table()

    def encode(node):
        return words[node.word] if node.is_leaf else terra.tanh(encode(node.left) - encode(node.right))

    def f(trees):
        loss = 0
        for k, node in enumerate(trees):
            loss = loss + encode(node).square().sum() * (k + 1)
        return loss
    return f, lambda i: ([tree(k + i) for k in range(i % 5)],), None


@recursive
def nodes_made_and_dropped():
    """A walk that rewrites the tree: rotations, and what they were made of is gone."""
    words = table()

    def rotated(node):
        if node.is_leaf:
            return node
        left, right = rotated(node.left), rotated(node.right)
        if not left.is_leaf:
            return Node(None, left.left, Node(None, left.right, right))
        return Node(None, left, right)

    def encode(node):
        return words[node.word] if node.is_leaf else terra.tanh(encode(node.left) - encode(node.right))

    def f(node):
        again = rotated(node)
        return encode(again), again
    f.target = encode
    return f, lambda i: (tree(i),), None


main()
