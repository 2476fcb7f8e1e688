// Which variables can still be asked for behind an instruction.
#include <catch2/catch.hpp>

#include "interpreter_hooks/recorder/region/liveness.h"

#include <string>
#include <vector>

using namespace terra::capture;

namespace {

/// The function `f` of a program, and what is alive in it.
class Function {
 public:
  explicit Function(const std::string& source) {
    Py_Initialize();
    globals_ = PyDict_New();
    PyDict_SetItemString(globals_, "__builtins__", PyEval_GetBuiltins());
    PyObject* const ran = PyRun_String((source + "import dis\n").c_str(), Py_file_input, globals_, globals_);
    REQUIRE(ran);
    Py_DECREF(ran);
    PyObject* const f = PyDict_GetItemString(globals_, "f");
    REQUIRE(f);
    frame_.code = reinterpret_cast<PyCodeObject*>(PyFunction_GetCode(f));
    frame_.instructions = terra_instructions(frame_.code);
    frame_.locals.resize(static_cast<size_t>(frame_.code->co_nlocalsplus));
  }
  ~Function() { Py_DECREF(globals_); }
  Function(const Function&) = delete;

  /// The variables that are alive behind the first instruction of a line (counted from 1) that satisfies a condition
  /// on `i`, in the order of their slots.
  std::string behind(int line, const std::string& condition) const {
    const std::string text =
        "[i.offset // 2 for i in dis.get_instructions(f) if i.positions.lineno == " + std::to_string(line) + " and " +
        condition + "][0]";
    PyObject* const at = PyRun_String(text.c_str(), Py_eval_input, globals_, globals_);
    REQUIRE(at);
    const int offset = static_cast<int>(PyLong_AsLong(at));
    Py_DECREF(at);
    const Liveness liveness(frame_);
    std::string names;
    for (size_t k = 0; k < frame_.locals.size(); k++) {
      if (!liveness.behind(offset, k)) continue;
      if (!names.empty()) names += " ";
      names += PyUnicode_AsUTF8(terra_code_slot_name(frame_.code, static_cast<int>(k)));
    }
    return names;
  }

 private:
  PyObject* globals_;
  ShadowFrame frame_;
};

constexpr const char* call = "i.opname == 'CALL'";

}  // namespace

TEST_CASE("a variable is alive up to its last use, and not before it gets its value") {
  const Function f("def f(a, b):\n c = a()\n b()\n d = c\n b()\n return d\n");
  CHECK(f.behind(2, call) == "b");
  CHECK(f.behind(3, call) == "b c");
  CHECK(f.behind(5, call) == "d");
}

TEST_CASE("paths that part and meet keep what either asks for") {
  const Function f("def f(a, b, c):\n if a():\n  b()\n  return b\n else:\n  c = 1\n return c\n");
  CHECK(f.behind(2, call) == "b");
  CHECK(f.behind(3, call) == "b");
  CHECK(f.behind(6, "i.opname == 'STORE_FAST'") == "c");
}

TEST_CASE("what the next round asks for is alive, what it overwrites is not") {
  const Function f("def f(a, n):\n x = y = a\n for i in n:\n  a(y)\n  x = a(i)\n  y = a(x)\n return i\n");
  CHECK(f.behind(4, call) == "a i");
  CHECK(f.behind(5, call) == "a i");
  CHECK(f.behind(6, call) == "a i");
  CHECK(f.behind(6, "i.opname == 'STORE_FAST'") == "a y i");
  const Function g("def f(a):\n x = y = a\n while x():\n  y = a(y)\n return a\n");
  CHECK(g.behind(4, call) == "a x");
  CHECK(g.behind(4, "i.opname == 'STORE_FAST'") == "a x y");
}

TEST_CASE("what a handler asks for is alive wherever it may be come to") {
  const Function f("def f(a, b):\n c = 1\n try:\n  c = a()\n  a()\n except KeyError:\n  return c\n return b\n");
  CHECK(f.behind(4, call) == "a b c");
  CHECK(f.behind(5, call) == "b c");
  CHECK(f.behind(7, "i.opname == 'LOAD_FAST'") == "");
}

TEST_CASE("to delete a variable asks whether it is there") {
  const Function f("def f(a):\n b = 1\n a()\n del b\n a()\n return a\n");
  CHECK(f.behind(3, call) == "a b");
  CHECK(f.behind(5, call) == "a");
}

TEST_CASE("cells are alive everywhere, and everything where variables are asked for by name") {
  const Function f("def f(a):\n b = 1\n a()\n return lambda: b\n");
  CHECK(f.behind(3, call) == "b");
  CHECK(f.behind(4, "i.opname == 'MAKE_FUNCTION'") == "b");
  const Function g("def f(a):\n b = 1\n a()\n return locals()\n");
  CHECK(g.behind(3, call) == "a b");
}

TEST_CASE("long jumps and high slots are read with their prefixes") {
  std::string source = "def f(a):\n";
  for (int i = 0; i < 300; i++) source += " v" + std::to_string(i) + " = a\n";
  source += " while a():\n";
  for (int i = 0; i < 300; i++) source += "  v" + std::to_string(i) + " = v" + std::to_string((i + 1) % 300) + "\n";
  source += " return v299\n";
  const Function f(source);
  const std::string alive = f.behind(302, call);
  CHECK(alive.find("v299") != std::string::npos);
  CHECK(alive.find("v1 ") != std::string::npos);
  CHECK(f.behind(602, "i.opname == 'STORE_FAST'").find("v299") != std::string::npos);
}
