// What the functions behind the table of kinds share: the operands of an instruction, their names, its result.
#pragma once
#include "interpreter_hooks/guards/kinds.h"

namespace terra::capture {

inline PyObject* a_of(const Word* at, const Run& run) { return run.registers[head(at).a]; }
inline PyObject* b_of(const Word* at, const Run& run) { return run.registers[head(at).b]; }
/// Stores what an instruction gives; false when there is nothing.
inline bool store(const Word* at, Run& run, PyObject* object) {
  run.registers[head(at).dst] = object;
  return object != nullptr;
}
/// The same of a new reference that Python code has made: an exception means that the program does not hold.
inline bool computed(const Word* at, Run& run, PyObject* result) {
  if (!result) PyErr_Clear();
  return store(at, run, result);
}

inline std::string name_a(const Word* at, const RegisterFile& file) { return file.name(head(at).a); }
inline std::string name_b(const Word* at, const RegisterFile& file) { return file.name(head(at).b); }
inline std::string name_dst(const Word* at, const RegisterFile& file) { return file.name(head(at).dst); }
/// The text of a guard on a list of registers: `text`, and their names.
std::string listed(std::string text, const Word* at, const RegisterFile& file);

}  // namespace terra::capture
