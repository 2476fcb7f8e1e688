# run: TERRA_EXACT=1
# run: TERRA_STRICT=1
# run: TERRA_STRICT=1 HARNESS_MODE=frame
# run: TERRA_BATCHES=off HARNESS_MODE=frame
# run: TERRA_EXACT=1 HARNESS_MODE=frame
# run: TERRA_EXACT=1 HARNESS_MODE=verify
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Functions that call themselves and end otherwise than by returning: exceptions, handlers, limits, threads; and what a
program can see of the calls that are on the stack."""
import sys
import threading
import warnings

import terra
from _harness import main
from _recursion import Node, nested, recursive, table, tree


def under_limit(limit, f, *arguments):
    """What f gives under another recursion limit, or the class of the error that says it was met."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(limit)
    try:
        return f(*arguments)
    except RecursionError as error:
        return type(error)
    finally:
        sys.setrecursionlimit(before)


# ---- exceptions ----

@recursive
def raised_in_the_middle():
    words = table()

    def encode(node):
        if node.is_leaf:
            if node.word == 5:
                raise ValueError(f"word {node.word} is not wanted")
            return words[node.word]
        return terra.tanh(encode(node.left) - encode(node.right))
    return encode, lambda i: (tree(i),), None


@recursive
def raised_and_caught_above():
    words, log = table(), []

    def encode(node, depth=0):
        if node.is_leaf:
            if node.word in (2, 5):
                raise KeyError(node.word)
            return words[node.word]
        try:
            left = encode(node.left, depth + 1)
        except KeyError as error:
            log.append((depth, error.args))
            left = words[0]
        return terra.tanh(left - encode(node.right, depth + 1))
    return encode, lambda i: (tree(i),), log


@recursive
def handlers_at_every_level():
    words, log = table(), []

    def encode(node):
        log.append("in")
        try:
            if node.is_leaf:
                return words[node.word] * (6 // (node.word - 3))
            return terra.tanh(encode(node.left) - encode(node.right))
        except ZeroDivisionError as error:
            log.append("caught")
            raise RuntimeError("below") from error
        finally:
            log.append("out")
    return encode, lambda i: (tree(i),), log


@recursive
def an_exception_as_a_result():
    words = table()

    class Found(Exception):
        def __init__(self, h, path):
            super().__init__(path)
            self.h, self.path = h, path

    def search(node, word, path):
        if node.is_leaf:
            if node.word == word:
                raise Found(words[word] * len(path), path)
            return words[node.word]
        return search(node.left, word, path + "l") + search(node.right, word, path + "r")

    def f(node, word):
        try:
            return search(node, word, ""), None
        except Found as found:
            return found.h, found.path
    f.target = search
    return f, lambda i: (tree(i), i % 8), None


@recursive
def shapes_that_do_not_fit():
    words = table()

    def encode(node):
        if node.is_leaf:
            return words[node.word, :2] if node.word == 6 else words[node.word]
        return terra.tanh(encode(node.left) - encode(node.right))
    return encode, lambda i: (tree(i),), None


@recursive
def asserted_on_the_way():
    words, visited = table(), []

    def encode(node):
        visited.append(node.word)
        h = words[node.word] if node.is_leaf else terra.tanh(encode(node.left) - encode(node.right))
        assert h.sum() < 1.7, f"after {len(visited)} nodes"
        return h
    return encode, lambda i: (tree(i),), visited


@recursive
def stored_before_it_raised():
    """What was written before the exception stays written."""
    words, stored = table(), {}

    def encode(node, rows):
        h = words[node.word] if node.is_leaf else terra.tanh(encode(node.left, rows) - encode(node.right, rows))
        rows[len(stored) % 4] = h
        stored[len(stored)] = h
        if node.word == 4:
            raise LookupError(len(stored))
        return h
    return encode, lambda i: (tree(i), terra.zeros(4, 3)), stored


@recursive
def not_a_node():
    words = table()

    def encode(node):
        if isinstance(node, int):
            return words[node]
        left, right = node
        return terra.tanh(encode(left) - encode(right))

    def args(i):
        broken = [((1, 2), None), (1, (2, 3, 4)), (1, "23"), (1, 9)]
        return broken[i // 3 % 4] if i % 3 == 2 else nested(i),
    return encode, args, None


@recursive
def finally_returns():
    words = table()

    def encode(node):
        try:
            if node.is_leaf and node.word in (1, 4):
                raise ValueError(node.word)
            return words[node.word] if node.is_leaf else terra.tanh(encode(node.left) - encode(node.right))
        finally:
            if node.is_leaf and node.word < 3:
                return words[0] * 3
    return encode, lambda i: (tree(i),), None


@recursive
def generators_closed_early():
    words, log = table(), []

    def walk(node):
        try:
            if node.is_leaf:
                yield node.word
            else:
                yield from walk(node.left)
                yield from walk(node.right)
        finally:
            log.append(node.word)

    def f(node, count):
        total = terra.zeros(3)
        for word, _ in zip(walk(node), range(count)):
            total = terra.tanh(total * 0.5 + words[word])
        return total
    return f, lambda i: (tree(i), i % 5), log


@recursive
def warnings_on_the_way():
    words = table()

    def encode(node):
        if node.is_leaf:
            if node.word == 0:
                warnings.warn("word 0", stacklevel=2)
            return words[node.word]
        return terra.tanh(encode(node.left) - encode(node.right))

    def f(node):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            y = encode(node)
        return y, [(str(warning.message), warning.lineno) for warning in caught]
    f.target = encode
    return f, lambda i: (tree(i),), None


# ---- depth ----

@recursive
def depth_near_the_limit():
    """Some calls fit under the limit and some do not. Where exactly it is met is up to the frames that CPython needs."""
    words, visited = table(), []

    def encode(node, depth):
        visited.append(node)
        return words[node] if depth == 0 else terra.tanh(encode((node + depth) % 8, depth - 1) + words[node])

    def f(node, depth):
        visited.clear()
        y = under_limit(200, encode, node, depth)
        return y, len(visited) if y is not RecursionError else len(visited) > 150
    f.target = encode
    return f, lambda i: (i % 8, [40, 120, 150, 300, 160, 250][i % 6]), None


@recursive
def the_limit_met_and_caught_inside():
    words = table()

    def encode(node, depth=0):
        try:
            return words[node] if depth > 400 else encode((node + 1) % 8, depth + 1) * 0.5 + words[node]
        except RecursionError:
            return words[node]

    def f(node):
        y = under_limit(150 + node, encode, node)
        return y.sum() > 0
    f.target = encode
    return f, lambda i: (i % 8,), None


@recursive
def endless():
    def descend(x):
        return descend(x * 0.5) + 1

    def f(x):
        return under_limit(160, descend, x)
    f.target = descend
    return f, lambda i: (table(1, 3, i),), None


@recursive
def the_limit_between_calls():
    """A cycle that is closed and opened again."""
    words, root = table(), Node(None, Node(1), Node(2))

    def encode(node):
        return words[node.word] if node.is_leaf else terra.tanh(encode(node.left) - encode(node.right))

    def f(node):
        return under_limit(170, encode, node)
    f.target = encode

    def args(i):
        root.right = root if i in (5, 6, 9) else Node(i % 8)
        return root,
    return f, args, None


@recursive
def frames_on_the_stack():
    words = table()

    def encode(node):
        if node.is_leaf:
            frame, depth = sys._getframe(), 0
            while frame.f_code is encode.__code__:
                frame, depth = frame.f_back, depth + 1
            return words[node.word] * depth
        return terra.tanh(encode(node.left) - encode(node.right))
    return encode, lambda i: (tree(i),), None


@recursive
def variables_of_the_caller():
    words = table()

    def encode(node, depth=0):
        if node.is_leaf:
            above = sys._getframe(1).f_locals.get("depth", -1)
            return words[node.word] * above
        return terra.tanh(encode(node.left, depth + 1) - encode(node.right, depth + 1))
    return encode, lambda i: (tree(i),), None


@recursive
def a_profile_of_the_calls():
    words, events = table(), []

    def encode(node):
        return words[node.word] if node.is_leaf else terra.tanh(encode(node.left) - encode(node.right))

    def f(node, watched):
        if watched:
            sys.setprofile(lambda frame, event, argument: events.append((event, frame.f_code.co_name))
                           if event in ("call", "return") else None)
        try:
            return encode(node)
        finally:
            sys.setprofile(None)
    f.target = encode
    return f, lambda i: (tree(i), i in (8, 11)), events


# ---- threads ----

@recursive
def two_threads():
    words, weights = table(), table(6, 3)

    def encode(node):
        if node.is_leaf:
            return words[node.word]
        return terra.tanh(terra.cat([encode(node.left), encode(node.right)]) @ weights)

    def f(nodes):
        results = [None] * len(nodes)

        def work(k):
            results[k] = encode(nodes[k])
        threads = [threading.Thread(target=work, args=(k,)) for k in range(len(nodes))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results
    f.target = encode
    return f, lambda i: ([tree(i), tree(i + 3)],), None


@recursive
def a_thread_that_changes_the_weights():
    words = table()

    def encode(node):
        return words[node.word] if node.is_leaf else terra.tanh(encode(node.left) - encode(node.right))

    def f(node, i):
        before = encode(node)
        thread = threading.Thread(target=words.mul_, args=(0.5 + i % 2,))
        thread.start()
        thread.join()
        return before, encode(node)
    f.target = encode
    return f, lambda i: (tree(i), i), words


main()
