"""Places at which C code asks classes of a program for methods: one program for each operator and protocol, each way to
reach the object, and each kind of result."""
import functools
import operator

from _mutators import Method

BINARY = {"add": "+", "sub": "-", "mul": "*", "matmul": "@", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
          "lshift": "<<", "rshift": ">>", "and": "&", "or": "|", "xor": "^"}  # fmt: skip
COMPARISONS = {"lt": "<", "le": "<=", "eq": "==", "ne": "!=", "gt": ">", "ge": ">="}
REFLECTED = {"lt": "gt", "le": "ge", "eq": "eq", "ne": "ne", "gt": "lt", "ge": "le"}

# (name, method, its function, another one, the statements of f; `more` methods that may be asked for as well)
TENSOR, OTHER_TENSOR = "lambda s, *o: one() + 2", "lambda s, *o: one() * 100"
OPERAND, OTHER_OPERAND = "lambda s, o: o + 2", "lambda s, o: o * 100"
NUMBER, OTHER_NUMBER = "lambda s, *o: 3", "lambda s, *o: 2"


def table():
    for name, sign in BINARY.items():
        more = [f"__{name}__", f"__r{name}__", f"__i{name}__", "__torch_function__"]
        yield f"left {sign}", f"__{name}__", OPERAND, OTHER_OPERAND, f"return ob {sign} x", more
        yield f"right {sign}", f"__r{name}__", OPERAND, OTHER_OPERAND, f"return x {sign} ob", more
        yield f"in place {sign}", f"__{name}__", OPERAND, OTHER_OPERAND, f"y = ob; y {sign}= x; return y", more
        yield f"really in place {sign}", f"__i{name}__", OPERAND, OTHER_OPERAND, f"y = ob; y {sign}= x; return y", more
        yield f"number {sign}", f"__{name}__", NUMBER, OTHER_NUMBER, f"return x * (ob {sign} 5)", more
        yield f"reflected {sign}", f"__r{name}__", NUMBER, OTHER_NUMBER, f"return x * (5 {sign} ob)", more
        if name in vars(operator):
            yield f"operator.{name}", f"__{name}__", NUMBER, OTHER_NUMBER, f"return x * operator.{name}(ob, 5)", more
    for name, sign in COMPARISONS.items():
        more = [f"__{name}__", f"__{REFLECTED[name]}__", "__torch_function__"]
        yield f"tensor {sign}", f"__{name}__", OPERAND, OTHER_OPERAND, f"return ob {sign} x", more
        yield f"truth {sign}", f"__{name}__", "lambda s, o: True", "lambda s, o: False", f"return x * (2 if ob {sign} 5 else 3)", more
        yield f"reflected {sign}", f"__{REFLECTED[name]}__", "lambda s, o: True", "lambda s, o: False", f"return x * (2 if 5 {sign} ob else 3)", more
        yield f"listed {sign}", f"__{name}__", "lambda s, o: True", "lambda s, o: False", f"return x * (2 if [ob] {sign} [5] else 3)", more
    for name, call in {"neg": "-ob", "pos": "+ob", "invert": "~ob", "abs": "abs(ob)"}.items():
        yield f"tensor {call}", f"__{name}__", TENSOR, OTHER_TENSOR, f"return x + {call}", ()
        yield f"number {call}", f"__{name}__", NUMBER, OTHER_NUMBER, f"return x * {call}", ()
    numbers = {
        "len": ["len(ob)", "(2 if ob else 3)", "(2 if not ob else 3)"], "bool": ["(2 if ob else 3)", "bool(ob)", "(not ob)", "(ob and 2 or 4)", "any([ob])"],
        "hash": ["(2 if hash(ob) == 3 else 4)", "len({ob, 1})", "{ob: 2}[ob]"], "int": ["int(ob)"], "float": ["float(ob)"],
        "index": ["int(ob)", "operator.index(ob)", "[5, 6, 7, 8][ob]", "sum(range(ob))", "(5, 6, 7, 8)[:ob][-1]"],
        "round": ["round(ob)"], "trunc": ["math.trunc(ob)"], "ceil": ["math.ceil(ob)"], "floor": ["math.floor(ob)"],
        "contains": ["(2 if 5 in ob else 3)"], "call": ["ob(4)", "list(map(ob, [4]))[0]", "functools.partial(ob)(4)", "max([1, 2], key=ob)"],
        "getitem": ["ob[0]", "ob[1:2]", "operator.getitem(ob, 0)", "operator.itemgetter(0)(ob)"],
        "divmod": ["divmod(ob, 2)"], "next": ["next(ob)"], "length_hint": ["operator.length_hint(ob)"],
    }  # fmt: skip
    for name, calls in numbers.items():
        for call in calls:
            more = {"__len__", "__bool__", "__eq__", "__iter__", "__index__", "__int__"} - {f"__{name}__"}
            yield call, f"__{name}__", NUMBER, OTHER_NUMBER, f"return x * {call}", sorted(more)
    yield "complex(ob)", "__complex__", "lambda s: 2j", "lambda s: 5j", "return x * abs(complex(ob))", ["__float__", "__index__"]
    yield "tensor call", "__call__", OPERAND, OTHER_OPERAND, "return ob(x)", ()
    yield "tensor item", "__getitem__", TENSOR, OTHER_TENSOR, "return x + ob[0]", ()
    for call in ["sum(v for v in ob)", "sum(ob)", "len(list(ob))", "len([*ob])", "max(ob)", "sum(v * 2 for v in map(int, ob))",
                 "sum(a for a, in zip(ob))", "(2 if 1 in ob else 3)", "len({*ob})", "len(dict.fromkeys(ob))"]:
        yield call, "__iter__", "lambda s: iter([1, 2])", "lambda s: iter([5])", f"return x * {call}", ["__len__", "__contains__", "__getitem__", "__next__"]
    yield "unpacking", "__iter__", "lambda s: iter([1, 2])", "lambda s: iter([5, 6])", "a, b = ob; return x * a + b", ["__next__", "__getitem__"]
    yield "tensors", "__iter__", "lambda s: iter([one(), one()])", "lambda s: iter([one() * 9])", "return sum(ob, x)", ()
    yield "loop", "__iter__", "lambda s: iter([1, 2])", "lambda s: iter([5])", "for v in ob: x = x * v\n  return x", ()
    yield "old iteration", "__getitem__", "lambda s, i: [1, 2][i]", "lambda s, i: [4][i]", "return x * sum(v for v in ob)", ["__iter__"]
    yield "reversed", "__reversed__", "lambda s: iter([1, 2])", "lambda s: iter([5])", "return x * sum(reversed(ob))", ["__len__", "__getitem__"]
    for call in ["str(ob)", "f'{ob}'", "f'{ob!s:>4}'", "'%s' % ob", "'{}'.format(ob)"]:
        yield call, "__str__", "lambda s: 'ab'", "lambda s: 'abc'", f"return x * len({call})", ["__repr__", "__format__"]
    for call in ["repr(ob)", "f'{ob!r}'", "str([ob])", "str(ob)"]:
        yield call, "__repr__", "lambda s: 'ab'", "lambda s: 'abc'", f"return x * len({call})", ["__str__", "__format__"]
    for call in ["format(ob, '>3')", "f'{ob:>3}'", "f'{ob}'"]:
        yield call, "__format__", "lambda s, w: 'ab'", "lambda s, w: 'abc'", f"return x * len({call})", ["__str__"]
    yield "setitem", "__setitem__", "lambda s, k, v: s.log.append(v)", "lambda s, k, v: s.log.append(k)", "ob[3] = x; return x * 2", ()
    yield "delitem", "__delitem__", "lambda s, k: s.log.append(k)", "lambda s, k: s.log.append(-k)", "del ob[3]; return x * 2", ()
    yield "setattr", "__setattr__", "lambda s, k, v: s.log.append(v)", "lambda s, k, v: s.log.append(k)", "ob.n = x; return x * 2", ()
    yield "plain setattr", "nothing", "None", "lambda s, k, v: s.log.append(k)", "ob.n = 7; return x * 2", ["__setattr__", "n"]
    yield "delattr", "__delattr__", "lambda s, k: s.log.append(k)", "lambda s, k: s.log.append(1)", "del ob.n; return x * 2", ()
    yield "getattr", "__getattr__", NUMBER, OTHER_NUMBER, "return x * ob.missing", ["missing", "__getattribute__"]
    yield "getattr or", "__getattr__", NUMBER, OTHER_NUMBER, "return x * getattr(ob, 'missing', 7)", ["missing"]
    yield "nothing there", "nothing", "None", OTHER_NUMBER, "return x * getattr(ob, 'missing', 7)", ["missing", "__getattr__"]
    yield "hasattr", "nothing", "None", OTHER_NUMBER, "return x * (2 if hasattr(ob, 'missing') else 3)", ["missing", "__getattr__"]
    yield "getattribute", "__getattribute__", "lambda s, n: 3", "lambda s, n: 2", "return x * ob.missing", ()
    yield "method", "meth", OPERAND, OTHER_OPERAND, "return ob.meth(x)", ["__getattr__"]
    yield "super", "meth", "lambda s, o: super(type(s), s).base(o)", OTHER_OPERAND, "return ob.meth(x)", ["base"]
    yield "inherited", "base", OPERAND, OTHER_OPERAND, "return ob.base(x)", ["base"]
    yield "with", "__enter__", TENSOR, OTHER_TENSOR, "with ob as v: x = x + v\n  return x", ["__exit__"]
    yield "with and raise", "__exit__", "lambda s, *e: True", "lambda s, *e: False", "with ob: raise KeyError(1)\n  return x * 2", ["__enter__"]
    yield "with and end", "__exit__", "lambda s, *e: s.log.append(1)", "lambda s, *e: s.log.append(2)", "with ob: x = x * 2\n  return x", ["__enter__"]
    yield "missing", "__missing__", NUMBER, OTHER_NUMBER, "return x * mapping['zz']", ()
    yield "sum", "__radd__", OPERAND, OTHER_OPERAND, "return sum([x, ob])", ["__add__"]
    yield "sorted", "__lt__", "lambda s, o: True", "lambda s, o: False", "return x * sorted([ob, Obj(), ob])[0].n", ["__gt__"]
    yield "max", "__gt__", "lambda s, o: True", "lambda s, o: False", "return x * max(ob, Obj()).n", ["__lt__"]
    yield "keys", "keys", "lambda s: ['a']", "lambda s: ['b']", "return x * len({**ob})", ["__getitem__"]
    yield "torch_function", "__torch_function__", "classmethod(lambda c, f, ts, a=(), k=None: one() + 5)", "classmethod(lambda c, f, ts, a=(), k=None: one() + 6)", "return torch.add(x, ob)", ["__radd__"]
    yield "torch_function of an operator", "__torch_function__", "classmethod(lambda c, f, ts, a=(), k=None: one() + 5)", "classmethod(lambda c, f, ts, a=(), k=None: one() + 6)", "return x + ob", ["__radd__"]
    yield "new objects", "__init__", "lambda s, *a: vars(s).update(n=4, log=[])", "lambda s, *a: vars(s).update(n=5, log=[])", "return x * Obj().n", ["__new__"]
    yield "made by new", "__new__", "lambda c, *a: object.__new__(c)", "lambda c, *a: 5", "return x * (2 if type(Obj()) is Obj else 3)", ["__init__"]
    yield "pattern", "__match_args__", "('n',)", "('k',)", "match ob:\n    case Obj(7): return x * 2\n    case _: return x * 3", ()
    yield "finalizer", "nothing", "None", "lambda s: trail.append(1)", "Obj(); return x * 2", ["__del__"]
    # of classes: asked of the metaclass
    yield "class getitem", "__class_getitem__", "classmethod(lambda c, i: one() + 3)", "classmethod(lambda c, i: one() + 4)", "return x + Obj[0]", ()
    for name, call in {"getitem": "Meta_class[0]", "add": "(Meta_class + 1)", "len": "len(Meta_class)", "call": "Meta_class()", "contains": "(2 if 1 in Meta_class else 3)",
                       "instancecheck": "(2 if isinstance(ob, Meta_class) else 3)", "subclasscheck": "(2 if issubclass(Obj, Meta_class) else 3)",
                       "getattr": "Meta_class.missing", "bool": "(2 if Meta_class else 3)", "eq": "(2 if Meta_class == 3 else 3)"}.items():  # fmt: skip
        yield f"meta {call}", f"__{name}__", "lambda c, *o: 1", "lambda c, *o: 0", f"return x * {call}", ()
    yield "meta iter", "__iter__", "lambda c: iter([1, 2])", "lambda c: iter([5])", "return x * sum(v for v in Meta_class)", ()
    # of what classes have: descriptors
    for name, more in {"get": ["__set__"], "set": ["__get__", "__delete__"]}.items():
        body = "return x * ob.described" if name == "get" else "ob.described = x; return x * 2"
        yield f"descriptor {name}", f"__{name}__", "lambda s, *o: 3", "lambda s, *o: 2", body, more


REACHES = {"global": "ob", "argument": "ob", "attribute": "box.ob", "item": "boxes[0]", "closure": "ob"}


def owner_of(name, space):
    if name.startswith("meta"):
        return space["Meta"], space["Meta_class"]
    if name.startswith("descriptor"):
        return space["Descriptor"], space["described"]
    if name == "missing":
        return space["Mapping"], space["mapping"]
    return space["Obj"], space["ob"]


def build(row, reach, torch):
    name, method, function, other, body, more = row
    source = f"""
class Base:
  n, k = 7, 8
  def base(s, o): return o * 3
class Middle(Base): pass
class Descriptor(Middle): pass
described = Descriptor()
class Obj(Middle):
  described = described
  def __init__(s, *a): s.log = []
class Mapping(dict): pass
class Meta(type): pass
class Meta_class(metaclass=Meta): pass
class Box: pass
def one(): return torch.ones(3)
trail = []
"""
    space = {"torch": torch, "functools": functools, "operator": operator, "math": __import__("math")}
    exec(source, space)
    space.update(ob=space["Obj"](), mapping=space["Mapping"](), box=space["Box"]())
    space["box"].ob, space["boxes"] = space["ob"], [space["ob"]]
    cls, instance = owner_of(name, space)
    if function != "None":
        setattr(cls, method, eval(function, space))
    body = body.replace("ob", REACHES[reach]) if reach in ("attribute", "item") and "Obj" not in body else body
    parameters = "x, ob" if reach == "argument" else "x"
    exec(f"def f({parameters}):\n  {body}\n", space)
    f = space["f"]
    if reach == "closure":
        exec(f"def make(ob):\n  def f(x):\n    {body.replace(chr(10), chr(10) + '  ')}\n  return f\n", space)
        f = space["make"](space["ob"])
    given = (space["ob"],) if reach == "argument" else ()
    return f, given, [Method(cls, method, eval(other, space), instance, more)], (space["ob"], space["trail"], space["box"])


def places(torch, reaches):
    """(name, function that makes the program)."""
    for number, row in enumerate(table()):
        for reach in reaches or [list(REACHES)[number % len(REACHES)]]:
            yield f"{row[0]} of {reach}", functools.partial(build, row, reach, torch)
