# run: TERRA_EXACT=1
# run: TERRA_STRICT=1
# run: TERRA_STRICT=1 HARNESS_MODE=frame
# run: TERRA_BATCHES=off HARNESS_MODE=frame
# run: TERRA_EXACT=1 HARNESS_MODE=frame
# run: TERRA_EXACT=1 HARNESS_MODE=verify
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Functions that call themselves on the parts of a structure: kinds of structures, base cases, and structures that change
between calls."""
import collections
import dataclasses
import sys

import terra
from _harness import main
from _recursion import Node, built, bushy, nested, recursive, table, tree


# ---- kinds of structures ----

@recursive
def objects():
    words, weights = table(), table(6, 3)

    def encode(node):
        if node.is_leaf:
            return words[node.word]
        return terra.tanh(terra.cat([encode(node.left), encode(node.right)]) @ weights)
    return encode, lambda i: (tree(i),), None


@recursive
def pairs():
    words = table()

    def encode(node):
        if isinstance(node, int):
            return words[node]
        left, right = node
        return terra.tanh(encode(left) - 0.5 * encode(right))
    return encode, lambda i: (nested(i),), None


@recursive
def triples_with_none_for_leaves():
    words = table()

    def encode(node):
        if node is None:
            return terra.zeros(3)
        word, left, right = node
        return terra.sigmoid(words[word] + 0.3 * encode(left) - encode(right))
    return encode, lambda i: (built(nested(i), lambda w: (w, None, None), lambda a, b: (7, a, b)),), None


@recursive
def dicts():
    words = table()

    def encode(node):
        total = words[node["word"]]
        if "left" in node:
            total = total + terra.tanh(encode(node["left"]) * encode(node["right"]))
        return total
    return encode, lambda i: (built(nested(i), lambda w: {"word": w}, lambda a, b: {"word": 1, "left": a, "right": b}),), None


@recursive
def dicts_with_a_default():
    words = table()

    def encode(node):
        h = words[node["word"]]
        for child in node.get("children", ()):
            h = terra.tanh(h + encode(child))
        return h

    def node(word, children):
        return {"word": word, "children": children} if children else {"word": word}
    return encode, lambda i: (bushy(i, node),), None


@recursive
def lists_of_children():
    words = table()

    def encode(node):
        if len(node.children) == 0:
            return words[node.word]
        return terra.stack([encode(child) for child in node.children]).mean(0) + words[node.word]

    class Branching:
        def __init__(self, word, children):
            self.word, self.children = word, children
    return encode, lambda i: (bushy(i, Branching),), None


@recursive
def nested_lists():
    words = table()

    def depth_sum(items, depth=1):
        total = terra.zeros(3)
        for item in items:
            total = total + (depth_sum(item, depth + 1) if isinstance(item, list) else words[item] * depth)
        return total

    return depth_sum, lambda i: (bushy(i, lambda word, children: [word, *children]),), None


@recursive
def a_class_for_each_kind():
    words = table()

    class Leaf:
        def __init__(self, word):
            self.word = word

    class Pair:
        def __init__(self, left, right):
            self.left, self.right = left, right

    class Scaled(Pair):
        factor = 0.5

    def encode(node):
        if isinstance(node, Leaf):
            return words[node.word]
        if isinstance(node, Scaled):
            return encode(node.left) * node.factor - encode(node.right)
        if isinstance(node, Pair):
            return terra.tanh(encode(node.left) + encode(node.right))
        raise TypeError(f"not a node: {node!r}")

    kinds = [Pair, Scaled]

    def pair(left, right):
        return kinds[isinstance(left, Leaf)](left, right)

    def args(i):
        return (built(nested(i), Leaf, pair) if i % 7 != 6 else Pair(Leaf(1), 3)),
    return encode, args, None


@recursive
def methods_of_the_nodes():
    words = table()

    class Leaf:
        def __init__(self, word):
            self.word = word

        def encode(self, scale):
            return words[self.word] * scale

    class Pair:
        def __init__(self, left, right):
            self.left, self.right = left, right

        def encode(self, scale):
            return terra.tanh(self.left.encode(scale * 0.9) + self.right.encode(-scale))

    def f(node, scale):
        return node.encode(scale)
    return f, lambda i: (built(nested(i), Leaf, Pair), 1 + i % 3), None


@recursive
def operators_of_the_nodes():
    class Expression:
        def __init__(self, *parts):
            self.parts = parts

        def __add__(self, other):
            return Expression("+", self, other)

        def __mul__(self, other):
            return Expression("*", self, other)

        def __call__(self, x):
            if len(self.parts) == 1:
                return x * self.parts[0]
            op, a, b = self.parts
            return a(x) + b(x) if op == "+" else a(x) * b(x)

        def __len__(self):
            return 1 if len(self.parts) == 1 else len(self.parts[1]) + len(self.parts[2])

    def f(expression, x):
        return expression(x) / len(expression)

    def args(i):
        a, b, c = Expression(i), Expression(0.5), Expression(-i)
        return ([a, a + b, a * b + c, (a + b) * (b + c), a * a * a][i % 5], table(1, 3, i))
    return f, args, None


@recursive
def slots():
    words = table()

    class Slotted:
        __slots__ = ("word", "left", "right")

        def __init__(self, word, left=None, right=None):
            self.word, self.left, self.right = word, left, right

    def encode(node):
        if node.left is None:
            return words[node.word]
        return terra.tanh(encode(node.left) + encode(node.right) * 0.5)
    return encode, lambda i: (tree(i, Slotted),), None


@recursive
def data_classes_and_named_tuples():
    words = table()
    Leaf = collections.namedtuple("Leaf", "word weight")

    @dataclasses.dataclass
    class Pair:
        left: object
        right: object
        bias: float = 0.25

    def encode(node):
        match node:
            case Leaf(word=word, weight=weight):
                return words[word] * weight
            case Pair(left=left, right=right, bias=bias):
                return terra.tanh(encode(left) * encode(right) + bias)
    return encode, lambda i: (built(nested(i), lambda w: Leaf(w, 0.5 + w), Pair),), None


@recursive
def a_table_of_indices():
    """No objects at all: node k has children left[k] and right[k]; -1 is none."""
    words = table()

    def encode(left, right, k):
        if left[k] < 0:
            return words[k % 8]
        return terra.tanh(encode(left, right, left[k]) + 0.5 * encode(left, right, right[k]))

    def flat(shape):
        left, right = [], []

        def number(shape):
            k = len(left)
            left.append(-1), right.append(-1)
            if not isinstance(shape, int):
                left[k], right[k] = number(shape[0]), number(shape[1])
            return k
        number(shape)
        return left, right, 0
    return encode, lambda i: flat(nested(i)), None


@recursive
def a_span_of_a_sentence():
    """Halves: the structure is two numbers."""
    words = table()

    def encode(sentence, begin, end):
        if end - begin == 1:
            return words[sentence[begin]]
        middle = (begin + end) // 2
        return terra.tanh(encode(sentence, begin, middle) - encode(sentence, middle, end))
    return encode, lambda i: ([(i * k + 3) % 8 for k in range(1 + i % 9)], 0, 1 + i % 9), None


@recursive
def words_that_are_strings():
    vocabulary = {"not": 0, "very": 1, "good": 2, "bad": 3}
    words = table()
    trees = ["good", ("not", "bad"), ("very", ("very", "good")), (("not", "very"), "awful"), ("bad", ("not", ("not", "bad")))]

    def encode(node):
        if isinstance(node, str):
            return words[vocabulary.get(node, 7)]
        return terra.tanh(encode(node[0]) * 2 - encode(node[1]))
    return encode, lambda i: (trees[(i * i) % 5],), None


# ---- structures that change ----

@recursive
def a_tree_that_grows_between_calls():
    words, root = table(), Node(0)

    def encode(node):
        return words[node.word] if node.is_leaf else terra.tanh(encode(node.left) + 0.5 * encode(node.right))

    def args(i):
        if i % 2:
            at = root
            while not at.is_leaf:
                at = at.left if i % 3 else at.right
            at.left, at.right, at.word = Node(i % 8), Node((i + 3) % 8), None
        return root,
    return encode, args, root


@recursive
def children_swapped_and_replaced():
    words, root = table(), tree(4)

    def encode(node):
        return words[node.word] if node.is_leaf else terra.tanh(encode(node.left) - encode(node.right))

    def args(i):
        if i % 3 == 1:
            root.left, root.right = root.right, root.left
        if i % 4 == 3:
            root.left = tree(i)
        return root,
    return encode, args, root


@recursive
def words_renumbered_between_calls():
    words, root = table(), tree(11)

    def encode(node):
        return words[node.word] if node.is_leaf else terra.tanh(encode(node.left) - encode(node.right))

    def renumber(node, i):
        if node.is_leaf:
            node.word = (node.word * 3 + i) % 8
        else:
            renumber(node.left, i), renumber(node.right, i)

    def args(i):
        renumber(root, i)
        return root,
    return encode, args, root


@recursive
def a_node_of_a_new_class():
    words = table()

    class Louder(Node):
        @property
        def word(self):
            return 7

        @word.setter
        def word(self, value):
            pass

    class Shy(Node):
        is_leaf = True

    def encode(node):
        return words[node.word] if node.is_leaf else terra.tanh(encode(node.left) - encode(node.right))

    def args(i):
        root = tree(i)
        if i in (6, 9):
            root = Node(None, root, Louder(1))
        if i in (8, 9, 12):
            root = Node(None, Shy(3, Node(0), Node(1)), root)
        return root,
    return encode, args, None


@recursive
def a_class_that_changes():
    words = table()

    class Word(Node):
        pass

    def encode(node):
        return words[node.word] if node.is_leaf else terra.tanh(encode(node.left) - encode(node.right))

    def args(i):
        Word.is_leaf = property(lambda self: self.left is None or i >= 7 and self.word == 2)
        return built(nested(i), Word, lambda a, b: Word(2, a, b)),
    return encode, args, None


@recursive
def an_attribute_that_goes_missing():
    words = table()

    def encode(node):
        return words[node.word] if node.is_leaf else terra.tanh(encode(node.left) - encode(node.right))

    def args(i):
        root = tree(i)
        if i % 5 == 4:
            at = root
            while not at.is_leaf:
                at = at.right
            del at.word
        return root,
    return encode, args, None


@recursive
def an_instance_attribute_before_that_of_the_class():
    words = table()

    class Weighted:
        weight = 1.0

        def __init__(self, word, left=None, right=None):
            self.word, self.left, self.right = word, left, right

    def encode(node):
        if node.left is None:
            return words[node.word] * node.weight
        return terra.tanh(encode(node.left) + encode(node.right)) * node.weight

    def args(i):
        root = tree(i, Weighted)
        if i % 3 == 2:
            root.weight = i
        if i == 8:
            Weighted.weight = 0.5
        return root,
    return encode, args, None


@recursive
def children_made_when_asked_for():
    """The walk itself does something: children come from __getattr__, counted."""
    words, asked = table(), []

    class Lazy:
        def __init__(self, word, depth):
            self.word, self.depth = word, depth

        def __getattr__(self, name):
            if name not in ("left", "right"):
                raise AttributeError(name)
            asked.append((name, self.word))
            child = Lazy((self.word * 2 + (name == "right")) % 8, self.depth - 1) if self.depth else None
            setattr(self, name, child)
            return child

    def encode(node):
        if node.left is None:
            return words[node.word]
        return terra.tanh(encode(node.left) - encode(node.right))
    return encode, lambda i: (Lazy(i % 8, i % 4),), asked


# ---- shared and cyclic structures ----

@recursive
def shared_parts():
    words = table()

    def encode(node):
        return words[node.word] if node.is_leaf else terra.tanh(encode(node.left) - 0.5 * encode(node.right))

    def args(i):
        a = tree(i, most=3)
        b = Node(None, a, a)
        return Node(None, b, Node(None, Node(i % 8), b) if i % 2 else a),
    return encode, args, None


@recursive
def shared_parts_remembered():
    words, visited = table(), []

    def encode(node, memo):
        if node not in memo:
            visited.append(node.word)
            if node.is_leaf:
                memo[node] = words[node.word]
            else:
                memo[node] = terra.tanh(encode(node.left, memo) - 0.5 * encode(node.right, memo))
        return memo[node]

    def args(i):
        a = tree(i, most=3)
        b = Node(None, a, a)
        memo = {} if i % 4 else {b: terra.ones(3) * i}
        return Node(None, b, Node(None, Node(i % 8), b)), memo
    return encode, args, visited


@recursive
def remembered_across_calls():
    words, memo, nodes = table(), {}, [tree(k) for k in range(4)]

    def encode(node):
        key = id(node)
        if key in memo:
            return memo[key]
        y = words[node.word] if node.is_leaf else terra.tanh(encode(node.left) - 0.5 * encode(node.right))
        memo[key] = y
        return y

    def args(i):
        if i % 6 == 5:
            memo.clear()
        return nodes[(i * 3) % 4],

    def f(node):
        return encode(node), len(memo)
    f.target = encode
    return f, args, None


@recursive
def numbers_that_meet_again():
    """A lattice, with overlapping sub-problems."""
    def paths(n, m, memo, x):
        if n == 0 or m == 0:
            return x * (n + m + 1)
        if (n, m) not in memo:
            memo[n, m] = terra.tanh(paths(n - 1, m, memo, x) * 0.5 + paths(n, m - 1, memo, x) * 0.25)
        return memo[n, m]
    return paths, lambda i: (2 + i % 5, 1 + i % 3, {} if i % 4 else {(1, 1): terra.zeros(3)}, table(1, 3, i)), None


@recursive
def a_cycle_under_a_low_limit():
    """As deep as the limit lets it. Under a frame hook calls go through C, and a cycle ends a call or so earlier."""
    words, visited = table(), []

    def encode(node):
        visited.append(node.word)
        return words[node.word] if node.is_leaf else terra.tanh(encode(node.left) - encode(node.right))

    def f(node):
        visited.clear()
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(220)
        try:
            return encode(node), len(visited)
        except RecursionError as error:
            return type(error), 150 < len(visited) < 220
        finally:
            sys.setrecursionlimit(limit)

    f.target = encode

    def args(i):
        root = tree(i)
        if i % 3 == 2:
            at = root
            while not at.is_leaf:
                at = at.left
            at.left, at.right = root, Node(1)
        return root,
    return f, args, None


@recursive
def chains_that_are_deep():
    words = table()

    def encode(node, depth):
        return words[node] if depth == 0 else terra.tanh(encode((node + depth) % 8, depth - 1) + words[node])
    return encode, lambda i: (i % 8, (i * 37) % 260), None


main()
