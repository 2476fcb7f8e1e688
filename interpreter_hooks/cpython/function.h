/* Calls of functions written in Python, before there is a frame; like frame.h, one file per version. */
#ifndef TERRA_INTERPRETER_HOOKS_CPYTHON_FUNCTION_H
#define TERRA_INTERPRETER_HOOKS_CPYTHON_FUNCTION_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From now on calls of the function come to `call`, as long as CPython has a reason not to go from frame to frame by
 * itself: under a frame hook it has. (From 3.12 on PyFunction_SetVectorcall does this.) */
void terra_function_redirect(PyFunctionObject* function, vectorcallfunc call);
int terra_function_is_redirected(const PyFunctionObject* function, vectorcallfunc call);

/* What CPython does with a call: makes the frame and has it evaluated. */
PyObject* terra_function_call(PyObject* function, PyObject* const* arguments, size_t count, PyObject* names);

#ifdef __cplusplus
}
#endif

#endif
