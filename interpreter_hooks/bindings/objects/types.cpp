#include "interpreter_hooks/bindings/objects/types.h"

namespace terra::hooks {

void add_methods(PyTypeObject* type, PyMethodDef* rows) {
  for (; rows->ml_name; ++rows) {
    Object descriptor =
        owned(rows->ml_flags & METH_STATIC  ? PyStaticMethod_New(owned(PyCFunction_New(rows, nullptr)).get())
              : rows->ml_flags & METH_CLASS ? PyDescr_NewClassMethod(type, rows)
                                            : PyDescr_NewMethod(type, rows));
    succeeded(PyDict_SetItemString(type->tp_dict, rows->ml_name, descriptor.get()));
  }
  PyType_Modified(type);
}

void add_getters(PyTypeObject* type, PyGetSetDef* rows) {
  for (; rows->name; ++rows) {
    Object descriptor = owned(PyDescr_NewGetSet(type, rows));
    succeeded(PyDict_SetItemString(type->tp_dict, rows->name, descriptor.get()));
  }
  PyType_Modified(type);
}

void add_functions(Borrowed module, PyMethodDef* rows) { succeeded(PyModule_AddFunctions(module, rows)); }

PyTypeObject* create_type(PyType_Spec& spec, PyTypeObject* base) {
  Object bases = base ? owned(PyTuple_Pack(1, base)) : Object();
  return reinterpret_cast<PyTypeObject*>(owned(PyType_FromSpecWithBases(&spec, bases.get())).release());
}

Borrowed keyword(PyObject* const* args, Py_ssize_t positional, Borrowed names, const char* name) {
  if (!names) return nullptr;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i)
    if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), name) == 0) return args[positional + i];
  return nullptr;
}

void check_arguments(const char* function, Py_ssize_t positional, Borrowed names, Py_ssize_t most, const char* name) {
  if (positional > most)
    raise(PyExc_TypeError, "%s() takes %s positional arguments but %zd %s given", function,
          most > 0 ? "from 0 to 1" : "0", positional, positional == 1 ? "was" : "were");
  for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); ++i)
    if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), name) != 0)
      raise(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'", function, PyTuple_GET_ITEM(names, i));
}

}  // namespace terra::hooks
