// What the frame tier asks of Python types that the engine and the standard library define in C.
#include "interpreter_hooks/guards/module_parts.h"
#include "interpreter_hooks/guards/tensors.h"

namespace terra::capture {

namespace {

/// The head of functools.partial objects (Modules/_functoolsmodule.c, unchanged from 3.4 to 3.13).
struct Partial {
  PyObject_HEAD;
  PyObject* parts[3];
};

}  // namespace

bool is_partial(PyObject* object) {
  static PyObject* type = [] {
    PyObject* module = PyImport_ImportModule("functools");
    PyObject* found = module ? PyObject_GetAttrString(module, "partial") : nullptr;
    Py_XDECREF(module);
    PyErr_Clear();
    return found;
  }();
  return reinterpret_cast<PyObject*>(Py_TYPE(object)) == type;
}

PyObject* partial_part(PyObject* partial, uint64_t which) { return reinterpret_cast<Partial*>(partial)->parts[which]; }

const char* module_dict_name(uint64_t which) {
  static constexpr const char* names[] = {"__dict__", "_parameters", "_buffers", "_modules"};
  return names[which];
}

// ---- not connected yet: the Tensor and Module types of interpreter_hooks/bindings ----
bool is_module(PyObject*) { return false; }
bool is_module_type(PyTypeObject*) { return false; }
PyObject* module_part(PyObject*, uint64_t) { return nullptr; }
bool module_has_hooks(PyObject*) { return true; }

bool is_tensor(PyObject*) { return false; }
bool is_tensor_type(PyTypeObject*) { return false; }
TensorImpl* tensor_of(PyObject*) { return nullptr; }
PyObject* object_of(const Tensor&) { return nullptr; }
bool is_leaf(const TensorImpl&) { return true; }
TensorImpl* gradient_of(const TensorImpl&) { return nullptr; }
uint64_t engine_mode() { return 1; }

}  // namespace terra::capture
