// What programs and register files can say, and what becomes of what they can't.
#include "tests/unit/interpreter_hooks/support.h"

using namespace terra::capture;

namespace {

std::vector<Register> unpacked(const std::vector<Register>& registers) {
  Program program(kinds);
  program.emit(Op::AllDistinct, no_register, no_register, no_register, pack(registers));
  std::vector<Register> found;
  if (!program.spoilt()) each_packed(program.at(0), 0, [&](Register r) { found.push_back(r); });
  return found;
}

}  // namespace

TEST_CASE("a head keeps what it was made of", "[program]") {
  for (const Register r : {Register(INT16_MIN), Register(-1), Register(0), Register(INT16_MAX - 1), no_register}) {
    const Word word = word_of(Head{code(Op::Distinct), 255, r, 7, static_cast<Register>(r == 3 ? 4 : 3)});
    const Head read = head(&word);
    CHECK(read.kind == code(Op::Distinct));
    CHECK(read.words == 255);
    CHECK(read.dst == r);
    CHECK(read.a == 7);
    CHECK(read.b == 3);
  }
}

TEST_CASE("packed registers come out as they went in, up to the longest list", "[program]") {
  for (const size_t count :
       {size_t{0}, size_t{1}, size_t{3}, size_t{4}, size_t{5}, size_t{255}, size_t{1000}, most_packed}) {
    std::vector<Register> registers;
    for (size_t i = 0; i < count; i++) registers.push_back(static_cast<Register>(i % 2 ? -static_cast<int>(i) : i));
    CHECK(unpacked(registers) == registers);
  }
}

TEST_CASE("an instruction that is too long spoils the program and is left out", "[program]") {
  Program program(kinds);
  program.emit(Op::AllDistinct, no_register, no_register, no_register, std::vector<Word>(most_operands));
  CHECK_FALSE(program.spoilt());
  const int end = program.end();
  program.emit(Op::AllDistinct, no_register, no_register, no_register, std::vector<Word>(most_operands + 1));
  CHECK(program.spoilt());
  CHECK(program.end() == end);
  CHECK(head(program.at(0)).words == most_operands + 1);
}

TEST_CASE("a file gives each constant and each register its own place, and says when there is none left", "[program]") {
  Names names;
  RegisterFile file;
  for (size_t i = 0; i < most_constants; i++) {
    PyObject* number = PyLong_FromSize_t(i);
    REQUIRE(file.constant(number) == -1 - static_cast<int>(i));
    Py_DECREF(number);
  }
  CHECK_FALSE(file.spoilt());
  CHECK(file.full());
  const Py_ssize_t references = Py_REFCNT(Py_None);
  CHECK(file.constant(Py_None) == -1);
  CHECK(file.spoilt());
  CHECK(Py_REFCNT(Py_None) == references);

  RegisterFile other;
  for (size_t i = 0; i < most_registers; i++) REQUIRE(other.add("", i % 2) == static_cast<int>(i));
  CHECK_FALSE(other.spoilt());
  const Register none_left = other.add("", true);
  CHECK(other.spoilt());
  CHECK(none_left >= 0);
  CHECK(static_cast<size_t>(none_left) < other.size());

  std::vector<PyObject*> space(file.words());
  PyObject** const registers = file.prepare(space.data());
  CHECK(PyLong_AsLong(registers[-1]) == 0);
  CHECK(PyLong_AsLong(registers[INT16_MIN]) == INT16_MAX);
}

TEST_CASE("what a file watches may die, and the file knows", "[program]") {
  Names names("class C: pass\nc = C()\nimport gc");
  RegisterFile file;
  file.watch(names["C"]);
  CHECK_FALSE(file.stale());
  names.run("del c, C; gc.collect()");
  CHECK(file.stale());
}

TEST_CASE("owned registers are released, borrowed ones are not", "[program]") {
  Names names("kept = object()\nmade = [kept]");
  Guarded g;
  const Register list = g.argument(0);
  g.read(Op::Item, list, {0});
  const Register tuple = g.file.add("t", true);
  g.program.emit(Op::Tuple, tuple, no_register, no_register, pack({list, list}));
  const Py_ssize_t of_list = Py_REFCNT(names["made"]), of_item = Py_REFCNT(names["kept"]);
  for (int i = 0; i < 10; i++) CHECK(g.holds({names["made"]}));
  CHECK(Py_REFCNT(names["made"]) == of_list);
  CHECK(Py_REFCNT(names["kept"]) == of_item);
}

TEST_CASE("guards that allocate don't let the collector run", "[program]") {
  Names names(
      "import gc, itertools, weakref\n"
      "class Loud:\n"
      "    ran = 0\n"
      "    def __del__(self): Loud.ran += 1\n"
      "def cycle():\n"
      "    loud = Loud(); loud.me = loud\n"
      "box = [1, 2]\n"
      "threshold = gc.get_threshold()\n"
      "gc.collect(); gc.disable(); cycle(); gc.set_threshold(1); gc.enable()\n");
  const std::string before = names.shown("Loud.ran");
  {
    Guarded g;
    const Register box = g.argument(0);
    const Register first = g.read(Op::Item, box, {0});
    for (int i = 0; i < 8; i++)
      g.program.emit(Op::Tuple, g.file.add("t", true), no_register, no_register, pack({box, first}));
    g.program.emit(Op::Call, g.file.add("c", true), no_register, no_register,
                   call_operands(g.file, reinterpret_cast<PyObject*>(&PyList_Type), {box}));
    std::vector<PyObject*> arguments = {names["box"]}, space(g.file.words());
    PyObject* loud_type = names["Loud"];
    PyGC_Disable();
    names.run("cycle()");
    PyGC_Enable();
    Run run{g.file.prepare(space.data()), arguments.data()};
    PyObject* ran = PyObject_GetAttrString(loud_type, "ran");
    CHECK(g.program.run(run) < 0);
    PyObject* ran_then = PyObject_GetAttrString(loud_type, "ran");
    CHECK(PyLong_AsLong(ran) == PyLong_AsLong(ran_then));
    CHECK(PyGC_IsEnabled());
    g.file.release(run.registers);
    Py_DECREF(ran);
    Py_DECREF(ran_then);
  }
  names.run("gc.set_threshold(*threshold); gc.collect()");
  CHECK(names.shown("Loud.ran") != before);
}
