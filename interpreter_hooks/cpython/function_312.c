/* function.h for CPython 3.12 and later, which have a function for it. */
#include "interpreter_hooks/cpython/function.h"

#if PY_VERSION_HEX < 0x030c0000 || PY_VERSION_HEX >= 0x030e0000
#error "function_312.c is for CPython 3.12 and 3.13"
#endif

void terra_function_redirect(PyFunctionObject* function, vectorcallfunc call) {
  PyFunction_SetVectorcall(function, call);
}

int terra_function_is_redirected(const PyFunctionObject* function, vectorcallfunc call) {
  return function->vectorcall == call;
}

PyObject* terra_function_call(PyObject* function, PyObject* const* arguments, size_t count, PyObject* names) {
  return _PyFunction_Vectorcall(function, arguments, count, names);
}
