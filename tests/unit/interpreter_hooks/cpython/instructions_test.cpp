// What bytecode is decoded into, against what the compiler says of its opcodes.
#include <catch2/catch.hpp>

#include "interpreter_hooks/cpython/instructions.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

struct Effect {
  int (*of)(int arg, int flags);
};
struct Kind {
  const char* name;
  Effect pops, pushes;
  char next;
};

constexpr std::array<Kind, TERRA_KIND_COUNT> make_kinds() {
  std::array<Kind, TERRA_KIND_COUNT> kinds{};
#define TERRA_EFFECT(count)                                                           \
  Effect {                                                                            \
    [](int arg [[maybe_unused]], int flags [[maybe_unused]]) -> int { return count; } \
  }
#define TERRA_ROW(name, pops, pushes, next) \
  kinds[TERRA_##name] = Kind{#name, TERRA_EFFECT(pops), TERRA_EFFECT(pushes), #next[0]};
  TERRA_KINDS(TERRA_ROW)
#undef TERRA_ROW
#undef TERRA_EFFECT
  return kinds;
}
constexpr std::array<Kind, TERRA_KIND_COUNT> kinds = make_kinds();

/// Name -> number of the opcodes that compilers emit.
std::map<std::string, int> opcodes() {
  Py_Initialize();
  std::map<std::string, int> all;
  PyObject* const module = PyImport_ImportModule("dis");
  REQUIRE(module);
  PyObject* const map = PyObject_GetAttrString(module, "opmap");
  PyObject *name, *number;
  Py_ssize_t position = 0;
  while (PyDict_Next(map, &position, &name, &number)) {
    const std::string text = PyUnicode_AsUTF8(name);
    const int code = static_cast<int>(PyLong_AsLong(number));
    if (code < 256 && text.rfind("INSTRUMENTED_", 0) != 0) all[text] = code;
  }
  Py_DECREF(map);
  Py_DECREF(module);
  return all;
}

TerraInstruction decode(const std::vector<uint8_t>& units, int offset = 0) {
  return terra_decode(units.data(), static_cast<int>(units.size() / 2), offset);
}
TerraInstruction decode(int opcode, int arg) {
  return decode({static_cast<uint8_t>(opcode), static_cast<uint8_t>(arg)});
}

/// The instructions of the function `f` that a program defines.
struct Function {
  PyObject* globals;
  PyCodeObject* code;
  const TerraInstruction* instructions;

  explicit Function(const char* source) {
    Py_Initialize();
    globals = PyDict_New();
    PyDict_SetItemString(globals, "__builtins__", PyEval_GetBuiltins());
    PyObject* const ran = PyRun_String(source, Py_file_input, globals, globals);
    REQUIRE(ran);
    Py_DECREF(ran);
    code = reinterpret_cast<PyCodeObject*>(PyFunction_GetCode(PyDict_GetItemString(globals, "f")));
    instructions = terra_instructions(code);
    REQUIRE(instructions);
  }
  ~Function() { Py_DECREF(globals); }
  Function(const Function&) = delete;

  std::vector<TerraInstruction> all() const {
    std::vector<TerraInstruction> found;
    for (int at = 0; at < terra_code_units(code); at = instructions[at].next) found.push_back(instructions[at]);
    return found;
  }
  TerraInstruction first(int kind) const {
    for (const TerraInstruction& i : all())
      if (i.kind == kind) return i;
    FAIL("no instruction of that kind");
    return {};
  }
};

}  // namespace

TEST_CASE("pushes minus pops is the stack effect that the compiler uses") {
  // A call's effect is split between PRECALL and CALL in the compiler of 3.11.
  const std::set<std::string> split = {"CACHE", "CALL", "PRECALL", "RERAISE"};
  for (const auto& [name, code] : opcodes()) {
    INFO(name);
    if (split.count(name)) continue;
    for (const int arg : {0, 1, 2, 3, 5}) {
      if (name == "BUILD_SLICE" && arg != 2 && arg != 3) continue;
      const TerraInstruction i = decode(code, arg);
      if (i.kind == TERRA_UNKNOWN) {
        CHECK(i.flags == code);
        break;
      }
      const int effect = PyCompile_OpcodeStackEffectWithJump(code, arg, 0);
      const int without = PyCompile_OpcodeStackEffectWithJump(code, 0, 0);
      const Kind& kind = kinds[i.kind];
      const int expected = effect == PY_INVALID_STACK_EFFECT ? without : effect;
      if (expected != PY_INVALID_STACK_EFFECT)
        CHECK(kind.pushes.of(i.arg, i.flags) - kind.pops.of(i.arg, i.flags) == expected);
    }
    PyErr_Clear();
  }
}

TEST_CASE("opcodes without a kind are those of other code than functions, or send no event") {
  // Executed before the first event of a frame; class bodies and module code, coroutines, except*: reason 5.
  const std::set<std::string> known = {
      "COPY_FREE_VARS", "EXTENDED_ARG",  "MAKE_CELL",         "RETURN_GENERATOR", "ASYNC_GEN_WRAP",
      "CHECK_EG_MATCH", "DELETE_NAME",   "BEFORE_ASYNC_WITH", "END_ASYNC_FOR",    "GET_AITER",
      "GET_ANEXT",      "GET_AWAITABLE", "IMPORT_STAR",       "LOAD_BUILD_CLASS", "LOAD_NAME",
      "STORE_NAME",     "PRINT_EXPR",    "PREP_RERAISE_STAR", "LOAD_CLASSDEREF",  "SETUP_ANNOTATIONS",
  };
  for (const auto& [name, code] : opcodes()) {
    INFO(name);
    CHECK((decode(code, 1).kind == TERRA_UNKNOWN) == (known.count(name) == 1));
  }
}

TEST_CASE("prefixes are part of the instruction behind them") {
  const std::map<std::string, int> numbers = opcodes();
  const auto extended = static_cast<uint8_t>(numbers.at("EXTENDED_ARG"));
  const auto load = static_cast<uint8_t>(numbers.at("LOAD_CONST")), nop = static_cast<uint8_t>(numbers.at("NOP"));
  const std::vector<uint8_t> units = {extended, 1, extended, 2, load, 3, nop, 0};
  const TerraInstruction whole = decode(units), part = decode(units, 1);
  CHECK(whole.kind == TERRA_LOAD_CONST);
  CHECK(whole.arg == 0x10203);
  CHECK(whole.at == 2);
  CHECK(whole.next == 3);
  CHECK(part.arg == 0x203);
  CHECK(part.at == 2);
  CHECK(decode(units, 3).kind == TERRA_NOP);
  CHECK(decode({extended, 1}).kind == TERRA_UNKNOWN);  // at the end of what is no code
}

TEST_CASE("jumps lead to instructions") {
  const Function f(
      "def f(xs, a):\n"
      " for x in xs:\n"
      "  if x: continue\n"
      "  while a is None:\n"
      "   a = a or x\n"
      " return a\n");
  std::set<int> starts;
  for (int at = 0; at < terra_code_units(f.code); at = f.instructions[at].next) starts.insert(at);
  bool back = false;
  for (const TerraInstruction& i : f.all()) {
    INFO(kinds[i.kind].name);
    const char next = kinds[i.kind].next;
    CHECK((i.target >= 0) == (next == 'J' || next == 'B'));
    if (i.target >= 0) CHECK(starts.count(i.target));
    back = back || (i.target >= 0 && i.target <= i.at);
  }
  CHECK(back);
  const TerraInstruction loop = f.first(TERRA_FOR_ITER);
  CHECK(loop.target > loop.next);
}

TEST_CASE("how deep the stack is follows from the code") {
  const Function f(
      "def f(xs, m):\n"
      " with m as a, m as b:\n"
      "  for x in xs:\n"
      "   try: g(1, [y for y in xs if y and x])\n"
      "   except (KeyError, IndexError) as e: raise ValueError(x, *xs) from e\n"
      "   finally: xs[x:] = 'a' if x and a or b else f'{x!r:>{m}}'\n"
      "  else: yield from (yield)\n");
  bool begun = false;
  int deepest = 0;
  for (int at = 0; at < terra_code_units(f.code); at = f.instructions[at].next) {
    const TerraInstruction& i = f.instructions[at];
    begun = begun || i.kind == TERRA_RESUME || (at > 0 && f.instructions[at - 1].kind == TERRA_RESUME);
    INFO(at << " " << (kinds[i.kind].name ? kinds[i.kind].name : "unknown"));
    CHECK((begun || i.depth == -1));
    CHECK(i.depth <= f.code->co_stacksize);
    deepest = std::max(deepest, i.depth);
    if (i.depth < 0 || i.kind == TERRA_UNKNOWN) continue;
    CHECK(i.depth >= kinds[i.kind].pops.of(i.arg, i.flags));
    const int behind = i.depth - kinds[i.kind].pops.of(i.arg, i.flags) + kinds[i.kind].pushes.of(i.arg, i.flags);
    const char next = kinds[i.kind].next;
    if (next == 'N' || next == 'B') CHECK(f.instructions[i.next].depth == behind);
  }
  CHECK(deepest > f.code->co_stacksize / 2);
}

TEST_CASE("flags are not in arguments") {
  const Function f("def f(x):\n g\n return h(x)\n");
  std::map<std::string, int> flags;
  for (const TerraInstruction& i : f.all())
    if (i.kind == TERRA_LOAD_GLOBAL) flags[PyUnicode_AsUTF8(PyTuple_GET_ITEM(f.code->co_names, i.arg))] = i.flags;
  CHECK(flags == std::map<std::string, int>{{"g", 0}, {"h", TERRA_PUSHES_NULL}});
}

TEST_CASE("operators and comparisons are numbered alike everywhere") {
  const auto arg = [](const std::string& expression, int kind) {
    return Function(("def f(a, b):\n " + expression + "\n").c_str()).first(kind).arg;
  };
  const char* const signs[] = {"+", "&", "//", "<<", "@", "*", "%", "|", "**", ">>", "-", "/", "^"};
  for (int i = 0; i < TERRA_IN_PLACE; i++) {
    CHECK(arg("a " + std::string(signs[i]) + " b", TERRA_BINARY_OP) == i);
    CHECK(arg("a " + std::string(signs[i]) + "= b", TERRA_BINARY_OP) == TERRA_IN_PLACE + i);
  }
  const char* const comparisons[] = {"<", "<=", "==", "!=", ">", ">="};
  for (int i = Py_LT; i <= Py_GE; i++) {
    CHECK(arg("a " + std::string(comparisons[i]) + " b", TERRA_COMPARE_OP) == i);
    CHECK(arg("return 1 if a " + std::string(comparisons[i]) + " b else 2", TERRA_COMPARE_OP) == i);
  }
}

TEST_CASE("code is decoded once, whatever it has been specialised for") {
  const Function f("def f(n):\n s = 0\n for i in range(n): s += i\n return s\n");
  const std::vector<TerraInstruction> before = f.all();
  PyObject* const ran = PyRun_String("[f(50) for _ in range(100)]", Py_eval_input, f.globals, f.globals);
  REQUIRE(ran);
  Py_DECREF(ran);
  CHECK(terra_instructions(f.code) == f.instructions);
  PyObject* const bytes = PyCode_GetCode(f.code);
  const auto* const units = reinterpret_cast<const uint8_t*>(PyBytes_AS_STRING(bytes));
  for (int at = 0; at < terra_code_units(f.code); at++) {
    const TerraInstruction i = terra_decode(units, terra_code_units(f.code), at);
    CHECK(i.kind == f.instructions[at].kind);
    CHECK(i.arg == f.instructions[at].arg);
  }
  Py_DECREF(bytes);
  CHECK(before.size() == f.all().size());
}
