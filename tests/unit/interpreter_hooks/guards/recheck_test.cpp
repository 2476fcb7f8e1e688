// The short way through an entry program: it holds exactly while the whole program does, and with what that would read.
#include "tests/unit/interpreter_hooks/support.h"

#include "interpreter_hooks/guards/guard_memo.h"

using namespace terra::capture;

namespace {

/// A program over arguments that is noted after it has held.
struct Noted {
  Guarded g;
  GuardMemo guard_memo;
  std::vector<Register> wanted;

  bool whole(const std::vector<PyObject*>& arguments, std::vector<PyObject*>& read) {
    std::vector<PyObject*> space(g.file.words());
    Run run{g.file.prepare(space.data()), arguments.data()};
    const bool held = g.program.run(run) < 0;
    read.clear();
    for (const Register r : wanted) read.push_back(held ? run.registers[r] : nullptr);
    g.file.release(run.registers);
    return held;
  }
  bool shortly(const std::vector<PyObject*>& arguments, std::vector<PyObject*>& read) {
    std::vector<PyObject*> space(g.file.words());
    Run run{g.file.prepare(space.data()), arguments.data()};
    const bool held = guard_memo.holds(run, g.file);
    read.clear();
    for (const Register r : wanted) read.push_back(held ? run.registers[r] : nullptr);
    if (held) g.file.release(run.registers);
    return held;
  }
  void note(const std::vector<PyObject*>& arguments) {
    std::vector<PyObject*> space(g.file.words());
    Run run{g.file.prepare(space.data()), arguments.data()};
    REQUIRE(g.program.run(run) < 0);
    std::vector<bool> needed(g.file.size(), false);
    for (const Register r : wanted) needed[static_cast<size_t>(r)] = true;
    guard_memo.note(g.program, run, needed, {});
    g.file.release(run.registers);
  }
};

/// self.child.table['k'], all guarded as the recorder would.
void follow(Noted& n, Names& names) {
  Guarded& g = n.g;
  const auto kept = [&](PyObject* object) { return word_of(g.file.keep(object)); };
  const Register self = g.argument(0), globals = g.argument(1);
  g.guard(Op::Type, self, {kept(names["C"])});
  g.guard(Op::NoAttribute, self, {kept(interned("absent"))});
  const Register child = g.read(Op::Attribute, self, {kept(interned("child"))});
  g.guard(Op::Type, child, {kept(names["C"])});
  const Register table = g.read(Op::Attribute, child, {kept(interned("table"))});
  g.guard(Op::Type, table, {kept(reinterpret_cast<PyObject*>(&PyDict_Type))});
  const Register value = g.read(Op::Key, table, {kept(interned("k"))});
  const Register f = g.read(Op::Key, globals, {kept(interned("f"))});
  auto* function = reinterpret_cast<PyFunctionObject*>(names["f"]);
  g.guard(Op::Code, f,
          {kept(function->func_code), kept(function->func_globals), word_of(function->func_defaults),
           word_of(function->func_kwdefaults)});
  n.wanted = {child, table, value, f};
}

constexpr const char* world =
    "class C: pass\n"
    "class D(C): pass\n"
    "def f(): pass\n"
    "def other(): pass\n"
    "a = C(); a.child = C(); a.child.table = {'k': 'v'}\n"
    "g = {'f': f}\n";

}  // namespace

TEST_CASE("the short way holds while nothing has changed, and reads what the whole way reads", "[guard_memo]") {
  Names names(world);
  Noted n;
  follow(n, names);
  std::vector<PyObject*> by_whole, by_short;
  const std::vector<PyObject*> arguments = {names["a"], names["g"]};
  CHECK_FALSE(n.shortly(arguments, by_short));
  n.note(arguments);
  for (int i = 0; i < 3; i++) {
    CHECK(n.whole(arguments, by_whole));
    CHECK(n.shortly(arguments, by_short));
    CHECK(by_short == by_whole);
  }
  CHECK(n.guard_memo.passes() == 3);
  CHECK(n.guard_memo.words() > 0);
}

TEST_CASE("whatever is changed, the short way never holds where the whole way doesn't", "[guard_memo]") {
  const char* changes[] = {"a.child = C()",
                           "a.child = a.child",
                           "a.child.table = {'k': 'w'}",
                           "a.child.table = dict(a.child.table)",
                           "a.child.table['k'] = 'w'",
                           "a.child.table['other'] = 1",
                           "del a.child.table['k']",
                           "a.absent = 1",
                           "a.__dict__['absent'] = 1",
                           "vars(a)",
                           "a.__dict__ = {'child': a.child}",
                           "a.__dict__ = {'child': a.child, 'absent': 2}",
                           "a.child.__dict__ = {'table': {'k': 'w'}}",
                           "a.__class__ = D",
                           "a.child.__class__ = D",
                           "del a.child",
                           "a.x = 1",
                           "C.absent = 1",
                           "C.child = property(lambda self: None)",
                           "g['f'] = other",
                           "g['f'] = f",
                           "g['h'] = f",
                           "f.__code__ = other.__code__",
                           "f.__defaults__ = (1,)",
                           "f.__kwdefaults__ = {'x': 1}",
                           "a.child.table = None",
                           "a.child.table = type('E', (dict,), {})(k='v')",
                           "x = a.child; del a.child; import gc; gc.collect(); a.child = x"};
  for (const char* change : changes) {
    INFO(change);
    Names names(world);
    Noted n;
    follow(n, names);
    const std::vector<PyObject*> arguments = {names["a"], names["g"]};
    n.note(arguments);
    names.run(change);
    std::vector<PyObject*> by_whole, by_short;
    const bool shortly = n.shortly(arguments, by_short), whole = n.whole(arguments, by_whole);
    CHECK((!shortly || whole));
    if (shortly && whole) CHECK(by_short == by_whole);
    CHECK_FALSE(PyErr_Occurred());
  }
}

TEST_CASE("another argument is checked, not remembered", "[guard_memo]") {
  Names names(world);
  names.run("b = C(); b.child = C(); b.child.table = {'k': 'w'}\nd = D()\n");
  Noted n;
  follow(n, names);
  n.note({names["a"], names["g"]});
  std::vector<PyObject*> by_whole, by_short;
  for (const char* name : {"b", "a", "d"}) {
    const std::vector<PyObject*> arguments = {names[name], names["g"]};
    const bool shortly = n.shortly(arguments, by_short), whole = n.whole(arguments, by_whole);
    CHECK((!shortly || whole));
    if (shortly && whole) CHECK(by_short == by_whole);
    n.note({names["a"], names["g"]});
  }
}

TEST_CASE("what a failed short way has gathered is forgotten", "[guard_memo]") {
  Names names(
      "class Loud:\n    def __del__(self): pass\nclass C: pass\na, b = C(), C()\na.x = a.y = Loud(); keep = a.x\nb.z = "
      "1");
  Guarded g;
  const Register a = g.argument(0), b = g.argument(1);
  g.guard(Op::QuietAttribute, a, {word_of(g.file.keep(interned("x")))});
  g.guard(Op::QuietAttribute, a, {word_of(g.file.keep(interned("y")))});
  g.guard(Op::QuietTogether, no_register);
  g.read(Op::Attribute, b, {word_of(g.file.keep(interned("z")))});
  std::vector<PyObject*> space(g.file.words()), arguments = {names["a"], names["b"]};
  GuardMemo guard_memo;
  {
    Run run{g.file.prepare(space.data()), arguments.data()};
    REQUIRE(g.program.run(run) < 0);
    guard_memo.note(g.program, run, std::vector<bool>(g.file.size(), false), {});
    CHECK(run.leaving.all().size() == 2);
  }
  names.run("b.z = 2\nb.w = 1\ndel b.z");
  Run run{g.file.prepare(space.data()), arguments.data()};
  CHECK_FALSE(guard_memo.holds(run, g.file));
  CHECK(run.leaving.all().empty());
}
