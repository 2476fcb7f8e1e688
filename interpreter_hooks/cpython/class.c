#include "interpreter_hooks/cpython/class.h"

#include <string.h>

/* What type() puts into the slots of the classes that it makes, where a class statement says so: C code brings
 * functions of its own. Null when it can't be had. */
typedef struct {
  destructor dealloc;
  richcmpfunc compare;
} OfProgram;

static OfProgram of_program(void) {
  static OfProgram known = {NULL, NULL};
  if (known.dealloc) return known;
  PyObject* made = PyObject_CallFunction((PyObject*)&PyType_Type, "s(){sO}", "Class", "__eq__", Py_None);
  if (!made) {
    PyErr_Clear();
    return known;
  }
  known.dealloc = ((PyTypeObject*)made)->tp_dealloc;
  known.compare = ((PyTypeObject*)made)->tp_richcompare;
  Py_DECREF(made);
  return known;
}

bool terra_class_is_of_program(const PyTypeObject* type) {
  if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE) || (type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE)) return false;
  const destructor dealloc = of_program().dealloc;
  return !dealloc || type->tp_dealloc == dealloc;
}

bool terra_class_compares_in_python(const PyTypeObject* type) {
  if (!(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) return false;
  const richcmpfunc compare = of_program().compare;
  return !compare || type->tp_richcompare == compare;
}

bool terra_class_is(const PyTypeObject* type, const char* name) {
  return strcmp(type->tp_name, name) == 0 && !terra_class_is_of_program(type);
}
