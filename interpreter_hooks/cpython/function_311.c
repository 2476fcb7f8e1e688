/* function.h for CPython 3.11. Its evaluator makes the frames of Python functions without asking them where eval_frame
 * is its own (CALL, CALL_PY_EXACT_ARGS in ceval.c of 3.11.2); everybody else calls through the field. */
#include "interpreter_hooks/cpython/function.h"

#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x030c0000
#error "function_311.c is for CPython 3.11; later ones have PyFunction_SetVectorcall"
#endif

void terra_function_redirect(PyFunctionObject* function, vectorcallfunc call) { function->vectorcall = call; }

int terra_function_is_redirected(const PyFunctionObject* function, vectorcallfunc call) {
  return function->vectorcall == call;
}

PyObject* terra_function_call(PyObject* function, PyObject* const* arguments, size_t count, PyObject* names) {
  return _PyFunction_Vectorcall(function, arguments, count, names);
}
