/* The hash tables of dicts and sets, looked into without running code of the program. */
#ifndef TERRA_INTERPRETER_HOOKS_CPYTHON_TABLES_H
#define TERRA_INTERPRETER_HOOKS_CPYTHON_TABLES_H

#include <Python.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether a look-up of a key with this hash compares it with C code alone: no key of the dict or set that has the same
 * hash says in Python what it is equal to. */
bool terra_table_compares_in_c(PyObject* container, Py_hash_t hash);

/* Whether a set has an element with this hash that is `element` or, as `equal` says, like it. */
bool terra_set_has(PyObject* set, PyObject* element, Py_hash_t hash, bool (*equal)(PyObject*, PyObject*));

#ifdef __cplusplus
}
#endif

#endif
