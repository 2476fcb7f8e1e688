#include "interpreter_hooks/guards/random.h"

#include "interpreter_hooks/cpython/class.h"
#include "interpreter_hooks/guards/functions.h"
#include "interpreter_hooks/guards/undisturbed.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace terra::capture {

namespace {

/// Behind the object head: an int index and 624 words of the Mersenne twister.
constexpr size_t state_bytes = 4 + 624 * 4;

char* state_of(PyObject* generator) { return reinterpret_cast<char*>(generator) + sizeof(PyObject); }

/// The state of a Generator is its bit generator's; a RandomState has one with more in it. New; null: it can't be had.
PyObject* numpy_state(PyObject* generator) {
  static PyObject* const get_state = PyUnicode_InternFromString("get_state");
  PyObject* bits = PyObject_GetAttrString(generator, "bit_generator");
  PyObject* state = nullptr;
  if (bits) {
    state = PyObject_GetAttrString(bits, "state");
    Py_DECREF(bits);
  } else {
    PyErr_Clear();
    PyObject* const arguments[] = {generator, Py_False};
    state = PyObject_VectorcallMethod(get_state, arguments, 2, nullptr);
  }
  if (!state) PyErr_Clear();
  return state;
}

void set_numpy_state(PyObject* generator, PyObject* state) {
  PyObject* bits = PyObject_GetAttrString(generator, "bit_generator");
  if (bits) {
    PyObject_SetAttrString(bits, "state", state);
    Py_DECREF(bits);
  } else {
    PyErr_Clear();
    Py_XDECREF(PyObject_CallMethod(generator, "set_state", "O", state));
  }
  PyErr_Clear();
}

}  // namespace

struct RandomStates::State {
  PyObject* generator;  // held where it is one of numpy
  PyObject* of_numpy;   // its state, held; null: bytes
  std::array<char, state_bytes> bytes;
};

void RandomStates::Deleter::operator()(std::vector<State>* states) const {
  for (State& state : *states) {
    if (!state.of_numpy) continue;
    Py_DECREF(state.generator);
    Py_DECREF(state.of_numpy);
  }
  delete states;
}

bool is_numpy_generator(PyObject* object) {
  return terra_class_is(Py_TYPE(object), "numpy.random.mtrand.RandomState") ||
         terra_class_is(Py_TYPE(object), "numpy.random._generator.Generator");
}

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

bool RandomStates::save(PyObject* generator) {
  if (!saved_) saved_.reset(new std::vector<State>());
  bool known = std::any_of(saved_->begin(), saved_->end(), [&](const State& s) { return s.generator == generator; });
  if (known) return true;
  PyObject* of_numpy = is_numpy_generator(generator) ? numpy_state(generator) : nullptr;
  if (!of_numpy && is_numpy_generator(generator)) return false;
  State& state = saved_->emplace_back();
  state.generator = of_numpy ? Py_NewRef(generator) : generator;
  state.of_numpy = of_numpy;
  if (!of_numpy) std::memcpy(state.bytes.data(), state_of(generator), state_bytes);
  return true;
}

/// Latest first: two generators of numpy may share their bits.
void RandomStates::restore() {
  const Undisturbed held;
  for (auto state = saved_->rbegin(); state != saved_->rend(); ++state) {
    if (state->of_numpy)
      set_numpy_state(state->generator, state->of_numpy);
    else
      std::memcpy(state_of(state->generator), state->bytes.data(), state_bytes);
  }
  saved_.reset();
}

bool draw_holds(Word* at, Run& run) {
  const Undisturbed held;
  PyObject* generator = a_of(at, run);
  if (!run.random.save(generator)) return false;
  PyObject* const given = head(at).b == no_register ? nullptr : b_of(at, run);
  PyObject* arguments[1 + most_draw_arguments] = {generator, given};
  size_t count = given ? 2 : 1;
  if (given && PyTuple_CheckExact(given)) {
    count = 1 + static_cast<size_t>(PyTuple_GET_SIZE(given));
    for (size_t i = 1; i < count; i++) arguments[i] = PyTuple_GET_ITEM(given, static_cast<Py_ssize_t>(i) - 1);
  }
  return computed(at, run, PyObject_Vectorcall(object_word(at[1]), arguments, count, nullptr));
}
std::string draw_text(const Word* at, const RegisterFile& file) {
  return name_dst(at, file) + " = the next number of " + name_a(at, file);
}

}  // namespace terra::capture
