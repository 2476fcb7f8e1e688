# run: TERRA_EXACT=1
# run: TERRA_EXACT=1 TERRA_CHAOS=guard=*@3
"""Lists, tuples, dicts, sets, deques and the classes of collections: what a frame reads, writes and makes."""
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple

import terra
from _harness import Bag, main, program


def t(i, n=3):
    return terra.arange(float(n)) + i


class Node:
    def __init__(self, value, *children):
        self.value, self.children = value, children


# ---- results of tensor operations that are tuples ----


@program(calls=12, captures=8)
def named_results():
    def f(x):
        top = x.max(1)
        values, order = x.sort(dim=1, descending=True)
        best = terra.topk(x, 2, dim=1)
        return top.values * 2, top[1], values - top.values.unsqueeze(1), order, best.indices, best.values.sum()
    return f, lambda i: ((t(i, 6) * (-1) ** i).view(2, 3),), None


@program(calls=12, captures=8)
def named_result_escapes():
    def f(x):
        pair = x.min(0)
        return pair, pair.values + 1
    return f, lambda i: ((t(i, 6) * (-1) ** i).view(2, 3),), None


@program(calls=12, captures=8)
def pieces():
    def f(x):
        a, b = x.chunk(2)
        rows = x.unbind(0)
        first, *others = x.split(1)
        spread, mean = terra.std_mean(x)
        return a - b, rows[1] * 2, len(others), first + spread, mean
    return f, lambda i: (t(i, 8).view(4, 2),), None


# ---- lists ----


@program(calls=12, captures=8)
def list_grows_and_shrinks():
    o = Bag(l=[])
    def f(o, x, n):
        work = [x, x + 1]
        work.extend([x * 2, x * 3])
        work.insert(1, x - n)
        last = work.pop()
        first = work.pop(0)
        del work[0]
        work[0] = work[0] + last
        work.reverse()
        o.l = work
        return first, len(work), sum(work)
    return f, lambda i: (o, t(i), i), o


@program(calls=12, captures=8)
def list_slices():
    def f(xs, x):
        head, tail = xs[:2], xs[-2:]
        every = xs[::2]
        copy = xs[:]
        copy[1:3] = [x]
        del copy[:1]
        return head[0] + tail[1], len(every), copy, copy is xs
    return f, lambda i: ([t(i), t(i + 1), t(i + 2), t(i + 3)], t(9)), None


@program(calls=12, captures=6)
def slices_of_an_outside_list():
    def f(xs, x):
        xs[1:3] = [x * 2, x * 3, x * 4]
        del xs[0]
        return xs[0] + x
    return f, lambda i: ([t(i), t(i + 1), t(i + 2), t(i + 3)], t(i)), None


@program(calls=12, captures=6)
def list_sort():
    def f(xs, ns, x):
        ns.sort()
        xs.sort(key=lambda p: -p[0])
        return x * ns[0] + xs[0][1], [p[0] for p in xs]
    def args(i):
        return [(1, t(i)), (3, t(i + 1)), (2, t(i + 2))], [3, 1 + i // 6, 2], t(i)
    return f, args, None


@program(calls=12, captures=6)
def list_search():
    def f(xs, x, name):
        at = xs.index(name)
        n = xs.count(name)
        xs.remove(name)
        return x * at + n, name in xs, xs
    return f, lambda i: (["a", "b", "c", "b"], t(i), "abc"[i // 4]), None


@program(calls=12, captures=6)
def list_operators():
    def f(a, b, x, n):
        c = a + b
        c += [x]
        d = [n] * 3
        return c[0] + c[-1], d, a == b, [1, n] < [1, 3], (n, 2) >= (1, 5), c != d
    return f, lambda i: ([t(i)], [t(i + 1), t(i + 2)], t(i), i % 4), None


@program(calls=12, captures=8)
def tensors_in_a_list_by_identity():
    def f(xs, x, y):
        found = 0
        for k, e in enumerate(xs):
            if e is y:
                found = k + 1
        return x * found
    def args(i):
        xs = [t(i), t(i + 1)]
        return xs, t(1), xs[i // 6]
    return f, args, None


@program(calls=12, captures=8)
def objects_in_a_list():
    a, b = Node(1), Node(2)
    def f(seen, node, x):
        if node in seen:
            return x * 2
        return x + seen.index(seen[0])
    return f, lambda i: ([a] if i < 6 else [a, b], b, t(i)), None


@program(calls=12, captures=8)
def append_to_outside_list():
    o = Bag(history=[])
    def f(o, x):
        o.history.append(x.sum())
        o.history.extend([x, x * 2])
        if len(o.history) > 3:
            o.history.pop(0)
            o.history.clear()
        return x * 2
    return f, lambda i: (o, t(i)), o


# ---- dicts ----


@program(calls=12, captures=8)
def dict_writes():
    d = {"a": t(0), "n": 1}
    def f(d, x):
        d["a"] = d["a"] + x
        d.update(b=x * 2, c=x * 3)
        d |= {"e": x}
        gone = d.pop("c")
        d.setdefault("f", x * 7)
        none = d.pop("missing", None)
        del d["e"]
        return gone, none, d.get("zz"), d.get("zz", 5), list(d)
    return f, lambda i: (d, t(i)), d


@program(calls=12, captures=8)
def dict_merge():
    def f(a, b, x):
        c = a | b | {"k": x}
        e = {**a, "z": x * 2, **b}
        return c, e, list(c.items())[0][0], c == e, "k" in c, len(e)
    return f, lambda i: ({"a": t(i), "n": 3}, {"b": t(i + 1), "a": t(i + 2)}, t(i)), None


@program(calls=12, captures=8)
def dict_popitem():
    def f(d, x):
        key, value = d.popitem()
        mine = dict(a=x, b=x * 2)
        last, tensor = mine.popitem()
        d.clear()
        d[last] = tensor
        return value * 2, key, last, mine
    return f, lambda i: ({"a": t(i), "b": t(i + 1)}, t(i)), None


@program(calls=12, captures=8)
def dict_of_tuples():
    def f(d, x, n):
        d[(1, n)] = x * 2
        d[n, "s"] = n
        if (1, 5) in d:
            d[(1, 5)] = x
        return d[(1, n)] + 1, d.get((2, n)), d
    return f, lambda i: ({(1, 5): t(i)}, t(i), i // 6), None


@program(calls=12, captures=8)
def dict_by_object():
    a, b = Node(1.0), Node(2.0)
    memo = {}
    def f(memo, a, b, x):
        if a not in memo:
            memo[a] = x * a.value
        memo[b] = memo[a] + b.value
        return memo[b], memo.get(b), memo.get(memo[a])
    return f, lambda i: (memo, a, b, t(i)), [memo, a, b]


@program(calls=12, captures=7)
def fresh_memo_by_object():
    shared = Node(3.0)
    def visit(node, x, memo):
        if node in memo:
            return memo[node]
        value = x * node.value
        for child in node.children:
            value = value + visit(child, x, memo)
        memo[node] = value
        return value
    def f(root, x):
        memo = {}
        return visit(root, x, memo), len(memo)
    def args(i):
        if i > 7:
            return Node(1.0 + i, shared, shared), t(i)
        return Node(1.0 + i, shared, Node(2.0, shared)), t(i)
    return f, args, None


@program(calls=12, captures=8)
def dict_by_tensor():
    p, q = t(1), t(2)
    state = {}
    def f(state, p, q, x):
        for w in (p, q):
            if w not in state:
                state[w] = {"step": 0, "sum": terra.zeros(3)}
            s = state[w]
            s["step"] += 1
            s["sum"] = s["sum"] + x * w
        return state[p]["sum"] + state[q]["sum"]
    return f, lambda i: (state, p, q, t(i)), [state, p, q]


@program(calls=12, captures=8)
def dict_by_class():
    class A:
        pass
    class B(A):
        pass
    def f(table, o, x):
        return table[type(o)](x), type(o) in table, table.get(int)
    table = {A: lambda x: x * 2, B: lambda x: x * 3}
    return f, lambda i: (table, A() if i < 6 else B(), t(i)), None


@program(calls=12, captures=8)
def dict_iteration():
    def f(d, x):
        total = x
        for name, value in d.items():
            total = total + value * len(name)
        for k in d:
            total = total - d[k]
        return total, sorted(d), max(d.values(), key=lambda v: 1), {k: v * 2 for k, v in d.items()}
    return f, lambda i: ({"a": t(i), "bb": t(i + 1)} if i < 6 else {"bb": t(1), "c": t(2), "a": t(3)}, t(i)), None


@program(calls=12, captures=8)
def dict_int_and_float_keys():
    def f(d, x, n):
        d[n % 2] = x
        d[1.0] = x * 2
        return d.get(True), len(d), d
    return f, lambda i: ({0: 1, 1: 2}, t(i), i // 6), None


# ---- sets ----


@program(calls=12, captures=8)
def set_of_names():
    def f(s, x, name):
        mine = {"a", "b"}
        mine.add(name)
        mine.discard("a")
        both = mine & s
        s.add(name)
        s.discard("zz")
        return x * len(mine | s), sorted(both), name in s, sorted(mine - {"b"}), mine == {"b", name}
    return f, lambda i: ({"b", "c"}, t(i), "abc"[i // 4]), None


@program(calls=12, captures=6)
def set_of_numbers():
    def f(s, x):
        total = 0
        for n in s:
            total += n
        s |= {total}
        s.update([1, 2])
        s.remove(1)
        return x * total, frozenset((1, 2)) <= s, {n * 2 for n in sorted(s)}
    return f, lambda i: ({3, 5} if i < 6 else {4, 5, 6}, t(i)), None


@program(calls=12, captures=8)
def visited_objects():
    a, b = Node(1.0), Node(2.0)
    def f(nodes, x):
        seen = set()
        for node in nodes:
            if node in seen:
                x = x * 10
                continue
            seen.add(node)
            x = x + node.value
        return x, len(seen)
    return f, lambda i: ([a, b, a] if i < 6 else [b, b, a], t(i)), None


@program(calls=12, captures=8)
def outside_set_of_objects():
    a, b = Node(1.0), Node(2.0)
    done = set()
    def f(done, node, x):
        if node not in done:
            done.add(node)
            return x * 2
        return x + len(done)
    return f, lambda i: (done, a if i % 5 else b, t(i)), None


# ---- deque and the dict classes ----


@program(calls=12, captures=8)
def deque_window():
    o = Bag(q=deque(maxlen=3))
    def f(o, x):
        o.q.append(x * 2)
        return sum(o.q), len(o.q), o.q[0], o.q[-1]
    return f, lambda i: (o, t(i)), o


@program(calls=12, captures=8)
def deque_queue():
    def f(x):
        q = deque([x, x + 1])
        q.appendleft(x * 3)
        a = q.popleft()
        q.append(a - 1)
        q.extend([x])
        q.rotate(1)
        out = []
        while q:
            out.append(q.pop())
        return out, len(q)
    return f, lambda i: (t(i),), None


@program(calls=12, captures=8)
def breadth_first():
    leaf = Node(5.0)
    def f(root, x):
        queue = deque([root])
        while queue:
            node = queue.popleft()
            x = x * 0.5 + node.value
            queue.extend(node.children)
        return x
    return f, lambda i: (Node(i, leaf, Node(2.0, leaf)) if i < 8 else Node(i), t(i)), None


@program(calls=12, captures=5)
def default_dict():
    o = Bag(d=defaultdict(list), n=defaultdict(int))
    def f(o, x, name):
        o.d[name].append(x)
        o.n[name] += 1
        mine = defaultdict(lambda: x * 2)
        groups = defaultdict(list)
        groups["a"].append(x)
        groups["a"].append(x + 1)
        return mine["q"] + mine["q"], dict(groups), len(mine), o.d.get("zz")
    return f, lambda i: (o, t(i), "ab"[i // 6]), o


@program(calls=12, captures=8)
def ordered_dict():
    def f(x, d):
        mine = OrderedDict()
        mine["a"] = x
        mine["b"] = x * 2
        mine.move_to_end("a")
        d["z"] = mine["a"]
        return list(mine), mine, d.get("k"), list(d)
    return f, lambda i: (t(i), OrderedDict(k=t(i + 1))), None


@program(calls=12, captures=6)
def counter():
    def f(x, c, name):
        c[name] += 1
        return x * c[name], c["never"], len(c)
    return f, lambda i: (t(i), Counter("abca"), "ab"[i // 6]), None


# ---- tuples with names ----

Point = namedtuple("Point", "x y scale", defaults=[2.0])


@program(calls=12, captures=8)
def namedtuple_made_and_read():
    def f(p, t0):
        q = Point(t0, y=p.x)
        r = p._replace(scale=3.0)
        a, b, s = q
        return q, a * s + b, r.scale, q[1] is p.x, len(r), p._fields, q.scale
    return f, lambda i: (Point(t(i), t(i + 1)), t(i)), None


@program(calls=12, captures=8)
def tuple_methods():
    def f(pair, x, n):
        a, (b, c) = pair
        s = (1, 2, n)
        return a + b, c, s.index(n), s.count(2), s + (x,), s == (1, 2, 3), n in s
    return f, lambda i: ((t(i), (t(i + 1), "s")), t(i), 1 + i // 4), None


@program(calls=12, captures=0)
def what_zip_leaves():
    def f(x, xs, ys):
        plain, numbered, backwards = iter(xs), iter(xs), reversed(xs)
        for a, b in zip(plain, ys):
            x = x * a + b
        for (_, a), b in zip(enumerate(numbered), ys):
            x = x * a + b
        for a, b in zip(backwards, ys):
            x = x * a + b
        return x + next(plain), x + next(numbered), next(backwards, None)
    return f, lambda i: (t(i), [1, 1, 1, 1, 1] if i < 4 else [1, i, 1, i, 1], [2, 3]), None


@program(calls=12, captures=4)
def pairs_of_one_iterator():
    def f(x, xs):
        each = iter(xs)
        return [x * a + b for a, b in zip(each, each)]
    return f, lambda i: (t(i), [1, i, 3, 4]), None


@program(calls=12, captures=0)
def named_iterables():
    def f(x, xs):
        last = deque(iterable=xs, maxlen=3)
        return x * len(last), list(last), [x * n + a for n, a in enumerate(iterable=xs)]
    return f, lambda i: (t(i), list(range(i % 4 + 1))), None


@program(calls=12, captures=2)
def removed_by_value():
    def f(x, xs):
        xs.remove(xs[0])
        return x * xs[0], xs.copy()
    lists = [[1, 2, 3], [1, 2, 3], [5, 5, 6], [1, 2, 3], [4, 4, 5], [7, 8, 9]]
    return f, lambda i: (t(i), list(lists[i % 6])), None


@program(calls=8, captures=4)
def keys_asked_for_by_equal_ones():
    d, s = {1: "one", 2: "two"}, {1, 2}
    def f(x):
        return x * 2, d.get(1.0), True in d, {**d, "z": 3}, list(d), True in s, sorted(s)
    return f, lambda i: (t(i),), None


@program(calls=16, captures=6)
def order_of_an_ordered_dict_changes_between_calls():
    o, a, b = Bag(), Bag(n=1), Bag(n=2)
    o.named, o.same, o.keyed = OrderedDict(a=1, b=2, c=3), OrderedDict(a=1, b=2, c=3), OrderedDict([(a, 1), (b, 2)])
    def f(x):
        return x * o.named["a"], [*o.named], o.named == o.same, {**o.named}, [key.n for key in o.keyed]
    def args(i):
        if i in (6, 10):
            o.named.move_to_end("a" if i == 6 else "b")
        if i == 8:
            o.keyed.move_to_end(a)
        return t(i),
    return f, args, None


@program(calls=12, captures=6)
def removed_by_what_changes_afterwards():
    def f(x, xs, q):
        mine = [1]
        xs.remove(mine)
        mine.append(2)
        q.append(mine)
        other = [1, 2]
        q.remove(other)
        other.append(3)
        xs.append(other)
        xs.remove([1])
        other.append(4)
        return x * len(xs), xs[0]
    return f, lambda i: (t(i), [[0], [1], [2], [1], 5], deque([[0]])), None


@program(calls=12, captures=6)
def removed_from_lists_with_equal_ones():
    def f(x, xs, y):
        mine = [y]
        kept = [7]
        xs += [kept, mine, 5, kept]
        xs.remove(mine)
        xs.remove(kept)
        xs.remove(5)
        kept.append(x)
        return xs
    def args(i):
        one = [i % 2]
        return t(i), [[7], [0], one, [1], 5.0], i % 2
    return f, args, None


@program(calls=14, captures=5)
def where_keys_lie_after_methods_of_sets():
    """Nothing tells it but the order in which others find the keys later."""
    kept, seen = [], []
    def f(x, cut, emptied, less, more, other, words, k):
        cut.intersection_update(other, [1, 16, 24, 8, 40])
        emptied.clear()
        less.difference_update(other, [64, 32])
        mine = {24: 1, 16: 2, 40: 3}
        more.update(mine, [48, 8], words, {k, 41, k + 8})
        mine[99] = 4
        return x * len(less)
    def args(i):
        for s in kept:
            s.update([64, 8, 16, 1])
            seen.append([*s])
        kept[:] = [set(range(100)) for _ in range(3)] + [{0, 8}]
        return t(i), *kept, {8, 1, 16, 24, 32}, {57: 1, 49: 2}, 33
    return f, args, seen


@program(calls=12, captures=6)
def where_keys_lie_in_sets_that_leave():
    kept, seen = [], []
    def f(x, a, b):
        made = {a, b}
        return x * 2, made, frozenset([b, a]), [*made]
    def args(i):
        for s in kept:
            seen.append([*s[1]] + [*s[2]])
        return t(i), 3, 11
    f_kept = f
    def target(*given):
        kept[:] = [f_kept(*given)]
        return kept[0]
    target.target = f
    return target, args, seen


@program(calls=12, captures=None)
def a_set_that_was_larger():
    """Its table still is, which decides where keys lie that others put into it."""
    kept, seen = [], []
    def f(x, s):
        return x * 2, s ^ s
    def args(i):
        for s in kept:
            s.update([64, 8, 32, 1, 40])
            seen.append([*s])
        return t(i), set(range(100))
    def target(*given):
        kept[:] = f(*given)[1:]
    target.target = f
    return target, args, seen



@program(calls=14, captures=6)
def same_order_and_other_places():
    """3 and 131 come in this order whichever was put in first, but lie elsewhere."""
    def f(x, s):
        more = s | {0}
        s.add(0)
        return x * 2, [*s], [*more]
    def args(i):
        s = set()
        for key in (131, 3) if 5 < i < 9 else (3, 131):
            s.add(key)
        return t(i), s
    return f, args, None


class Text:
    def __repr__(self):
        return "text"


@program(calls=20, captures=4)
def texts_of_containers():
    """f"{value}" of what holds other things, which change from call to call."""
    def f(x, s):
        return f"{x.shape} {tuple(x.shape)}", f"{s.numbers} {s.names!r:>20}", "%s of %s" % (s.pair, x.dtype), x * 2

    def given(i):
        s.numbers[0] = i // 4
        s.pair = (i // 5, "a" if i < 9 else "b")
        if i == 7:
            s.names["more"] = [1.5, None]
        if i == 13:
            s.names["more"].append(Text())
        if i == 15:
            s.names["more"].pop()
        return t(i, 3 + i // 6), s
    s = Bag(numbers=[0, 1], names={"x": 1}, pair=(0, "a"))
    return f, given, s


@program(calls=12, captures=0)
def texts_of_tensors_in_containers():
    def f(x, s):
        return f"{[x]}", f"{(x, 1)!r}", x * 2
    return f, lambda i: (t(i), None), None


@program(calls=12, captures=0)
def texts_of_objects_in_containers():
    def f(x, s):
        return f"{s}" == str(s), f"{[object()]}" != "", x + 1
    s = [object(), Bag(a=1)]
    return f, lambda i: (t(i), s), None


if __name__ == "__main__":
    main()
