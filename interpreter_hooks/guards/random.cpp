#include "interpreter_hooks/guards/random.h"

#include "interpreter_hooks/guards/functions.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace terra::capture {

namespace {

/// Behind the object head: an int index and 624 words of the Mersenne twister.
constexpr size_t state_bytes = 4 + 624 * 4;

char* state_of(PyObject* generator) { return reinterpret_cast<char*>(generator) + sizeof(PyObject); }

}  // namespace

struct RandomStates::State {
  PyObject* generator;
  std::array<char, state_bytes> bytes;
};

void RandomStates::Deleter::operator()(std::vector<State>* states) const { delete states; }

bool random_state_is_known() {
  static const bool known = [] {
    PyObject* module = PyImport_ImportModule("_random");
    PyObject* type = module ? PyObject_GetAttrString(module, "Random") : nullptr;
    size_t size = (sizeof(PyObject) + state_bytes + alignof(PyObject*) - 1) / alignof(PyObject*) * alignof(PyObject*);
    bool fits = type && reinterpret_cast<PyTypeObject*>(type)->tp_basicsize == static_cast<Py_ssize_t>(size);
    PyErr_Clear();
    Py_XDECREF(module);
    Py_XDECREF(type);
    return fits;
  }();
  return known;
}

void RandomStates::save(PyObject* generator) {
  if (!saved_) saved_.reset(new std::vector<State>());
  bool known = std::any_of(saved_->begin(), saved_->end(), [&](const State& s) { return s.generator == generator; });
  if (known) return;
  State& state = saved_->emplace_back();
  state.generator = generator;
  std::memcpy(state.bytes.data(), state_of(generator), state_bytes);
}

void RandomStates::restore() {
  for (const State& state : *saved_) std::memcpy(state_of(state.generator), state.bytes.data(), state_bytes);
  saved_.reset();
}

bool draw_holds(Word* at, Run& run) {
  PyObject* generator = a_of(at, run);
  run.random.save(generator);
  PyObject* const arguments[] = {generator, head(at).b == no_register ? nullptr : b_of(at, run)};
  PyObject* number = PyObject_Vectorcall(object_word(at[1]), arguments, arguments[1] ? 2 : 1, nullptr);
  if (!number) PyErr_Clear();
  run.registers[head(at).dst] = number;
  return number != nullptr;
}
std::string draw_text(const Word* at, const RegisterFile& file) {
  return file.name(head(at).dst) + " = the next number of " + file.name(head(at).a);
}

}  // namespace terra::capture
