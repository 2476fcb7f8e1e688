/* Who has made a class: C code, or the program. */
#ifndef TERRA_INTERPRETER_HOOKS_CPYTHON_CLASS_H
#define TERRA_INTERPRETER_HOOKS_CPYTHON_CLASS_H

#include <Python.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* True for what a class statement or type() makes, whatever its name and its bases. */
bool terra_class_is_of_program(const PyTypeObject* type);

/* True where its instances are compared by an __eq__ of the program's. */
bool terra_class_compares_in_python(const PyTypeObject* type);

/* The class that C code has given this whole name ("module.Name"), which a class of the program may have as well. */
bool terra_class_is(const PyTypeObject* type, const char* name);

/* What a class itself has, without its bases; borrowed. */
static inline PyObject* terra_class_dict(PyTypeObject* type) {
#if PY_VERSION_HEX >= 0x030c0000
  PyObject* dict = PyType_GetDict(type);
  Py_XDECREF(dict); /* the class holds it */
  return dict;
#else
  return type->tp_dict;
#endif
}

#ifdef __cplusplus
}
#endif

#endif
