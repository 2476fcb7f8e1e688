/* What is kept with a code object, for the files of CPython 3.11. */
#ifndef TERRA_INTERPRETER_HOOKS_CPYTHON_CODE_EXTRA_311_H
#define TERRA_INTERPRETER_HOOKS_CPYTHON_CODE_EXTRA_311_H

#include <Python.h>

/* As in Objects/codeobject.c of 3.11.2. */
typedef struct {
  Py_ssize_t size;
  void* extras[1];
} CodeExtra;

/* NULL where nothing is kept under `index`. */
static inline void* code_extra(const PyCodeObject* code, Py_ssize_t index) {
  const CodeExtra* extra = (const CodeExtra*)code->co_extra;
  return extra && index < extra->size ? extra->extras[index] : NULL;
}

#endif
