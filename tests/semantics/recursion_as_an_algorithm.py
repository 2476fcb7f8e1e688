# run: TERRA_EXACT=1
# run: TERRA_STRICT=1
# run: TERRA_STRICT=1 HARNESS_MODE=frame
# run: TERRA_BATCHES=off HARNESS_MODE=frame
# run: TERRA_EXACT=1 HARNESS_MODE=frame
# run: TERRA_EXACT=1 HARNESS_MODE=verify
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Recursive programs that are not networks over trees: sorting, parsing, search, numbers."""
import terra
from _harness import main
from _recursion import recursive, table


def row(i, n):
    return terra.sin(terra.arange(float(n)) * (1.7 + i) + i)


# ---- divide and conquer ----

@recursive
def quicksort_of_a_tensor():
    def quicksort(x):
        if x.numel() < 2:
            return x
        pivot, rest = x[0], x[1:]
        return terra.cat([quicksort(rest[rest < pivot]), x[:1], quicksort(rest[rest >= pivot])])
    return quicksort, lambda i: (row(i, 3 + i % 7),), None


@recursive
def quicksort_in_place():
    def quicksort(x, low, high):
        if low >= high:
            return
        pivot, at = x[high].item(), low
        for k in range(low, high):
            if x[k].item() < pivot:
                x[k], x[at] = x[at].clone(), x[k].clone()
                at += 1
        x[high], x[at] = x[at].clone(), x[high].clone()
        quicksort(x, low, at - 1)
        quicksort(x, at + 1, high)
    return quicksort, lambda i: (row(i, 2 + i % 6), 0, 1 + i % 6), None


@recursive
def merge_sort_of_rows():
    def merge(a, b):
        if not a or not b:
            return a or b
        first, second = (a, b) if a[0].sum() <= b[0].sum() else (b, a)
        return [first[0]] + merge(first[1:], second)

    def merge_sort(rows):
        if len(rows) < 2:
            return rows
        middle = len(rows) // 2
        return merge(merge_sort(rows[:middle]), merge_sort(rows[middle:]))
    return merge_sort, lambda i: (list(table(1 + i % 7, 2, i)),), None


@recursive
def fourier():
    def fft(x):
        n = x.shape[0]
        if n == 1:
            return x
        even, odd = fft(x[0::2]), fft(x[1::2])
        angles = terra.arange(float(n // 2)) * (-2 * 3.141592653589793 / n)
        cos, sin = terra.cos(angles), terra.sin(angles)
        turned = terra.stack([cos * odd[:, 0] - sin * odd[:, 1], cos * odd[:, 1] + sin * odd[:, 0]], 1)
        return terra.cat([even + turned, even - turned])
    return fft, lambda i: (terra.stack([row(i, 2 ** (i % 4)), terra.zeros(2 ** (i % 4))], 1),), None


@recursive
def strassen():
    def multiply(a, b):
        n = a.shape[0]
        if n <= 2:
            return a @ b
        h = n // 2
        a11, a12, a21, a22 = a[:h, :h], a[:h, h:], a[h:, :h], a[h:, h:]
        b11, b12, b21, b22 = b[:h, :h], b[:h, h:], b[h:, :h], b[h:, h:]
        p = multiply(a11 + a22, b11 + b22)
        q = multiply(a21 + a22, b11)
        r = multiply(a11, b12 - b22)
        s = multiply(a22, b21 - b11)
        t = multiply(a11 + a12, b22)
        u = multiply(a21 - a11, b11 + b12)
        v = multiply(a12 - a22, b21 + b22)
        return terra.cat([terra.cat([p + s - t + v, r + t], 1), terra.cat([q + s, p - q + r + u], 1)])

    def args(i):
        n = 2 ** (1 + i % 3)
        return table(n, n, i), table(n, n, 2)
    return multiply, args, None


@recursive
def adaptive_quadrature():
    """How deep it goes is decided by the numbers."""
    def f(x):
        return terra.sqrt(x) * terra.sin(3 * x)

    def integral(a, b, fa, fb, depth):
        middle = (a + b) / 2
        fm = f(middle)
        coarse, fine = (fa + fb) * (b - a) / 2, (fa + 2 * fm + fb) * (b - a) / 4
        if depth == 0 or (coarse - fine).abs() < 0.02:
            return fine, 1
        left, n = integral(a, middle, fa, fm, depth - 1)
        right, m = integral(middle, b, fm, fb, depth - 1)
        return left + right, n + m

    def args(i):
        a, b = terra.tensor(0.1 * i), terra.tensor(1.0 + i)
        return a, b, f(a), f(b), 5
    return integral, args, None


@recursive
def power_by_squaring():
    def power(x, n):
        if n == 0:
            return terra.eye(x.shape[0])
        half = power(x @ x, n // 2)
        return x @ half if n % 2 else half
    return power, lambda i: (table(2, 2, i), i % 9), None


@recursive
def determinant_by_minors():
    def determinant(m):
        n = m.shape[0]
        if n == 1:
            return m[0, 0]
        total = terra.zeros(())
        for k in range(n):
            minor = terra.cat([m[1:, :k], m[1:, k + 1:]], 1)
            total = total + (-1) ** k * m[0, k] * determinant(minor)
        return total
    return determinant, lambda i: (table(1 + i % 4, 1 + i % 4, i),), None


@recursive
def sums_in_pairs():
    def total(x):
        n = x.shape[0]
        return x[0] if n == 1 else total(x[:n // 2]) + total(x[n // 2:])
    return total, lambda i: (table(1 + i % 9, 2, i),), None


@recursive
def a_carpet():
    def carpet(n):
        if n == 0:
            return terra.ones(1, 1)
        small = carpet(n - 1)
        full = terra.cat([small] * 3, 1)
        return terra.cat([full, terra.cat([small, small * 0, small], 1), full])
    return carpet, lambda i: (i % 3,), None


# ---- numbers ----

@recursive
def fibonacci_remembered():
    def fib(n, memo, a, b):
        if n in memo:
            return memo[n]
        y = [a, b][n] if n < 2 else fib(n - 1, memo, a, b) + fib(n - 2, memo, a, b) * 0.5
        memo[n] = y
        return y
    return fib, lambda i: (i % 12, {} if i % 3 else {2: terra.ones(2) * i}, row(i, 2), row(i + 1, 2)), None


@recursive
def fibonacci_plain():
    def fib(n, x):
        return x if n < 2 else fib(n - 1, x) + fib(n - 2, x * 0.5)
    return fib, lambda i: (i % 7, row(i, 2)), None


@recursive
def numbers_without_tensors():
    def ackermann(m, n):
        if m == 0:
            return n + 1
        return ackermann(m - 1, 1) if n == 0 else ackermann(m - 1, ackermann(m, n - 1))

    def hanoi(n, a, b, c, moves):
        if n:
            hanoi(n - 1, a, c, b, moves)
            moves.append((a, c))
            hanoi(n - 1, b, a, c, moves)
        return moves

    def f(i, x):
        return x * ackermann(i % 3, i % 4), hanoi(i % 4, "a", "b", "c", [])
    f.target = ackermann
    return f, lambda i: (i, row(i, 2)), None


@recursive
def euclid_on_tensors():
    def gcd(a, b):
        return a if bool((b == 0).all()) else gcd(b, a.remainder(b))
    return gcd, lambda i: (terra.tensor(12 * (i + 1)), terra.tensor(18 + 3 * i)), None


@recursive
def newton_until_it_rests():
    def newton(x, target, steps=0):
        better = 0.5 * (x + target / x)
        return (better, steps) if (better - x).abs() < 1e-3 else newton(better, target, steps + 1)
    return newton, lambda i: (terra.tensor(1.0), terra.tensor(1.0 + 7 * i)), None


# ---- expressions and grammars ----

@recursive
def an_expression_evaluator():
    """Prefix trees with variables, let and if."""
    def evaluate(expression, scope):
        if isinstance(expression, (int, float)):
            return terra.full((2,), float(expression))
        if isinstance(expression, str):
            return scope[expression]
        op, *arguments = expression
        if op == "let":
            name, value, body = arguments
            return evaluate(body, {**scope, name: evaluate(value, scope)})
        if op == "if":
            test, yes, no = arguments
            return evaluate(yes if evaluate(test, scope).sum() > 0 else no, scope)
        values = [evaluate(argument, scope) for argument in arguments]
        return {"+": terra.add, "*": terra.mul, "tanh": terra.tanh, "-": terra.sub}[op](*values)

    programs = [
        ("+", "x", 2), ("*", ("+", "x", 1), ("tanh", "x")), ("let", "y", ("*", "x", "x"), ("-", "y", ("tanh", "y"))),
        ("if", ("-", "x", 1), ("*", "x", 2), ("let", "x", 3, ("+", "x", "x"))), ("+", "x", "nowhere"),
    ]  # fmt: skip
    return evaluate, lambda i: (programs[i % 5], {"x": row(i, 2)}), None


@recursive
def derivatives_of_expressions():
    def derivative(e):
        if e == "x":
            return 1
        if isinstance(e, (int, float)):
            return 0
        op, a, b = e
        if op == "+":
            return ("+", derivative(a), derivative(b))
        return ("+", ("*", derivative(a), b), ("*", a, derivative(b)))

    def evaluate(e, x):
        if e == "x":
            return x
        if isinstance(e, (int, float)):
            return terra.full_like(x, e)
        op, a, b = e
        return evaluate(a, x) + evaluate(b, x) if op == "+" else evaluate(a, x) * evaluate(b, x)

    expressions = ["x", ("*", "x", "x"), ("+", ("*", "x", 3), 1), ("*", ("+", "x", 2), ("*", "x", "x"))]

    def f(e, x):
        return evaluate(derivative(e), x)
    f.target = evaluate
    return f, lambda i: (expressions[(i * 3) % 4], row(i, 2)), None


@recursive
def a_recursive_descent_parser():
    """sum = product {+ product}, product = atom {* atom}, atom = name | ( sum ); values are tensors."""
    class Parser:
        def __init__(self, text, values):
            self.text, self.values, self.at = text, values, 0

        def peek(self):
            return self.text[self.at] if self.at < len(self.text) else ""

        def take(self, wanted=None):
            if wanted and self.peek() != wanted:
                raise SyntaxError(f"expected {wanted!r} at {self.at}, got {self.peek()!r}")
            self.at += 1
            return self.text[self.at - 1]

        def sum(self):
            y = self.product()
            while self.peek() == "+":
                self.take()
                y = y + self.product()
            return y

        def product(self):
            y = self.atom()
            while self.peek() == "*":
                self.take("*")
                y = y * self.atom()
            return y

        def atom(self):
            if self.peek() == "(":
                self.take()
                y = self.sum()
                self.take(")")
                return y
            return self.values[self.take()]

    texts = ["a", "a+b*a", "(a+b)*(a+b)", "((a))*b+a", "(a+b", "a*(b+(a*(b+a)))", "a+c"]

    def f(text, values):
        parser = Parser(text, values)
        return parser.sum(), parser.at
    return f, lambda i: (texts[i % 7], {"a": row(i, 2), "b": row(i + 1, 2)}), None


@recursive
def shift_and_reduce():
    """Builds a tree out of words and encodes it, one function for each nonterminal."""
    words = table()

    def phrase(tokens):
        token, *rest = tokens
        if token == "(":
            left, rest = phrase(rest)
            right, rest = phrase(rest)
            if rest[:1] != [")"]:
                raise ValueError(f"unclosed, {len(rest)} left")
            return terra.tanh(left - 0.5 * right), rest[1:]
        return words[int(token)], rest

    sentences = ["3", "( 1 2 )", "( ( 1 2 ) 3 )", "( 1 ( 2 ( 3 4 ) ) )", "( ( 5 6 ) ( 7 0 ) )", "( 1 2", "( 1 x )"]
    return phrase, lambda i: (sentences[i % 7].split(),), None


# ---- search ----

@recursive
def a_recursive_beam_search():
    transitions = table(5, 5)

    def extend(beams, steps, width):
        if steps == 0:
            return beams
        candidates = []
        for score, path in beams:
            scores = terra.log_softmax(transitions[path[-1]], 0)
            best, words = scores.topk(width)
            for value, word in zip(best, words.tolist()):
                candidates.append((score + value, path + [word]))
        candidates.sort(key=lambda pair: pair[0].item(), reverse=True)
        return extend(candidates[:width], steps - 1, width)

    def args(i):
        if i % 5 == 4:
            transitions.mul_(-0.9)
        return [(terra.zeros(()), [i % 5])], i % 4, 1 + i % 3
    return extend, args, transitions


@recursive
def depth_first_over_a_graph():
    edges = {0: [1, 2], 1: [2, 3], 2: [0], 3: [3, 4], 4: []}
    words = table()

    def visit(node, seen, h):
        if node in seen:
            return h
        seen.add(node)
        for neighbour in edges[node]:
            h = visit(neighbour, seen, terra.tanh(h + words[neighbour] * len(seen)))
        return h

    def args(i):
        edges[4] = [0] if i % 4 == 3 else []
        return i % 5, set(), terra.zeros(3)
    return visit, args, edges


@recursive
def all_orders():
    words = table()

    def orders(items):
        if not items:
            yield []
        for k, item in enumerate(items):
            for rest in orders(items[:k] + items[k + 1:]):
                yield [item, *rest]

    def f(items):
        best = None
        for order in orders(items):
            h = terra.zeros(3)
            for k in order:
                h = terra.tanh(h * 0.5 + words[k])
            best = h if best is None else terra.maximum(best, h)
        return best
    return f, lambda i: ([(i + k) % 8 for k in range(i % 4)],), None


@recursive
def minimax():
    values = table(8, 1)[:, 0]

    def play(state, depth, mine):
        if depth == 0:
            return values[state], 1
        moves = [play((state * 2 + k) % 8, depth - 1, not mine) for k in range(2)]
        scores = terra.stack([score for score, _ in moves])
        return (scores.max() if mine else scores.min()) * 0.9, sum(count for _, count in moves)
    return play, lambda i: (i % 8, i % 4, i % 2 == 0), None


@recursive
def flood_fill():
    def fill(grid, y, x, value):
        if not (0 <= y < grid.shape[0] and 0 <= x < grid.shape[1]) or grid[y, x] > 0:
            return 0
        grid[y, x] = value
        return 1 + sum(fill(grid, y + dy, x + dx, value) for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)))
    return fill, lambda i: (table(3, 4, i), i % 3, i % 4, 1.0 + i), None


@recursive
def a_tree_of_points():
    """Builds a k-d tree of tensors, then looks for the nearest point in it."""
    def build(points, axis=0):
        if len(points) == 0:
            return None
        points = points[points[:, axis].argsort()]
        middle = len(points) // 2
        return points[middle], axis, build(points[:middle], 1 - axis), build(points[middle + 1:], 1 - axis)

    def nearest(node, target, best=None):
        if node is None:
            return best
        point, axis, below, above = node
        if best is None or (point - target).norm() < (best - target).norm():
            best = point
        near, far = (below, above) if target[axis] < point[axis] else (above, below)
        best = nearest(near, target, best)
        if (target[axis] - point[axis]).abs() < (best - target).norm():
            best = nearest(far, target, best)
        return best

    def f(points, target):
        return nearest(build(points), target)
    f.target = nearest
    return f, lambda i: (table(1 + i % 6, 2, i), row(i + 2, 2)), None


main()
