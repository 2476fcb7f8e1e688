#include "interpreter_hooks/guards/own_dicts.h"

#include "interpreter_hooks/cpython/code.h"
#include "interpreter_hooks/guards/functions.h"

#include <algorithm>

namespace terra::capture {

int own_dicts_of(PyObject* object, PyObject** dicts) {
  PyObject* own = PyDict_Check(object) ? object : terra_dict_in_use(object);
  dicts[0] = own ? own : object;
  int count = 1;
  for (Word part = module_parameters; own && is_module(object) && part < module_dict_count; part++) {
    if (PyObject* dict = module_part(object, part)) dicts[count++] = dict;
  }
  return count;
}

bool own_dicts_holds(Word* at, Run& run) {
  PyObject* dicts[most_packed * most_own_dicts];
  int count = 0;
  each_packed(at, 0, [&](Register r) { count += own_dicts_of(run.registers[r], dicts + count); });
  if (count == 2) return dicts[0] != dicts[1];
  std::sort(dicts, dicts + count);
  return std::adjacent_find(dicts, dicts + count) == dicts + count;
}
std::string own_dicts_text(const Word* at, const RegisterFile& file) {
  return listed("each with attributes of its own:", at, file);
}

}  // namespace terra::capture
