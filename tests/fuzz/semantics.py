"""Random programs, plain against captured: terra-run tests/fuzz/semantics.py [SEED [COUNT]] [-v] [--plain]

Each program is called eight times with arguments that alias, change and grow; results, arguments and all reachable
state are compared after every call. --plain: numbers take the place of tensors."""
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "semantics"))
import _terra_C as C  # noqa: E402
from _harness import look  # noqa: E402

PLAIN = "--plain" in sys.argv
if not PLAIN:
    import terra


def make(n):
    return n + 0.5 if PLAIN else terra.arange(4.0).view(2, 2) * 0.1 + n


class Obj:
    k = 2

    def __init__(s, t, n):
        s.t, s.n, s.l, s.d, s.flag = t, n, [t, t * 2], {"a": t, "n": n}, True

    def meth(s, x, m=1, *r, z=3):
        s.n += m
        return x * z + s.t

    @property
    def prop(s):
        return s.t * s.k

    def __call__(s, x):
        return s.meth(x, 2)


class Ctx:
    def __init__(s, o):
        s.o = o

    def __enter__(s):
        s.o.n += 1
        return s.o

    def __exit__(s, *a):
        s.o.n -= 1
        return a[0] is KeyError


def helper(x, n=2, *a, **k):
    return x * n + (a[0] if a else 0) - k.get("q", 1)


def gen(xs, n):
    for x in xs:
        yield x * n


class Writer:
    """A grammar: T, I, F, L, C make expressions of tensors, ints, numbers, lists, conditions; statements use them."""

    def __init__(s, r):
        s.r = r

    def T(s, d=0):
        simple = ["t0", "t1", "o.t", "p.t"]
        if d >= 3:
            return s.r.choice(simple)
        deeper = [
            lambda: f"({s.T(d+1)} + {s.T(d+1)})", lambda: f"({s.T(d+1)} * {s.I(d+1)})", lambda: f"(-{s.T(d+1)})",
            lambda: f"({s.T(d+1)} - {s.F(d+1)})", lambda: f"o.meth({s.T(d+1)}, {s.I(d+1)})",
            lambda: f"{s.L()}[{s.r.randrange(2)}]", lambda: f"p({s.T(d+1)})", lambda: "o.prop",
            lambda: f"helper({s.T(d+1)}, {s.I(d+1)})",
            lambda: f"helper({s.T(d+1)}, *({s.I(d+1)}, {s.I(d+1)}), q={s.I(d+1)})",
            lambda: f"sum((e * {s.I(d+1)} for e in {s.L()}), {s.T(d+1)})",
            lambda: f"(lambda q, w={s.I(d+1)}: q * w + {s.T(d+1)})({s.T(d+1)})",
            lambda: f"[e + {s.T(d+1)} for e in {s.L()}][-1]",
        ]  # fmt: skip
        return s.r.choice(simple + [f() for f in s.r.sample(deeper, 4)])

    def I(s, d=0):
        simple = ["1", "2", "n", "i0", "o.n", "p.n", "o.k", "d['n']", "len(o.l)", "len(xs)", "getattr(p, 'n')"]
        if d < 3:
            simple += [f"({s.I(d+1)} + {s.I(d+1)})", f"({s.I(d+1)} % 5)", f"max({s.I(d+1)}, {s.I(d+1)})",
                       f"abs({s.I(d+1)} - 3)"]  # fmt: skip
        return s.r.choice(simple)

    def F(s, d=0):
        return s.r.choice([s.I(d), "0.5", "x0"] + ([] if PLAIN else ["(int(o.t.sum().item()) % 3)"]))

    def L(s):
        return s.r.choice(["xs", "o.l", "[t0, t1]", "(t1, o.t)", "p.l"])

    def C(s):
        truth = f"{s.T(2)} > {s.I()}" if PLAIN else f"{s.T(2)}.sum() > {s.I()}"
        return s.r.choice([f"{s.I()} > {s.I()}", truth, "o.flag", "o is p", "t0 is t1" if not PLAIN else "o is not p", "n",
                           "'a' in d", f"{s.I()} == {s.I()} and not p.flag", "xs", f"'z{s.r.randrange(2)}' in o.d"])  # fmt: skip

    def block(s, ind, d):
        return "".join(s.statement(ind, d) for _ in range(s.r.randrange(1, 4)))

    def statement(s, ind, d):
        r, p = s.r, "  " * ind
        small = "" if PLAIN else ".tanh()"
        options = [
            lambda: f"{p}t{r.randrange(2)} = {s.T()}\n", lambda: f"{p}i0 = {s.I()} % 7\n",
            lambda: f"{p}o.n = {s.I()} % 9\n", lambda: f"{p}p.n += 1\n", lambda: f"{p}o.t = ({s.T()}){small}\n",
            lambda: f"{p}d['{r.choice('abc')}'] = {s.T()}\n", lambda: f"{p}o.l[{r.randrange(2)}] = ({s.T()}){small}\n",
            lambda: f"{p}out.append({s.T()})\n", lambda: f"{p}log.append({s.I()})\n",
            lambda: f"{p}o.d['z{r.randrange(2)}'] = {s.I()}\n", lambda: f"{p}x0 = {s.F()} * 0.5\n",
            lambda: f"{p}t0, t1 = t1, {s.T()}\n", lambda: f"{p}p.flag = bool({s.C()})\n",
            lambda: f"{p}out.insert(0, {s.I()})\n", lambda: f"{p}if out: log.append(len(out))\n",
            lambda: f"{p}s = f'{{{s.I()}}}'; out.append(s)\n",
        ]  # fmt: skip
        if not PLAIN:
            options += [lambda: f"{p}t0 = t0.clone(); t0.mul_({s.F()})\n", lambda: f"{p}t1 = t1 + 0; t1 += {s.T()}\n"]
        if d < 2:
            options += [
                lambda: f"{p}if {s.C()}:\n{s.block(ind+1, d+1)}{p}else:\n{s.block(ind+1, d+1)}",
                lambda: f"{p}for j{d} in range({r.choice(['2', '3', 'n % 3'])}):\n{s.block(ind+1, d+1)}",
                lambda: f"{p}for i0, t0 in enumerate({s.L()}):\n{s.block(ind+1, d+1)}",
                lambda: f"{p}for t1, i0 in zip({s.L()}, [1, n]):\n{s.block(ind+1, d+1)}",
                lambda: f"{p}w{ind} = 0\n{p}while w{ind} < n + 1:\n{s.block(ind+1, d+1)}{p}  w{ind} += 1\n",
                lambda: f"{p}try:\n{s.block(ind+1, d+1)}{p}  t0 = t0 * d['{r.choice(['n', 'zz'])}']\n"
                        f"{p}except KeyError as e:\n{s.block(ind+1, d+1)}",
                lambda: f"{p}with Ctx(o) as w:\n{s.block(ind+1, d+1)}",
                lambda: f"{p}for t1 in gen({s.L()}, {s.I()}):\n{s.block(ind+1, d+1)}",
                lambda: f"{p}if {s.C()}: return t0, i0, out\n",
                lambda: f"{p}def inner(q):\n{p}  nonlocal i0\n{p}  i0 = (i0 + 1) % 5\n{p}  return q * i0 + t1\n"
                        f"{p}t0 = inner({s.T()})\n",
            ]  # fmt: skip
        return r.choice(options)()

    def program(s):
        body = "".join(s.statement(1, 0) for _ in range(s.r.randrange(3, 8)))
        return f"def f(o, p, t0, t1, n, d, xs, log):\n  i0 = 1; x0 = 0.5; out = []\n{body}  return t0, t1, i0, x0, out, d\n"


def transcript(f, seed, mode):
    r = random.Random(seed)
    o, p, log, lines = Obj(make(1), 1), Obj(make(2), 2), [], []
    for i in range(8):
        t = make(i % 3)
        a = [o, o if r.random() < .2 else p, t, t if r.random() < .2 else make(1), r.choice([1, 1, 2]),
             {"a": make(1), "n": r.choice([1, 2])}, [make(0), make(1)], log]  # fmt: skip
        if r.random() < .15:
            o.flag = not o.flag
        if r.random() < .1:
            p = Obj(make(3), 3)
            a[1] = p
        if r.random() < .1:
            Obj.k = 3 - Obj.k
        C.capture_mode(mode)
        try:
            value = f(*a)
        except Exception as error:
            value = error
        finally:
            C.capture_mode("off")
        lines.append(look((value, o, p, a[2:], list(log))))
        for q in (o, p):
            if not -10**6 < q.n < 10**6:
                q.n = 1
            if PLAIN and not abs(q.t) < 1e9:
                q.t = 1.5
    return lines


def main():
    numbers = [int(a) for a in sys.argv[1:] if a.lstrip("-").isdigit()]
    seed, count = (numbers + [0, 200])[:2] if len(numbers) != 1 else (numbers[0], 1)
    different, invalid, hits, recordings, reasons = 0, 0, 0, 0, {}
    for number in range(seed, seed + count):
        source, lines = Writer(random.Random(number)).program(), []
        for mode in ("off", "stress"):
            Obj.k = 2
            space = dict(globals())
            try:
                exec(compile(source, f"<{number}>", "exec"), space)
            except SyntaxError:
                invalid += 1
                break
            lines.append(transcript(space["f"], number, mode))
        if len(lines) < 2:
            continue
        frame = C.capture_frame(space["f"])
        hits += frame["hits"]
        recordings += frame["recordings"]
        if not frame["entries"] and frame["reason"]:
            reasons[frame["why"][:90]] = reasons.get(frame["why"][:90], 0) + 1
        if lines[0] != lines[1]:
            different += 1
            call = [a == b for a, b in zip(*lines)].index(False)
            print(f"DIFFERENT: seed {number}, call {call}")
            if "-v" in sys.argv:
                print(source, lines[0][call], lines[1][call], C.capture_explain(space["f"]), sep="\n")
    for why, times in sorted(reasons.items(), key=lambda item: -item[1])[:12]:
        print(f"  {times:5d}  {why}")
    print(f"{count - invalid} programs, {recordings} recordings, {hits} replays, {different} different")
    sys.exit(bool(different) or not hits)


if __name__ == "__main__":
    main()
