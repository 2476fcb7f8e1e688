// Whether code of the program runs when what stores replace goes: of each place, and of all together.
#include "tests/unit/interpreter_hooks/support.h"

using namespace terra::capture;

namespace {

constexpr const char* classes =
    "class Loud:\n"
    "    def __del__(self): pass\n"
    "class Quiet: pass\n"
    "class Holder:\n"
    "    def __init__(self, *held): self.a, self.b = held\n"
    "import weakref, collections\n"
    "def called(r): pass\n";

/// The guards on `s.a` and `s.b`, for `s` of the names.
bool both_attributes_go_quietly(Names& names) {
  Guarded g;
  const Register s = g.argument(0);
  for (const char* name : {"a", "b"}) g.guard(Op::QuietAttribute, s, {word_of(g.file.keep(interned(name)))});
  g.guard(Op::QuietTogether, no_register);
  return g.holds({names["s"]});
}

bool attribute_goes_quietly(Names& names) {
  Guarded g;
  g.guard(Op::QuietAttribute, g.argument(0), {word_of(g.file.keep(interned("a")))});
  return g.holds({names["s"]});
}

/// The guards on places of `s`.
bool items_go_quietly(Names& names, const std::vector<int>& places) {
  Guarded g;
  const Register s = g.argument(0);
  for (const int place : places) {
    PyObject* number = PyLong_FromLong(place);
    g.guard(Op::QuietItem, s, {0}, g.file.constant(number));
    Py_DECREF(number);
  }
  g.guard(Op::QuietTogether, no_register);
  return g.holds({names["s"]});
}

}  // namespace

TEST_CASE("an object with a finalizer goes aloud, unless somebody else has it", "[departures]") {
  Names names(classes);
  names.run("s = Holder(Loud(), None)");
  CHECK_FALSE(attribute_goes_quietly(names));
  names.run("other = s.a");
  CHECK(attribute_goes_quietly(names));
  names.run("del other; s.a = [1, {'k': (Loud(),)}]");
  CHECK_FALSE(attribute_goes_quietly(names));
  names.run("s.a = Quiet(); r = weakref.ref(s.a)");
  CHECK(attribute_goes_quietly(names));
  names.run("r = weakref.ref(s.a, called)");
  CHECK_FALSE(attribute_goes_quietly(names));
  names.run("del s.a");
  CHECK(attribute_goes_quietly(names));
}

TEST_CASE("references that go together are counted together", "[departures]") {
  Names names(classes);
  names.run("x = Loud(); s = Holder(x, x); del x");
  CHECK_FALSE(both_attributes_go_quietly(names));
  names.run("keep = s.a");
  CHECK(both_attributes_go_quietly(names));
  names.run("del keep");
  CHECK_FALSE(both_attributes_go_quietly(names));
  names.run("x = Loud(); s = Holder([x], x); del x");  // one of them inside of what goes alone
  CHECK_FALSE(both_attributes_go_quietly(names));
  names.run("x = Loud(); s = Holder((x, x, x), [x] * 30); del x");
  CHECK_FALSE(both_attributes_go_quietly(names));
  names.run("x = Quiet(); s = Holder((x, x, x), [x] * 30); del x");
  CHECK(both_attributes_go_quietly(names));
  names.run("x = Loud(); s = Holder(1.5, x); y = [x]");
  CHECK(both_attributes_go_quietly(names));
}

TEST_CASE("many references to one object are no reason to think that it stays", "[departures]") {
  Names names(classes);
  names.run("x = Loud(); s = Holder([x] * 1000, None); del x");
  CHECK_FALSE(attribute_goes_quietly(names));
  names.run("keep = s.a[0]");
  CHECK(attribute_goes_quietly(names));
}

TEST_CASE("items that go together are counted together", "[departures]") {
  Names names(classes);
  for (const char* kind : {"list", "tuple", "collections.deque"}) {
    names.run(std::string("x = Loud(); s = ") + kind + "([1, x, 2, x]); del x");
    CHECK(items_go_quietly(names, {-1}));
    CHECK(items_go_quietly(names, {-1, -2}));
    CHECK_FALSE(items_go_quietly(names, {-1, 1}));
    CHECK(items_go_quietly(names, {-1, 7}));
  }
}

TEST_CASE("more places than fit beside the registers", "[departures]") {
  Names names(classes);
  names.run("x = Loud(); s = [x] * 20; keep = x");
  std::vector<int> places;
  for (int i = 0; i < 20; i++) places.push_back(i);
  CHECK(items_go_quietly(names, places));
  names.run("del x, keep");
  CHECK_FALSE(items_go_quietly(names, places));
  places.pop_back();
  CHECK(items_go_quietly(names, places));
}

TEST_CASE("a key that is deleted goes with its value", "[departures]") {
  Names names(classes);
  const auto key_goes_quietly = [&](Word deleted) {
    Guarded g;
    const Register d = g.argument(0), k = g.read(Op::KeyAt, d, {0});
    g.guard(Op::QuietItem, d, {deleted}, k);
    return g.holds({names["d"]});
  };
  names.run("d = {Loud(): 1}");
  CHECK(key_goes_quietly(0));
  CHECK_FALSE(key_goes_quietly(1));
  names.run("k = next(iter(d))");
  CHECK(key_goes_quietly(1));
  names.run("d = {'k': Loud()}");
  CHECK_FALSE(key_goes_quietly(0));
}

TEST_CASE("everything that a container holds", "[departures]") {
  Names names(classes);
  const auto contents_go_quietly = [&] {
    Guarded g;
    g.guard(Op::QuietItems, g.argument(0));
    g.guard(Op::QuietTogether, no_register);
    return g.holds({names["s"]});
  };
  for (const char* source : {"s = [1, (2, 'x'), {3: 4.5}]", "s = {'k': [1]}", "s = {1, 2}", "s = [Quiet(), Quiet()]"}) {
    names.run(source);
    CHECK(contents_go_quietly());
  }
  for (const char* source : {"s = [Loud()]", "s = {'k': [Loud()]}", "s = {Loud()}", "s = {Loud(): 1}"}) {
    names.run(source);
    CHECK_FALSE(contents_go_quietly());
  }
}
