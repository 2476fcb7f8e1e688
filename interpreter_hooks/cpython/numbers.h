/* How large the numbers of the program are, without looking into them. */
#ifndef TERRA_INTERPRETER_HOOKS_CPYTHON_NUMBERS_H
#define TERRA_INTERPRETER_HOOKS_CPYTHON_NUMBERS_H

#include <Python.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether an int is of one digit or none: arithmetic on such ints never looks for signals, except that powers of them
 * may be long. */
static inline bool terra_int_is_short(PyObject* number) {
#if PY_VERSION_HEX >= 0x030c0000
  return PyUnstable_Long_IsCompact((PyLongObject*)number);
#else
  return Py_SIZE(number) >= -1 && Py_SIZE(number) <= 1;
#endif
}

#ifdef __cplusplus
}
#endif

#endif
