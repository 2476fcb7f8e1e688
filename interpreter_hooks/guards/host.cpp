// Host arithmetic on numbers and strings: what the frame would have computed from inputs that change between calls. An
// exception is a miss: the frame is interpreted and raises it itself.
#include "interpreter_hooks/cpython/instructions.h"
#include "interpreter_hooks/cpython/numbers.h"
#include "interpreter_hooks/guards/functions.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/undisturbed.h"

namespace terra::capture {

namespace {

PyObject* power(PyObject* a, PyObject* b) { return PyNumber_Power(a, b, Py_None); }

using BinaryFunction = PyObject* (*)(PyObject*, PyObject*);
/// In the order of NB_ADD..NB_XOR; the in-place codes behind them mean the same for immutable operands.
constexpr BinaryFunction binary_functions[] = {
    PyNumber_Add,      PyNumber_And,        PyNumber_FloorDivide, PyNumber_Lshift, PyNumber_MatrixMultiply,
    PyNumber_Multiply, PyNumber_Remainder,  PyNumber_Or,          power,           PyNumber_Rshift,
    PyNumber_Subtract, PyNumber_TrueDivide, PyNumber_Xor};
constexpr const char* binary_signs[] = {"+", "&", "//", "<<", "@", "*", "%", "|", "**", ">>", "-", "/", "^"};
constexpr const char* compare_signs[] = {"<", "<=", "==", "!=", ">", ">="};
constexpr const char* unary_signs[] = {"-", "+", "~", "not "};

bool is_short_number(PyObject* object) {
  return PyFloat_CheckExact(object) || (PyLong_Check(object) && terra_int_is_short(object));
}

std::string result_text(const Word* at, const RegisterFile& file, const std::string& what) {
  return name_dst(at, file) + " = " + what;
}

}  // namespace

bool binary_holds(Word* at, Run& run) {
  PyObject *a = a_of(at, run), *b = b_of(at, run);
  const BinaryFunction function = binary_functions[at[1] % TERRA_IN_PLACE];
  if (is_short_number(a) && is_short_number(b) && function != power) [[likely]] {
    return computed(at, run, function(a, b));
  }
  const Undisturbed held;
  return computed(at, run, function(a, b));
}
std::string binary_text(const Word* at, const RegisterFile& file) {
  return result_text(at, file, name_a(at, file) + " " + binary_signs[at[1] % TERRA_IN_PLACE] + " " + name_b(at, file));
}

bool compare_holds(Word* at, Run& run) {
  PyObject *a = a_of(at, run), *b = b_of(at, run);
  const int how = static_cast<int>(at[1]);
  if (is_short_number(a) && is_short_number(b)) [[likely]]
    return computed(at, run, PyObject_RichCompare(a, b, how));
  const Undisturbed held;
  return computed(at, run, PyObject_RichCompare(a, b, how));
}
std::string compare_text(const Word* at, const RegisterFile& file) {
  return result_text(at, file, name_a(at, file) + " " + compare_signs[at[1]] + " " + name_b(at, file));
}

bool unary_holds(Word* at, Run& run) {
  PyObject* a = a_of(at, run);
  const CollectorHeld held;
  switch (at[1]) {
    case unary_negative: return computed(at, run, PyNumber_Negative(a));
    case unary_positive: return computed(at, run, PyNumber_Positive(a));
    case unary_invert: return computed(at, run, PyNumber_Invert(a));
    default: return computed(at, run, PyBool_FromLong(!PyObject_IsTrue(a)));
  }
}
std::string unary_text(const Word* at, const RegisterFile& file) {
  return result_text(at, file, unary_signs[at[1]] + name_a(at, file));
}

bool call_holds(Word* at, Run& run) {
  PyObject* arguments[most_packed];
  int count = 0;
  each_packed(at, 1, [&](Register r) { arguments[count++] = run.registers[r]; });
  const Undisturbed held;
  return computed(at, run, PyObject_Vectorcall(object_word(at[1]), arguments, count, nullptr));
}
std::string call_text(const Word* at, const RegisterFile& file) {
  return result_text(at, file, "a call of " + short_text(object_word(at[1])));
}

bool format_holds(Word* at, Run& run) {
  PyObject* value = a_of(at, run);
  PyObject* spec = head(at).b == no_register ? nullptr : b_of(at, run);
  PyObject* shown = nullptr;
  const Undisturbed held;
  switch (at[1]) {
    case 1: shown = PyObject_Str(value); break;
    case 2: shown = PyObject_Repr(value); break;
    case 3: shown = PyObject_ASCII(value); break;
    default: shown = Py_NewRef(value); break;
  }
  PyObject* text = shown ? PyObject_Format(shown, spec) : nullptr;
  Py_XDECREF(shown);
  return computed(at, run, text);
}
std::string format_text(const Word* at, const RegisterFile& file) {
  return result_text(at, file, "text of " + name_a(at, file));
}

bool tuple_holds(Word* at, Run& run) {
  const CollectorHeld held;
  Py_ssize_t count = 0;
  each_packed(at, 0, [&](Register) { count++; });
  PyObject* tuple = PyTuple_New(count);
  if (!tuple) return computed(at, run, nullptr);
  count = 0;
  each_packed(at, 0, [&](Register r) { PyTuple_SET_ITEM(tuple, count++, Py_NewRef(run.registers[r])); });
  return computed(at, run, tuple);
}
std::string tuple_text(const Word* at, const RegisterFile& file) { return result_text(at, file, "a tuple"); }

bool copy_holds(Word* at, Run& run) { return computed(at, run, Py_NewRef(a_of(at, run))); }
std::string copy_text(const Word* at, const RegisterFile& file) { return result_text(at, file, name_a(at, file)); }

}  // namespace terra::capture
