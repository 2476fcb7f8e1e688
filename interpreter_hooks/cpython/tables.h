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

/* What a dict has under a key with this hash, borrowed; NULL, perhaps with an exception of the key's __eq__. */
PyObject* terra_dict_item(PyObject* dict, PyObject* key, Py_hash_t hash);

/* The offset at which a collections.defaultdict has its default_factory: it is a dict with one more member. */
enum { TERRA_DEFAULT_FACTORY = sizeof(PyDictObject) };

/* The elements of a set in the order of iteration, borrowed; false behind the last one. */
bool terra_set_next(PyObject* set, Py_ssize_t* position, PyObject** element);

/* Stands for the size of a set's table and the places that are taken in it, where nothing was ever removed; else 0. Two
 * sets of one layout with the same elements in the same order keep their order through the same changes. */
size_t terra_set_layout(PyObject* set);

/* Whether a set has an element with this hash that is `element` or, as `equal` says, like it. */
bool terra_set_has(PyObject* set, PyObject* element, Py_hash_t hash, bool (*equal)(PyObject*, PyObject*));

#ifdef __cplusplus
}
#endif

#endif
