"""What programs of the fuzzer are made of that changes between calls: a class with operators, protocols and descriptors,
functions with defaults, a module; and the ways in which a program changes them."""
import types

KNOWN = ("__len__", "__abs__", "__int__", "__hash__", "__index__", "__call__", "__getitem__", "__add__", "__radd__", "__iadd__",
         "__mul__", "__rmul__", "__sub__", "__rsub__", "__neg__", "__contains__", "__bool__", "__eq__", "__lt__", "__enter__",
         "__exit__", "__iter__", "__getattr__", "__format__", "meth", "noted", "memo", "k", "seen_by", "held")  # fmt: skip


def world():
    """Names of a program: the same in every run, objects of its own in each."""

    class Noted:
        """A getter of the program."""

        def __get__(s, ob, cls=None):
            return s if ob is None else ob.n % 5 + 1

    class Stored(Noted):
        def __set__(s, ob, value):
            ob.__dict__["held"] = value

    class Memo:
        """Hides itself behind what it has found."""

        def __get__(s, ob, cls=None):
            ob.__dict__["memo"] = value = ob.n % 3 + 1
            return value

    class Root:
        def __neg__(s):
            return s.n % 3

        def meth(s, x, m=2, *, q=1):
            return x * m - q

    class Middle(Root):
        k = 3

        @property
        def seen_by(s):
            return s.n % 4

    class Special(Middle):
        noted, memo, held = Noted(), Memo(), Stored()

        def __init__(s, n=1):
            s.n = n

        def __add__(s, x):
            return x * 0.5 + s.n % 3

        def __radd__(s, x):
            return x + s.k

        def __mul__(s, x):
            return x * 2 - 1

        def __len__(s):
            return s.n % 4 + 1

        def __getitem__(s, i):
            return [1, 2, 3, 4][i]  # an end for those who walk over it

        def __iter__(s):
            return iter([1, s.n % 3])

        def __contains__(s, v):
            return v % 2 == 1

        def __call__(s, x=1, *rest):
            return x

        def __abs__(s):
            return 3

        def __enter__(s):
            s.n += 1
            return s.n % 5

        def __exit__(s, kind, *rest):
            s.n -= 1
            return kind is KeyError

    class Another(Middle):
        def __add__(s, x):
            return x - 3

        def __len__(s):
            return 2

        def __getattr__(s, name):
            if name.startswith("__"):
                raise AttributeError(name)
            return 4

    def dflt(x, m=2):
        return x * m

    def named(x, *, m=2, q=1):
        return x * m + q

    def spread(*args):
        return args[0] * 2

    module = types.ModuleType("module")
    module.v, module.f = 2, lambda x: x + 1
    return {"ob": Special(), "Special": Special, "Middle": Middle, "Root": Root, "Another": Another, "dflt": dflt,
            "named": named, "spread": spread, "module": module, "Noted": Noted}  # fmt: skip


def mutate(r, space):
    """One change, by chance; what doesn't apply raises, in each run alike."""
    ob, classes = space["ob"], [space["Special"]] * 3 + [space["Middle"], space["Root"]]
    cls, n = r.choice(classes), r.randrange(2, 5)
    names = [name for name in vars(space["Special"]) if name in KNOWN]
    name = r.choice(names if names and r.random() < 0.7 else KNOWN)
    given = {"__len__": lambda s: n, "__hash__": lambda s: n, "__getitem__": lambda s, i: [n, 1, n][i], "__call__": lambda s, x=n, *a: x,
             "__contains__": lambda s, v: v > n, "__bool__": lambda s: n > 2, "__eq__": lambda s, o: n > 2, "__enter__": lambda s: n,
             "__exit__": lambda s, *e: True, "__iter__": lambda s: iter([n]), "__getattr__": lambda s, a: n if a[0] != "_" else s.__nothing__,
             "__format__": lambda s, w: "w" * n, "meth": lambda s, x, *a, **k: x + n, "k": n, "held": n, "__neg__": lambda s: n}.get(
                 name, lambda s, *o: (o[0] if o else 1) * n)  # fmt: skip
    if name in ("noted", "memo", "seen_by"):
        given = r.choice([n, property(lambda s: n), space["Noted"]()])
    function = space[r.choice(["dflt", "named", "spread"])]
    changes = [
        lambda: setattr(cls, name, given), lambda: setattr(cls, name, given), lambda: type.__setattr__(cls, name, given), lambda: delattr(cls, name),
        lambda: setattr(ob, name, given), lambda: vars(ob).update({name: n}), lambda: delattr(ob, name), lambda: vars(ob).pop("memo"),
        lambda: setattr(ob, "__class__", r.choice([space["Special"], space["Another"]])), lambda: setattr(ob, "n", n), lambda: vars(ob).pop(name),
        lambda: setattr(ob, "__dict__", dict(vars(ob))), lambda: setattr(space["Special"], "__bases__", (r.choice([space["Middle"], space["Root"], space["Another"]]),)),
        lambda: setattr(cls, "__getattribute__", lambda s, a: n if a == name else object.__getattribute__(s, a)), lambda: delattr(cls, "__getattribute__"),
        lambda: setattr(function, "__defaults__", r.choice([(n,), None, (n,) * 30])), lambda: setattr(function, "__kwdefaults__", r.choice([{"m": n}, {"q": n, "m": 1}, None])),
        lambda: setattr(function, "__code__", (lambda x, m=1: x - m).__code__), lambda: setattr(space["module"], "v", n),
        lambda: setattr(space["module"], "__getattr__", lambda a: n), lambda: delattr(space["module"], "v"),
        lambda: setattr(space["module"], "__class__", type("Kind", (types.ModuleType,), {"v": property(lambda s: n)})),
        lambda: setattr(space["module"], "f", lambda x: x * n), lambda: space.__setitem__("dflt", given if callable(given) else function),
        lambda: space.__setitem__("ob", space["Special"](n)), lambda: setattr(space["Noted"], "__get__", lambda s, o, c=None: n),
        lambda: setattr(space["Noted"], "__set__", lambda s, o, v: None), lambda: delattr(space["Noted"], "__set__"),
    ]  # fmt: skip
    try:
        r.choice(changes)()
    except Exception:
        pass


def expressions(s, d, plain):
    """Of tensors."""
    found = [
        lambda: f"(ob + {s.T(d+1)})", lambda: f"({s.T(d+1)} + ob)", lambda: f"(ob * {s.I(d+1)})", lambda: f"({s.T(d+1)} - ob)", lambda: f"(-ob * {s.T(d+1)})",
        lambda: f"ob({s.T(d+1)})", lambda: f"ob.meth({s.T(d+1)}, {s.I(d+1)})", lambda: f"sum([{s.T(d+1)}, ob])", lambda: f"(ob.noted * {s.T(d+1)})",
        lambda: f"(ob.memo + {s.T(d+1)})", lambda: f"dflt({s.T(d+1)})", lambda: f"named({s.T(d+1)}, q={s.I(d+1)})", lambda: f"named({s.T(d+1)})", lambda: f"spread({s.T(d+1)})",
        lambda: f"module.f({s.T(d+1)})", lambda: f"(module.v * {s.T(d+1)})", lambda: f"({s.T(d+1)} * (2 if ob else 3))", lambda: f"list(map(ob, [{s.T(d+1)}]))[0]",
    ]  # fmt: skip
    if not plain:
        found += [lambda: f"hooked({s.T(d+1)}, {s.I(d+1)})", lambda: f"with_data({s.T(d+1)}, {s.T(d+1)})"]
    return found


NUMBERS_OF_IT = ["len(ob)", "ob[1]", "ob.k", "ob.n", "ob.noted", "ob.memo", "ob.seen_by", "sum(ob)", "abs(ob)", "getattr(ob, 'zz', 2)", "module.v",
                 "getattr(module, 'none', 3)", "len(list(ob))", "len(f'{ob.n}')", "(1 if ob == 2 else 2)", "dflt(2)", "spread(3, 4)", "named(1)", "len(vars(ob))"]  # fmt: skip
CONDITIONS = ["ob", "1 in ob", "not ob", "isinstance(ob, Middle)", "hasattr(ob, 'held')", "ob == 1", "type(ob) is Special", "hasattr(module, 'v')", "ob < ob", "ob in [ob, 1]"]


def statements(s, p, ind, d):
    r = s.r
    found = [
        lambda: f"{p}ob.n = {s.I()} % 9\n", lambda: f"{p}ob.held = {s.I()}\n", lambda: f"{p}out.append(ob.held)\n", lambda: f"{p}y0 = ob; y0 {r.choice('+*-')}= {s.T()}; out.append(y0)\n",
        lambda: f"{p}vars(ob).pop('memo', None)\n", lambda: f"{p}ob.__dict__['memo'] = {s.I()}\n", lambda: f"{p}out.append(f'{{ob.n:>3}}')\n", lambda: f"{p}out.append(Special({s.I()}) + {s.T()})\n",
        lambda: f"{p}for j{ind} in ob: t0 = t0 + j{ind}\n", lambda: f"{p}a, *b = ob; out.append(b)\n", lambda: f"{p}module.v = {s.I()} % 4\n",
    ]  # fmt: skip
    if d < 2:
        found += [lambda: f"{p}with ob as i0:\n{s.block(ind+1, d+1)}", lambda: f"{p}with ob:\n{s.block(ind+1, d+1)}{p}  t1 = t1 * d['zz']\n"]
    return found
