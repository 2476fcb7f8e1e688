/* What the garbage collector notes in the head of an object. */
#pragma once
#include <Python.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Lets tp_finalize run again for an object that it has resurrected. */
void terra_rearm_finalizer(PyObject* object);

#ifdef __cplusplus
}
#endif
