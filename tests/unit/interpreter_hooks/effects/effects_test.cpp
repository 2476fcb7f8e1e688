// Each kind of effect does to objects what the program would have done, keeps what it uses alive, and leaks nothing.
#include "tests/unit/interpreter_hooks/support.h"

#include "interpreter_hooks/effects/effects.h"

using namespace terra::capture;

namespace {

/// An entry program that reads arguments, and effects.
struct Effects {
  Guarded g;
  EffectProgram program;
  Program late{kinds};

  Register constant(PyObject* object) { return g.file.constant(object); }
  Register made(Effect kind, const std::vector<Word>& operands = {}, Register a = no_register,
                Register b = no_register) {
    const Register reg = g.file.add("made", true);
    program.emit(kind, reg, a, b, operands);
    return reg;
  }
  /// The result as repr; "error" when an effect has raised, with the exception cleared.
  std::string run(std::vector<Register> results, std::vector<PyObject*> arguments = {}) {
    program.finish(std::move(results), late, g.file);
    std::vector<PyObject*> space(g.file.words()), out(program.result_count());
    Run run{g.file.prepare(space.data()), arguments.data()};
    REQUIRE(g.program.run(run) < 0);
    bool done;
    {
      const EffectProgram::Held held(program, run);
      done = program.run(run, out.data());
    }
    g.file.release(run.registers);
    if (!done) {
      CHECK(PyErr_Occurred());
      PyErr_Clear();
      return "error";
    }
    CHECK_FALSE(PyErr_Occurred());
    std::string text;
    for (PyObject* object : out) {
      PyObject* shown = PyObject_Repr(object);  // of a null: <NULL>
      text += (text.empty() ? "" : " ") + std::string(PyUnicode_AsUTF8(shown));
      Py_DECREF(shown);
      Py_XDECREF(object);
    }
    return text;
  }
};

Word kept(Effects& e, PyObject* object) { return word_of(e.g.file.keep(object)); }
Word kept(Effects& e, const char* name) { return word_of(e.g.file.keep(interned(name))); }

std::vector<Word> with(std::vector<Word> first, const std::vector<Register>& registers) {
  const std::vector<Word> words = pack(registers);
  first.insert(first.end(), words.begin(), words.end());
  return first;
}

PyObject* method_of(const char* type, const char* name) {
  PyObject* builtin = PyDict_GetItemString(PyEval_GetBuiltins(), type);
  return PyObject_GetAttrString(builtin, name);  // kept for the life of the test program
}

}  // namespace

TEST_CASE("fresh containers hold their items in order", "[effects]") {
  Names names("x, y = 'x', [1]");
  const std::pair<Effect, const char*> kinds[] = {{Effect::MakeTuple, "('x', [1], 'x')"},
                                                  {Effect::MakeList, "['x', [1], 'x']"}};
  for (const auto& [kind, text] : kinds) {
    Effects e;
    const Register x = e.g.argument(0), y = e.g.argument(1);
    CHECK(e.run({e.made(kind, pack({x, y, x}))}, {names["x"], names["y"]}) == text);
  }
  Effects e;
  const Register x = e.g.argument(0), y = e.g.argument(1);
  CHECK(e.run({e.made(Effect::MakeDict, pack({x, y, e.constant(Py_None), x}))}, {names["x"], names["y"]}) ==
        "{'x': [1], None: 'x'}");
  Effects unhashable;
  const Register list = unhashable.g.argument(0);
  CHECK(unhashable.run({unhashable.made(Effect::MakeDict, pack({list, list}))}, {names["y"]}) == "error");
}

TEST_CASE("a long list is made whole", "[effects]") {
  Names names;
  Effects e;
  std::vector<Register> items;
  for (int i = 0; i < 1000; i++) {
    PyObject* number = PyLong_FromLong(i);
    items.push_back(e.constant(number));
    Py_DECREF(number);
  }
  const Register made = e.made(Effect::MakeList, pack(items));
  const Register sum = e.made(Effect::MakeCall, with({kept(e, method_of("list", "index")), 0}, {made, items[987]}));
  CHECK(e.run({sum}) == "987");
  CHECK_FALSE(e.program.program().spoilt());
  e.program.emit(Effect::MakeList, made, no_register, no_register, std::vector<Word>(most_operands + 1));
  CHECK(e.program.program().spoilt());
}

TEST_CASE("fresh objects, methods, cells and functions", "[effects]") {
  Names names(
      "class C:\n"
      "    def __repr__(self): return f'C{vars(self)}'\n"
      "    def m(self, *rest): return rest\n"
      "    @property\n"
      "    def p(self): return 'got'\n"
      "class T(tuple): pass\n"
      "def outer():\n"
      "    x = None\n"
      "    def f(a, b=1, *, c): return a, b, c, x\n"
      "    return f\n"
      "f, c = outer(), C()\n");
  auto* function = reinterpret_cast<PyFunctionObject*>(names["f"]);
  {
    Effects e;
    CHECK(e.run({e.made(Effect::MakeObject, with({kept(e, names["C"])}, {e.constant(interned("x")),
                                                                         e.constant(Py_True)}))}) == "C{'x': True}");
  }
  {
    Effects e;
    CHECK(e.run({e.made(Effect::MakeTupleOf, with({kept(e, names["T"])}, {e.constant(Py_True)}))}) == "(True,)");
  }
  {
    Effects e;
    PyObject* property = PyDict_GetItemString(reinterpret_cast<PyTypeObject*>(names["C"])->tp_dict, "p");
    CHECK(e.run({e.made(Effect::MakeBound, {}, e.constant(property), e.g.argument(0))}, {names["c"]}) == "'got'");
  }
  Effects e;
  const Register cell = e.made(Effect::MakeCell);
  e.program.emit(Effect::SetCell, no_register, cell, e.constant(Py_Ellipsis));
  const Register closure = e.made(Effect::MakeTuple, pack({cell}));
  PyObject* five = PyLong_FromLong(5);
  const Register defaults = e.made(Effect::MakeTuple, pack({e.constant(five)}));
  Py_DECREF(five);
  const Register made =
      e.made(Effect::MakeFunction,
             with({kept(e, function->func_code), kept(e, function->func_globals), kept(e, function->func_qualname)},
                  {e.constant(interned("c")), e.constant(Py_False)}),
             closure, defaults);
  e.program.emit(Effect::SetAttribute, no_register, e.constant(names["c"]), made, {kept(e, "made")});
  CHECK(e.run({no_register}) == "<NULL>");
  CHECK(names.shown("c.made(0)") == "(0, 5, False, Ellipsis)");
  names.run("del c.made");
}

TEST_CASE("stores and deletions", "[effects]") {
  Names names("class C: pass\nc, l, d = C(), [1, 2, 3], {'k': 1}\nc.gone = 1");
  Effects e;
  const Register c = e.g.argument(0), l = e.g.argument(1), d = e.g.argument(2);
  const Register none = e.constant(Py_None), yes = e.constant(Py_True);
  e.program.emit(Effect::SetAttribute, no_register, c, yes, {kept(e, "x")});
  e.program.emit(Effect::SetPlainAttribute, no_register, c, none, {kept(e, "y")});
  e.program.emit(Effect::DeleteAttribute, no_register, c, no_register, {kept(e, "gone")});
  const Register first = e.constant(PyLong_FromLong(0)), key = e.constant(interned("new"));
  e.program.emit(Effect::SetItem, no_register, l, yes, {static_cast<Word>(static_cast<uint16_t>(first))});
  e.program.emit(Effect::SetItem, no_register, d, l, {static_cast<Word>(static_cast<uint16_t>(key))});
  e.program.emit(Effect::DeleteItem, no_register, d, no_register,
                 {static_cast<Word>(static_cast<uint16_t>(e.constant(interned("k"))))});
  e.program.emit(Effect::Append, no_register, l, none);
  e.program.emit(Effect::CallMethod, no_register, no_register, no_register,
                 with({kept(e, method_of("list", "reverse")), 0}, {l}));
  CHECK(e.run({l}, {names["c"], names["l"], names["d"]}) == "[None, 3, 2, True]");
  CHECK(names.shown("vars(c), d") == "({'x': True, 'y': None}, {'new': [None, 3, 2, True]})");
  for (const std::string& text : e.program.program().texts(e.g.file, false)) CHECK_FALSE(text.empty());
}

TEST_CASE("an effect that raises ends the program there, and nothing is given back", "[effects]") {
  Names names("l = []\nclass C:\n    __slots__ = ()\nc = C()");
  Effects e;
  const Register l = e.g.argument(0), c = e.g.argument(1);
  e.program.emit(Effect::Append, no_register, l, e.constant(Py_True));
  e.program.emit(Effect::SetAttribute, no_register, c, l, {kept(e, "x")});
  e.program.emit(Effect::Append, no_register, l, e.constant(Py_False));
  CHECK(e.run({l}, {names["l"], names["c"]}) == "error");
  CHECK(names.shown("l") == "[True]");
}

TEST_CASE("what later effects and the late program use outlives code of the program that drops it", "[effects]") {
  Names names(
      "import weakref\n"
      "class C: pass\n"
      "class Trap:\n"
      "    def __setattr__(self, name, value): box.clear()\n"
      "box, trap, target = [C()], Trap(), C()\n"
      "alive = weakref.ref(box[0])\n");
  Effects e;
  const Register box = e.g.argument(0), trap = e.g.argument(1), target = e.g.argument(2);
  const Register item = e.g.read(Op::Item, box, {0});
  e.program.emit(Effect::SetAttribute, no_register, trap, e.constant(Py_None), {kept(e, "x")});
  e.program.emit(Effect::SetAttribute, no_register, target, item, {kept(e, "held")});
  CHECK(e.run({no_register}, {names["box"], names["trap"], names["target"]}) == "<NULL>");
  CHECK(names.shown("box, alive() is target.held") == "([], True)");

  Effects only_late;
  const Register list = only_late.g.argument(0), of_late = only_late.g.read(Op::Item, list, {0});
  only_late.late.emit(Op::Unary, only_late.g.file.add("late", true), of_late, no_register, {unary_not});
  only_late.program.finish({no_register}, only_late.late, only_late.g.file);
  std::vector<Register> used;
  only_late.program.each_use([&](Register r) { used.push_back(r); });
  CHECK(used == std::vector<Register>{of_late});
}

TEST_CASE("runs leave no references behind", "[effects]") {
  Names names("x = object()\nl = []");
  Effects e;
  const Register x = e.g.argument(0);
  const Register inner = e.made(Effect::MakeList, pack({x, x}));
  const Register outer = e.made(Effect::MakeTuple, pack({inner, x}));
  const Py_ssize_t before = Py_REFCNT(names["x"]);
  for (int i = 0; i < 50; i++) e.run({outer, inner, x}, {names["x"]});
  CHECK(Py_REFCNT(names["x"]) == before);
}
