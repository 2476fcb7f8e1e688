"""Calls of C callables that a recording understands: at least one for each row of the tables of call models. What they are
called by, what they are given and what that holds is made something else between calls."""
import builtins
import functools

from _mutators import Attribute, Items, Keys, Method, Name

# Statements of f(x, n); x is a tensor, n a number that differs between calls, and the rest is in SOURCE below.
CALLS = {
    "generator.send": "g = echo(); next(g); return g.send(x) * n",
    "generator.throw": "g = echo(); next(g)\n  try: g.throw(KeyError(n))\n  except KeyError as e: return x * e.args[0]",
    "generator.close": "g = echo(); next(g); g.close(); return x * n",
    "generator.__next__": "return echo().__next__() * x",
    "BaseException.__init__": "try: raise Failure(n)\n  except Failure as e: return x * e.args[0]",
    "Exception.__init__": "try: raise Failure(n)\n  except Exception as e: return x * e.args[0]",
    "_collections._count_elements": "return x * collections.Counter([1, 2, 1, n])[1]",
    "dict.__init__": "return x * Table(a=n, b=2)['a']",
    "dict.get": "return x * d.get('a', 7) + d.get('zz', n)",
    "dict.setdefault": "return x * d.setdefault('a', 9) + mine.setdefault('k', n)",
    "dict.pop": "d['p'] = n; return x * d.pop('p') + d.pop('q', 3)",
    "dict.__contains__": "return x * (2 if d.__contains__('a') else 3)",
    "dict.items": "return x * sum(v for k, v in d.items()) + len(d.items())",
    "dict.keys": "return x * len([k for k in d.keys()]) + ('a' in d.keys())",
    "dict.values": "return x * sum(d.values())",
    "dict.copy": "return x * d.copy()['a']",
    "dict.clear": "e = dict(d); e.clear(); mine.clear(); return x * len(e)",
    "dict.popitem": "e = dict(d); return x * e.popitem()[1]",
    "dict.update": "mine.update(d, z=n); return x * mine['a'] + mine['z']",
    "dict.fromkeys": "return x * len(dict.fromkeys(xs, n))",
    "builtins.dict": "return x * dict(d, z=n)['a']",
    "_collections.OrderedDict.setdefault": "return x * od.setdefault('a', 9)",
    "_collections.OrderedDict.pop": "od['p'] = n; return x * od.pop('p')",
    "_collections.OrderedDict.items": "return x * sum(v for k, v in od.items())",
    "_collections.OrderedDict.keys": "return x * len(list(od.keys()))",
    "_collections.OrderedDict.values": "return x * next(iter(od.values()))",
    "_collections.OrderedDict.copy": "return x * od.copy()['a']",
    "_collections.OrderedDict.clear": "e = od.copy(); e.clear(); return x * len(e)",
    "_collections.OrderedDict.popitem": "e = od.copy(); return x * e.popitem()[1]",
    "_collections.OrderedDict.move_to_end": "od.move_to_end('a'); return x * next(iter(od.values()))",
    "_collections.OrderedDict.update": "e = collections.OrderedDict(); e.update(d); return x * e['a']",
    "_collections.OrderedDict": "return x * next(iter(collections.OrderedDict(d).values()))",
    "_collections.defaultdict.copy": "return x * len(dd.copy()['a'])",
    "_collections.defaultdict": "e = collections.defaultdict(list, d); e['new'].append(n); return x * e['a']",
    "builtins.enumerate": "for i, v in enumerate(xs, 2): x = x * i + v\n  return x",
    "builtins.zip": "for a, b in zip(xs, q): x = x * a + b\n  return x",
    "builtins.reversed": "for v in reversed(xs): x = x * v + n\n  return x",
    "builtins.range": "for i in range(n): x = x * 2\n  return x",
    "builtins.iter": "return x * next(iter(xs)) + next(iter(Iter(xs)))",
    "builtins.next": "it = iter(xs); next(it); return x * next(it, 5)",
    "builtins.map": "return x * sum(map(twice, xs))",
    "builtins.filter": "return x * sum(filter(odd, xs))",
    "itertools.chain": "return x * sum(itertools.chain(xs, q, [n]))",
    "itertools.chain.from_iterable": "for v in itertools.chain.from_iterable([xs, q]): x = x * v\n  return x",
    "itertools.islice": "return x * sum(itertools.islice(xs, 2))",
    "itertools.count": "return x * sum(a for a, b in zip(itertools.count(2), xs))",
    "itertools.repeat": "return x * sum(itertools.repeat(3, 2))",
    "itertools.cycle": "return x * sum(a for a, b in zip(itertools.cycle(xs), range(5)))",
    "itertools.product": "return x * sum(a * b for a, b in itertools.product(xs, q))",
    "itertools.permutations": "return x * sum(a for a, b in itertools.permutations(xs, 2))",
    "itertools.combinations": "return x * sum(a * b for a, b in itertools.combinations(xs, 2))",
    "itertools.zip_longest": "return x * sum(a + b for a, b in itertools.zip_longest(xs, q, fillvalue=1))",
    "itertools.pairwise": "return x * sum(a * b for a, b in itertools.pairwise(xs))",
    "itertools.compress": "return x * sum(itertools.compress(xs, [1, 0, 1]))",
    "itertools.accumulate": "return x * list(itertools.accumulate(xs))[-1]",
    "itertools.starmap": "return x * sum(itertools.starmap(pow, [(2, 3), (3, 2)]))",
    "itertools.takewhile": "return x * sum(itertools.takewhile(odd, xs))",
    "itertools.dropwhile": "return x * sum(itertools.dropwhile(odd, xs))",
    "object.__new__": "return x * made(n).n",
    "_functools.partial": "return functools.partial(helper, x)(n)",
    "builtins.isinstance": "return x * (2 if isinstance(ob, Obj) else 3) + isinstance(n, int)",
    "_abc._abc_instancecheck": "return x * (2 if isinstance(ob, collections.abc.Sized) else 3)",
    "_abc._abc_subclasscheck": "return x * (2 if issubclass(Obj, collections.abc.Sized) else 3)",
    "builtins.issubclass": "return x * (2 if issubclass(Obj, Base) else 3)",
    "builtins.callable": "return x * (2 if callable(ob) else 3)",
    "builtins.type": "return x * (2 if type(ob) is Obj else 3)",
    "builtins.getattr": "return x * getattr(ob, 'n') + getattr(ob, 'zz', n)",
    "builtins.hasattr": "return x * (2 if hasattr(ob, 'n') else 3) + hasattr(ob, 'zz')",
    "builtins.setattr": "setattr(ob, 'm', n); return x * ob.m",
    "object.__setattr__": "object.__setattr__(ob, 'm', n); return x * ob.m",
    "builtins.delattr": "ob.m = n; delattr(ob, 'm'); return x * getattr(ob, 'm', 2)",
    "builtins.vars": "return x * vars(ob)['n'] + len(vars(ob))",
    "sys.implementation.__class__": "return x * types.SimpleNamespace(a=n).a",
    "object.__init__": "return x * Inits(n).n",
    "builtins.super": "return x * Inits(n).n",
    "builtins.print": "print(n, end=' ', file=out); return x * n",
    "_random.Random.random": "return x * source.random()",
    "_random.Random.getrandbits": "return x * source.getrandbits(4)",
    "builtins.len": "return x * len(xs) + len(d) + len(ob)",
    "builtins.hash": "return x * hash(n)",
    "builtins.abs": "return x * abs(-n) + abs(ob)",
    "builtins.round": "return x * round(n * 1.5) + round(ob)",
    "builtins.pow": "return x * pow(n, 2)",
    "builtins.divmod": "return x * divmod(n + 5, 3)[1]",
    "builtins.ord": "return x * ord('a') + n",
    "builtins.chr": "return x * len(chr(65 + n))",
    "builtins.int": "return x * int(n * 1.5) + int(ob)",
    "builtins.float": "return x * float(n) + float(ob)",
    "builtins.complex": "return x * abs(complex(n, 2)) + abs(complex(ob))",
    "builtins.bool": "return x * bool(n) + bool(ob) + bool(xs)",
    "builtins.str": "return x * len(str(n)) + len(str(ob))",
    "builtins.repr": "return x * len(repr(n)) + len(repr(ob))",
    "builtins.format": "return x * len(format(n, '>4')) + len(format(ob))",
    "builtins.slice": "return x * sum(xs[slice(1)])",
    "dict.__getitem__": "return x * d.__getitem__('a')",
    "list.__getitem__": "return x * xs.__getitem__(0) + max([0, 1], key=xs.__getitem__)",
    "_operator.getitem": "return x * operator.getitem(xs, 0) + operator.getitem(d, 'a')",
    "_operator.itemgetter": "return x * operator.itemgetter(0)(xs) + operator.itemgetter('a')(d)",
    **{f"_operator.{name}": f"return x * operator.{name}(n + 1)" for name in ("abs", "index", "inv", "invert", "neg", "pos", "not_", "truth")},
    **{f"_operator.{name}": f"return x * operator.{name}(n + 3, 2)"
       for name in ("add", "and_", "eq", "floordiv", "ge", "gt", "le", "lt", "mod", "mul", "ne", "or_", "sub", "truediv", "xor")},
    "_operator.matmul": "return operator.matmul(x.view(1, 3), x.view(3, 1)) * n",
    "builtins.sum": "return x * sum(xs) + sum([x, x])",
    "builtins.min": "return x * min(xs) + min(n, 2)",
    "builtins.max": "return x * max(xs, key=twice) + max(n, 2)",
    "builtins.any": "return x * any(v > 2 for v in xs) + any(xs)",
    "builtins.all": "return x * all(v > 2 for v in xs) + all(xs)",
    "builtins.sorted": "return x * sorted(xs)[0] + sorted(xs, key=twice)[-1]",
    "_functools.reduce": "return functools.reduce(helper, xs, x)",
    "math.prod": "return x * math.prod(xs)",
    "math.fsum": "return x * math.fsum(xs)",
    "math.sqrt": "return x * math.sqrt(n + 4)",
    "math.*": "return x * math.exp(n) + math.pi",
    "cmath.*": "return x * abs(cmath.sqrt(-n)) + cmath.phase(n + 1j)",
    "str.join": "return x * len(','.join(names)) + n",
    "str.*": "return x * len(name.upper().split('b')) + len('a{}'.format(n))",
    "bytes.*": "return x * len(b'ab'.hex()) + n",
    "int.*": "return x * n.bit_length()",
    "float.*": "return x * (2 if (n * 1.0).is_integer() else 3)",
    "complex.*": "return x * abs(complex(n, 2).conjugate() + 1)",
    "list.append": "xs.append(n); return x * xs[-1]",
    "list.extend": "own = [n]; own.extend(xs); return x * sum(own)",
    "list.insert": "own = [n]; own.insert(0, 5); return x * own[0] + own[-1]",
    "list.pop": "own = list(xs); return x * own.pop() + own.pop(0)",
    "list.clear": "own = list(xs); own.clear(); return x * len(own)",
    "list.reverse": "own = list(xs); own.reverse(); return x * own[0]",
    "list.copy": "return x * xs.copy()[0]",
    "list.sort": "own = list(xs); own.sort(key=twice); return x * own[0]",
    "list.index": "return x * xs.index(3) + [n].index(n)",
    "list.count": "return x * xs.count(3)",
    "list.remove": "own = list(xs); own.remove(3); return x * sum(own)",
    "tuple.index": "return x * tuple(xs).index(3)",
    "tuple.count": "return x * tuple(xs).count(3)",
    "terra.ModuleBase.__init__": "return Layer(n)(x) * n",
    "terra.Size": "return x.expand(torch.Size(xs[:1]) + x.shape) * n",
    "terra.Size.numel": "return x * torch.Size(xs).numel() + n",
    "_collections.deque.append": "q.append(n); return x * q[-1]",
    "_collections.deque.appendleft": "q.appendleft(n); return x * q[0]",
    "_collections.deque.extend": "q.extend(xs); return x * q[-1]",
    "_collections.deque.pop": "q.append(n); return x * q.pop()",
    "_collections.deque.popleft": "q.appendleft(n); return x * q.popleft()",
    "_collections.deque.clear": "own = collections.deque(q); own.clear(); return x * len(own)",
    "_collections.deque.reverse": "q.reverse(); return x * q[0]",
    "_collections.deque.rotate": "q.rotate(1); return x * q[0]",
    "_collections.deque.index": "return x * q.index(3)",
    "_collections.deque.count": "return x * q.count(3)",
    "_collections.deque.remove": "q.append(9); q.remove(9); return x * len(q)",
    "_collections.deque": "return x * collections.deque(xs, 2)[0]",
    "builtins.list": "return x * list(xs)[0] + len(list(d))",
    "builtins.tuple": "return x * tuple(xs)[0] + len(tuple(d))",
    **{f"{kind}.{name}": f"own = {kind}(xs); return x * len(own.{name}({{3, n}}))"
       for kind in ("set", "frozenset") for name in ("union", "intersection", "difference", "symmetric_difference")},
    **{f"{kind}.{name}": f"own = {kind}(xs); return x * (2 if own.{name}({{3}}) else 3)"
       for kind in ("set", "frozenset") for name in ("issubset", "issuperset", "isdisjoint")},
    **{f"{kind}.__contains__": f"own = {kind}(xs); return x * (2 if own.__contains__(3) else 3)" for kind in ("set", "frozenset")},
    **{f"{kind}.copy": f"own = {kind}(xs); return x * len(own.copy())" for kind in ("set", "frozenset")},
    "set.add": "s.add(n); return x * len(s)",
    "set.discard": "s.discard(n); return x * len(s)",
    "set.remove": "own = {n, 7}; own.remove(7); return x * len(own)",
    "set.clear": "own = set(s); own.clear(); return x * len(own)",
    "set.update": "own = {n}; own.update(xs); return x * len(own)",
    "set.difference_update": "own = set(xs); own.difference_update({3}); return x * sum(own)",
    "set.intersection_update": "own = set(xs); own.intersection_update({3, 4}); return x * sum(own)",
    "builtins.set": "return x * len(set(xs)) + len(set())",
    "builtins.frozenset": "return x * len(frozenset(xs))",
    **{f"time.{name}": f"return x * (2 if time.{name}() > 0 else 3) + n"
       for clock in ("time", "monotonic", "perf_counter", "process_time", "thread_time") for name in (clock, f"{clock}_ns")},
}  # fmt: skip

SOURCE = """
import cmath, collections, collections.abc, functools, io, itertools, math, operator, random, time, types
def echo():
  v = yield 2
  while True: v = yield v
class Failure(Exception): pass
class Table(dict): pass
class Iter:
  def __init__(s, xs): s.xs = xs
  def __iter__(s): return iter(s.xs)
def twice(v): return v * 2
def odd(v): return v % 2 == 1
def helper(a, b=1): return a * b + 1
class Base: pass
class Obj(Base):
  n = 2
  def __len__(s): return 2
  def __hash__(s): return 12
  def __abs__(s): return 4
  def __round__(s): return 5
  def __int__(s): return 6
  def __index__(s): return 6
  def __float__(s): return 6.5
  def __complex__(s): return 6 + 2j
  def __bool__(s): return True
  def __str__(s): return 'ob'
  def __repr__(s): return 'Obj'
  def __format__(s, w): return 'obj'
  def __call__(s): return 1
  def __invert__(s): return 2
  def __neg__(s): return 3
  def __pos__(s): return 4
  def __matmul__(s, o): return o * 4
  def __add__(s, o): return 5
  __and__ = __floordiv__ = __mod__ = __mul__ = __or__ = __sub__ = __truediv__ = __xor__ = __add__
  def __eq__(s, o): return True
  def __ne__(s, o): return False
  __le__ = __lt__ = __ge__ = __gt__ = __eq__
class Inits(Base):
  def __init__(s, n):
    super().__init__()
    s.n = n
class Layer(torch.nn.Module):
  def __init__(s, n):
    super().__init__()
    s.n = n
    s.act = torch.nn.ReLU()
  def forward(s, x): return s.act(x - 1) * s.n
def made(n):
  o = object.__new__(Base)
  o.n = n
  return o
ob = Obj()
ob.n = 3
xs, q, s = [1, 3, 2], collections.deque([3, 4], maxlen=6), {1, 3}
d, od, dd, mine = dict(a=2, b=3), collections.OrderedDict(a=2, b=3), collections.defaultdict(list, a=[1, 2]), {}
name, names = 'abc', ['a', 'bc']
out, source = io.StringIO(), random.Random(3)
"""
SPECIAL = {"len": "__len__", "hash": "__hash__", "abs": "__abs__", "round": "__round__", "int": "__int__", "float": "__float__",
           "complex": "__complex__", "bool": "__bool__", "str": "__str__", "repr": "__repr__", "format": "__format__", "callable": "__call__"}  # fmt: skip


def targets_of(row, body, space):
    name = row.rpartition(".")[2]
    targets = []
    if row.startswith("builtins."):
        targets.append(Name(space, name, lambda *a, **k: 9))
    for module in ("math", "cmath", "itertools", "operator", "collections", "functools", "time"):
        if f"{module}." in body:
            targets.append(Name(space, module, space["types"].SimpleNamespace()))
    if "xs" in body:
        targets.append(Items(space["xs"], 5))
    if "q" in body:
        targets.append(Items(space["q"], 5))
    for key in ("d", "od", "dd"):
        if f"{key}." in body or f"({key}" in body or f"{key}[" in body:
            targets.append(Keys(space[key], "a", 7))
    if "(s" in body or "s." in body:
        targets.append(Keys(space["s"], 3, None))
    if "ob" in body:
        method = SPECIAL.get(name, f"__{name.strip('_')}__")
        targets.append(Method(space["Obj"], method, lambda s, *a: 0, space["ob"], ["__eq__", "__getattr__", "__radd__"]))
        targets.append(Attribute(space["ob"], "n", 8))
    for function in ("twice", "odd", "helper", "made", "Layer"):
        if function in body:
            targets.append(Name(space, function, lambda *a: 1))
    targets.append(Name(space, "name", "abcdef"))
    return targets


def build(row, torch):
    body, space = CALLS[row], {"__builtins__": dict(vars(builtins)), "torch": torch}
    exec(SOURCE + f"\ndef f(x, n):\n  {body}\n", space)
    state = [space[name] for name in ("xs", "q", "s", "d", "od", "dd", "mine", "ob")]

    def arguments(i):
        del space["xs"][8:]
        return torch.arange(3.0) + i % 2, 1 + i % 3
    return space["f"], arguments, targets_of(row, body, space), (state, space["out"])


def places(torch):
    for row in CALLS:
        yield f"call of {row}", functools.partial(build, row, torch)


def uncovered(models):
    """Rows of the table of call models that no call here is of."""
    return [f"{where}.{name or '*'}" for where, name in models if f"{where}.{name or '*'}" not in CALLS]
