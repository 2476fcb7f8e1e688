// The shadow of one stack slot, local variable, attribute or item: where its value would come from in another run.
#pragma once
#include "interpreter_hooks/guards/program.h"

namespace terra::capture {

struct Value {
  enum Kind : uint8_t {
    Unknown,  ///< nothing is known: an unbound local, an attribute not read yet
    Null,     ///< the NULL that CPython pushes below callables
    Fact,     ///< the same in every run for which the guards so far hold (scalars: an equal one)
    Dynamic,  ///< register `reg` has it; without a register: an object made inside the frame, see Shadow
  };
  Kind kind = Unknown;
  Register reg = no_register;
  PyObject* object = nullptr;  ///< the real thing in the recorded run (borrowed; the recording holds it)

  static Value null() { return {Null, no_register, nullptr}; }
  static Value fact(PyObject* object) { return {Fact, no_register, object}; }
  static Value dynamic(Register reg, PyObject* object) { return {Dynamic, reg, object}; }
  static Value fresh(PyObject* object) { return {Dynamic, no_register, object}; }

  bool known() const { return kind == Fact || kind == Dynamic; }
  bool is_fact() const { return kind == Fact; }
  bool has_register() const { return kind == Dynamic && reg != no_register; }
};
static_assert(sizeof(Value) == 16);

}  // namespace terra::capture
