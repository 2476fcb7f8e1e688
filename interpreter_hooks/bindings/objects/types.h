// Small helpers to make types and modules out of tables.
#pragma once
#include <vector>

#include "interpreter_hooks/bindings/entry.h"

namespace terra::hooks {

/// Adds a new reference to `object` to the module under `name`.
inline void add_object(Borrowed module, const char* name, void* object) {
  succeeded(PyModule_AddObjectRef(module, name, static_cast<PyObject*>(object)));
}
/// Adds the rows of a table (ended by a null name) to a type that has been created already.
void add_methods(PyTypeObject* type, PyMethodDef* rows);
void add_getters(PyTypeObject* type, PyGetSetDef* rows);
/// Adds the rows of a table of functions to a module.
void add_functions(Borrowed module, PyMethodDef* rows);
/// A type from a spec, kept for the life of the process. `short_name` is how messages and repr name it.
PyTypeObject* create_type(PyType_Spec& spec, PyTypeObject* base = nullptr);

/// Keyword arguments of a vectorcall, one at a time: the value passed under `name`, or null. Borrowed.
Borrowed keyword(PyObject* const* args, Py_ssize_t positional, Borrowed names, const char* name);
/// Throws TypeError where a vectorcall of `function` has more than `most` positional arguments, at most one, or another
/// keyword than `name`.
void check_arguments(const char* function, Py_ssize_t positional, Borrowed names, Py_ssize_t most, const char* name);

}  // namespace terra::hooks
