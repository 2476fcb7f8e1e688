// Reads of the Python heap: borrowed results, no Python code, no allocation.
#include "interpreter_hooks/cpython/code.h"
#include "interpreter_hooks/cpython/lru_cache.h"
#include "interpreter_hooks/guards/container_kinds.h"
#include "interpreter_hooks/guards/functions.h"
#include "interpreter_hooks/guards/module_parts.h"
#include "interpreter_hooks/guards/scalars.h"

namespace terra::capture {

bool argument_holds(Word* at, Run& run) { return store(at, run, run.arguments[at[1]]); }
bool no_argument_holds(Word* at, Run& run) { return !run.arguments[at[1]]; }
std::string no_argument_text(const Word* at, const RegisterFile&) {
  return "slot " + std::to_string(at[1]) + " of the frame is empty";
}
bool function_holds(Word* at, Run& run) { return store(at, run, reinterpret_cast<PyObject*>(run.function)); }

bool closure_holds(Word* at, Run& run) {
  PyObject* cells = PyFunction_GET_CLOSURE(a_of(at, run));
  Py_ssize_t index = static_cast<Py_ssize_t>(at[1]);
  return cells && index < PyTuple_GET_SIZE(cells) && store(at, run, PyTuple_GET_ITEM(cells, index));
}

bool cell_holds(Word* at, Run& run) { return store(at, run, PyCell_GET(a_of(at, run))); }

bool item_holds(Word* at, Run& run) {
  PyObject* sequence = a_of(at, run);
  Py_ssize_t index = static_cast<Py_ssize_t>(at[1]);
  if (index >= Py_SIZE(sequence)) return false;
  return store(at, run, real_item(sequence, index));
}

bool key_holds(Word* at, Run& run) { return store(at, run, item_in(a_of(at, run), object_word(at[1]))); }

bool attribute_holds(Word* at, Run& run) {
  return store(at, run, terra_instance_attribute(a_of(at, run), object_word(at[1])));
}

bool slot_holds(Word* at, Run& run) {
  return store(at, run, *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(a_of(at, run)) + at[1]));
}

bool class_attribute_holds(Word* at, Run& run) {
  return store(at, run, _PyType_Lookup(pointer<PyTypeObject>(at[1]), object_word(at[2])));
}

bool instance_dict_holds(Word* at, Run& run) { return store(at, run, terra_instance_dict(a_of(at, run))); }

bool method_part_holds(Word* at, Run& run) {
  PyObject* method = a_of(at, run);
  if (PyCFunction_Check(method)) return store(at, run, PyCFunction_GET_SELF(method));
  return store(at, run, at[1] ? PyMethod_GET_SELF(method) : PyMethod_GET_FUNCTION(method));
}

bool partial_part_holds(Word* at, Run& run) { return store(at, run, partial_part(a_of(at, run), at[1])); }

bool module_part_holds(Word* at, Run& run) { return store(at, run, module_part(a_of(at, run), at[1])); }

bool cached_result_holds(Word* at, Run& run) {
  return store(at, run, terra_lru_cache_result(a_of(at, run), object_word(at[1])));
}

bool key_of_holds(Word* at, Run& run) { return store(at, run, item_in(a_of(at, run), b_of(at, run))); }

bool item_of_holds(Word* at, Run& run) {
  PyObject* sequence = a_of(at, run);
  Py_ssize_t index = PyLong_AsSsize_t(b_of(at, run));
  if (index == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    return false;
  }
  if (index < 0) index += Py_SIZE(sequence);
  if (index < 0 || index >= Py_SIZE(sequence)) return false;
  return store(at, run, real_item(sequence, index));
}

bool key_at_holds(Word* at, Run& run) {
  struct Search {
    Word left;
    PyObject* key;
  } search{at[1], nullptr};
  each_key(
      a_of(at, run),
      [](PyObject* key, void* context) {
        auto* search = static_cast<Search*>(context);
        if (search->left-- == 0) search->key = key;
        return search->key == nullptr;
      },
      &search);
  return store(at, run, search.key);
}

}  // namespace terra::capture
