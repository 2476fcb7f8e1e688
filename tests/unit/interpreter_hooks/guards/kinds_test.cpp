// Each kind of guard and read: it holds for what it was made for, and not when that is changed.
#include "tests/unit/interpreter_hooks/support.h"

#include "interpreter_hooks/guards/container_kinds.h"
#include "interpreter_hooks/guards/scalars.h"

#include <functional>
#include <set>

using namespace terra::capture;

namespace {

/// A guard on `a` and `b` of the names, sources that keep it true and sources that make it false.
struct Case {
  const char* what;
  std::function<void(Guarded&, Names&, Register a, Register b)> make;
  const char* made;
  std::vector<const char*> still, not_any_more;
};

Word kept(Guarded& g, PyObject* object) { return word_of(g.file.keep(object)); }
Word kept_name(Guarded& g, const char* name) { return word_of(g.file.keep(interned(name))); }

void function_facts(Guarded& g, Register f, PyObject* object) {
  auto* function = reinterpret_cast<PyFunctionObject*>(object);
  g.guard(Op::Code, f,
          {kept(g, function->func_code), kept(g, function->func_globals), kept(g, function->func_defaults),
           kept(g, function->func_kwdefaults)});
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"is",
       [](Guarded& g, Names& n, Register a, Register) { g.guard(Op::Is, a, {kept(g, n["a"])}); },
       "a = object()",
       {"b = 1"},
       {"a = object()", "a = None"}},
      {"equal",
       [](Guarded& g, Names& n, Register a, Register) { g.guard(Op::Equal, a, {kept(g, n["a"])}); },
       "a = 1000",
       {"a = int('1000')"},
       {"a = 1000.0", "a = 1001", "a = '1000'", "a = None"}},
      {"equal to true",
       [](Guarded& g, Names& n, Register a, Register) { g.guard(Op::Equal, a, {kept(g, n["a"])}); },
       "a = True",
       {"a = bool(3)"},
       {"a = 1", "a = 1.0", "a = False"}},
      {"equal to zero",
       [](Guarded& g, Names& n, Register a, Register) { g.guard(Op::Equal, a, {kept(g, n["a"])}); },
       "a = 0.0",
       {"a = float('0')"},
       {"a = -0.0", "a = 0", "a = 0j"}},
      {"pinned",
       [](Guarded& g, Names& n, Register a, Register) { g.guard(Op::Pinned, a, {kept(g, n["a"])}); },
       "a = (1, 'x')",
       {"a = tuple([1, 'x'])"},
       {"a = (1.0, 'x')", "a = (1,)", "a = [1, 'x']"}},
      {"type",
       [](Guarded& g, Names& n, Register a, Register) {
         g.guard(Op::Type, a, {kept(g, reinterpret_cast<PyObject*>(Py_TYPE(n["a"])))});
       },
       "class C: pass\nclass D(C): pass\na = C()",
       {"a = C()", "a.x = 1"},
       {"a = D()", "a.__class__ = D", "a = 1"}},
      {"length",
       [](Guarded& g, Names&, Register a, Register) { g.guard(Op::Length, a, {2}); },
       "a = [1, 2]",
       {"a[0] = 7", "a = (3, 4)"},
       {"a = [1]", "a.append(1)", "del a[:]"}},
      {"size",
       [](Guarded& g, Names&, Register a, Register) { g.guard(Op::Size, a, {2}); },
       "a = {1: 2, 3: 4}",
       {"a = {5, 6}", "a[1] = 0"},
       {"a[9] = 1", "a.clear()", "a = set()"}},
      {"keys",
       [](Guarded& g, Names& n, Register a, Register) {
         g.guard(Op::Keys, a, {kept(g, n["k"]), 0});
       },
       "a = {'x': 1, 'y': 2}; k = ('x', 'y')",
       {"a['x'] = 5"},
       {"a = {'y': 2, 'x': 1}", "a['z'] = 1", "a = {'x': 1}", "a = {'x': 1, 1: 2}"}},
      {"contains",
       [](Guarded& g, Names&, Register a, Register b) { g.guard(Op::Contains, a, {1}, b); },
       "b = object(); a = {b: 1}",
       {"a[b] = 2"},
       {"del a[b]", "b = object()"}},
      {"no key",
       [](Guarded& g, Names&, Register a, Register) { g.guard(Op::NoKey, a, {kept_name(g, "x")}); },
       "a = {}",
       {"a['y'] = 1"},
       {"a['x'] = None"}},
      {"no attribute",
       [](Guarded& g, Names&, Register a, Register) { g.guard(Op::NoAttribute, a, {kept_name(g, "x")}); },
       "class C: pass\na = C()",
       {"a.y = 1", "C.x = 1"},
       {"a.x = None", "a.__dict__['x'] = 1", "a.__dict__ = {'x': 1}"}},
      {"code",
       [](Guarded& g, Names& n, Register a, Register) { function_facts(g, a, n["a"]); },
       "def a(x=1): pass\ndef other(): pass",
       {"a.note = 1"},
       {"a.__code__ = other.__code__", "a.__defaults__ = (2,)", "a.__kwdefaults__ = {'x': 1}", "a = other", "a = 1"}},
      {"same",
       [](Guarded& g, Names&, Register a, Register b) { g.guard(Op::Same, a, {}, b); },
       "a = b = []",
       {"a.append(1)"},
       {"b = []", "a = 1"}},
      {"distinct",
       [](Guarded& g, Names&, Register a, Register b) { g.guard(Op::Distinct, a, {}, b); },
       "a, b = [], []",
       {"a.append(1)"},
       {"b = a"}},
      {"all distinct",
       [](Guarded& g, Names&, Register a, Register b) {
         g.guard(Op::AllDistinct, no_register, pack({a, b, g.read(Op::Item, a, {0})}));
       },
       "a, b = [1], []",
       {"a = [2]"},
       {"b = a", "a[0] = b", "a[0] = a"}},
      {"own dicts",
       [](Guarded& g, Names&, Register a, Register b) {
         g.guard(Op::OwnDicts, no_register, pack({a, b}));
       },
       "class C: pass\na, b = C(), C()",
       {"a.x = 1"},
       {"b = a", "b.__dict__ = a.__dict__", "b = vars(a)"}},
      {"truth",
       [](Guarded& g, Names&, Register a, Register) { g.guard(Op::Truth, a, {1}); },
       "a = 3",
       {"a = -1.5"},
       {"a = 0", "a = 0.0", "a = ''"}},
      {"max length",
       [](Guarded& g, Names&, Register a, Register) { g.guard(Op::MaxLength, a, {3}); },
       "import collections\na = collections.deque(maxlen=3)",
       {"a.append(1)"},
       {"a = collections.deque()", "a = collections.deque(maxlen=4)"}},
      {"item",
       [](Guarded& g, Names&, Register a, Register) { g.read(Op::Item, a, {1}); },
       "a = [1, 2]",
       {"a[1] = 3", "a = (4, 5)"},
       {"a = []", "del a[1]"}},
      {"key",
       [](Guarded& g, Names&, Register a, Register) { g.read(Op::Key, a, {kept_name(g, "x")}); },
       "a = {'x': 1}",
       {"a['x'] = 2"},
       {"del a['x']", "a = {}"}},
      {"attribute",
       [](Guarded& g, Names&, Register a, Register) { g.read(Op::Attribute, a, {kept_name(g, "x")}); },
       "class C: pass\na = C(); a.x = 1",
       {"a.x = 2", "vars(a)['x'] = 3"},
       {"del a.x", "a = C(); C.x = 1"}},
      {"item of",
       [](Guarded& g, Names&, Register a, Register b) { g.read(Op::ItemOf, a, {}, b); },
       "a, b = [1, 2], 1",
       {"b = -2", "a = (3, 4)"},
       {"b = 2", "b = -3", "b = 2 ** 80", "a = []"}},
      {"key of",
       [](Guarded& g, Names&, Register a, Register b) { g.read(Op::KeyOf, a, {}, b); },
       "b = object(); a = {b: 1}",
       {"a[b] = 2"},
       {"b = object()", "a.clear()"}},
      {"cell",
       [](Guarded& g, Names&, Register a, Register) { g.read(Op::Cell, a); },
       "def outer():\n    x = 1\n    def inner():\n        return x\n    return inner\na = outer().__closure__[0]",
       {"a.cell_contents = 2"},
       {"del a.cell_contents"}},
      {"method part",
       [](Guarded& g, Names& n, Register a, Register) {
         g.guard(Op::Is, g.read(Op::MethodPart, a, {1}), {kept(g, n["c"])});
       },
       "class C:\n    def f(self): pass\nc = C(); a = c.f",
       {"a = c.f"},
       {"a = C().f"}},
      {"iterator base",
       [](Guarded& g, Names&, Register a, Register) { g.read(Op::IteratorBase, a); },
       "l = [1, 2]; a = iter(l)",
       {"a = iter((1,))"},
       {"next(a)"}},
      {"range start",
       [](Guarded& g, Names&, Register a, Register) {
         g.guard(Op::RangeStart, a, {0, 2, 3});
       },
       "a = iter(range(0, 6, 2))",
       {"a = iter(range(0, 5, 2))"},
       {"next(a)", "a = iter(range(6))", "a = iter(range(0, 8, 2))"}},
  };
  return all;
}

bool holds(Guarded& g, Names& names) { return g.holds({names["a"], names["b"]}); }

}  // namespace

TEST_CASE("guards and reads hold as long as what they say is so", "[kinds]") {
  for (const Case& c : cases()) {
    INFO(c.what);
    const auto check = [&](const char* change, bool expected) {
      INFO(change);
      Names names("a = b = None");
      names.run(c.made);
      Guarded g;
      const Register a = g.argument(0), b = g.argument(1);
      c.make(g, names, a, b);
      CHECK(holds(g, names));
      names.run(change);
      CHECK(holds(g, names) == expected);
      for (const std::string& text : g.program.texts(g.file, true)) CHECK_FALSE(text.empty());
    };
    for (const char* change : c.still) check(change, true);
    for (const char* change : c.not_any_more) check(change, false);
  }
}

TEST_CASE("a NaN equals itself alone", "[kinds]") {
  Names names("a = b = float('nan')");
  Guarded g;
  g.guard(Op::Equal, g.argument(0), {kept(g, names["a"])});
  CHECK(holds(g, names));
  names.run("a = float('nan')");
  CHECK_FALSE(holds(g, names));
}

TEST_CASE("arithmetic that raises is a miss and leaves no exception", "[kinds]") {
  Names names("a, b = 7, 2");
  Guarded g;
  const Register a = g.argument(0), b = g.argument(1), quotient = g.file.add("q", true);
  g.program.emit(Op::Binary, quotient, a, b, {2});  // NB_FLOOR_DIVIDE
  PyObject* three = PyLong_FromLong(3);
  g.guard(Op::Equal, quotient, {kept(g, three)});
  CHECK(holds(g, names));
  names.run("b = 0");
  CHECK_FALSE(holds(g, names));
  names.run("b = 'x'");
  CHECK_FALSE(holds(g, names));
  names.run("a, b = 7 ** 90, 7 ** 90 // 3");
  CHECK(holds(g, names));
  Py_DECREF(three);
}

TEST_CASE("facts about a class outlive what doesn't concern them", "[kinds]") {
  Names names("class B:\n    def f(self): pass\nclass C(B): pass\nb = None\na = C()\nimport gc");
  auto* type = reinterpret_cast<PyTypeObject*>(names["C"]);
  Guarded g;
  auto* facts = g.file.keep(std::make_unique<ClassFacts>(type));
  facts->note(interned("f"), g.file.watch(_PyType_Lookup(type, interned("f"))));
  facts->note(interned("g"), nullptr);
  g.guard(Op::Class, no_register, {word_of(facts)});
  CHECK(holds(g, names));
  names.run("C.other = 1");
  CHECK(holds(g, names));
  names.run("B.g = 1");
  CHECK_FALSE(holds(g, names));
  names.run("del B.g");
  CHECK(holds(g, names));
  names.run("C.f = None");
  CHECK_FALSE(holds(g, names));
  names.run("del C.f\nclass A(B): pass\nC.__bases__ = (A,)");
  CHECK_FALSE(holds(g, names));
  names.run("C.__bases__ = (B,)\nC.__getattribute__ = lambda self, name: 1");
  CHECK_FALSE(holds(g, names));
}

TEST_CASE("texts run no code of the program", "[kinds]") {
  Names names(
      "ran = []\n"
      "class C:\n"
      "    def __repr__(self): ran.append(1); return 'C'\n"
      "    __str__ = __repr__\n"
      "    def __index__(self): ran.append(2); return 1\n"
      "things = [C(), slice(C(), 1), slice(1, slice(C())), C, (C(),), range(3), slice(1, 2), 'text', 1.5, None]\n");
  std::set<std::string> texts;
  PyObject* things = names["things"];
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(things); i++) texts.insert(short_text(PyList_GET_ITEM(things, i)));
  CHECK(names.shown("ran") == "[]");
  CHECK(texts.count("slice(1, 2, None)"));
  CHECK(texts.count("a slice"));
  CHECK(texts.count("range(0, 3)"));
}

TEST_CASE("names that have no UTF-8 are shown all the same", "[kinds]") {
  Names names(
      "odd = '\\ud800'\ndef f(): pass\nf.__qualname__ = odd\nf.__code__ = f.__code__.replace(co_qualname=odd)\nb = f");
  Guarded g;
  const Register a = g.argument(0);
  g.guard(Op::NoAttribute, a, {kept(g, names["odd"])});
  g.guard(Op::QuietAttribute, a, {kept(g, names["odd"])});
  function_facts(g, a, names["f"]);
  g.guard(Op::Is, a, {kept(g, names["f"])});
  CHECK(g.holds({names["f"]}));
  for (const std::string& text : g.program.texts(g.file, true)) CHECK(text.find("ud800") != std::string::npos);
  CHECK_FALSE(PyErr_Occurred());
}

TEST_CASE("look-ups run no code of the program, whatever has the same hash", "[kinds]") {
  Names names(
      "ran = []\n"
      "class Like:\n"
      "    def __init__(self, value): self.value = value\n"
      "    def __hash__(self): return hash(self.value)\n"
      "    def __eq__(self, other): ran.append(other); return self.value == getattr(other, 'value', other)\n"
      "class Text(str):\n"
      "    __hash__ = str.__hash__\n"
      "    def __eq__(self, other): ran.append(other); return True\n"
      "few, many = {1: 'one', 'k': 2, (1, 'k'): 3}, {i: i for i in range(1000)} | {'k': 2, (1, 'k'): 3}\n"
      "like_few = {Like(1): 'one', Text('k'): 2, (Like(1), 'k'): 3}\n"
      "like_many = {Like(i): i for i in range(1000)} | {Text('k'): 2, (1, Text('k')): 3}\n"
      "tables = [few, many, set(few), set(many), frozenset(many)]\n"
      "unknown = [like_few, like_many, set(like_few), set(like_many)]\n"
      "keys, absent = [1, 'k', (1, 'k')], [-5, 1001, 'm', (1, 'm'), (), None, 1.5]\n"
      "ran.clear()\n");
  const auto each = [&](const char* name, auto visit) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(names[name]); i++) visit(PyList_GET_ITEM(names[name], i));
  };
  each("tables", [&](PyObject* table) {
    each("keys", [&](PyObject* key) { CHECK(presence_of(table, key) == Presence::Present); });
    each("absent", [&](PyObject* key) { CHECK(presence_of(table, key) == Presence::Absent); });
    if (PyDict_Check(table)) each("keys", [&](PyObject* key) { CHECK(item_in(table, key)); });
  });
  each("unknown", [&](PyObject* table) {
    each("keys", [&](PyObject* key) { CHECK(presence_of(table, key) == Presence::Unknown); });
    each("absent", [&](PyObject* key) { CHECK(presence_of(table, key) == Presence::Absent); });
    if (PyDict_Check(table)) each("keys", [&](PyObject* key) { CHECK_FALSE(item_in(table, key)); });
  });
  CHECK(names.shown("ran") == "[]");
}
