/* What functools.lru_cache keeps. The interpreter has no function that looks into it without counting. */
#pragma once
#include <Python.h>

#ifdef __cplusplus
extern "C" {
#endif

/* True for the callables that functools.lru_cache makes. */
int terra_is_lru_cache(PyObject* callee);
/* True if the layout of such objects has been found to be what this file thinks; found out once. */
int terra_reads_lru_caches(void);
/* What a call with these arguments is kept under, a new reference or NULL with an exception; the last ones have the
   names in the tuple, which may be NULL. */
PyObject* terra_lru_cache_key(PyObject* cache, PyObject* const* given, Py_ssize_t count, PyObject* names);
/* The kept result for a key, borrowed, or NULL. Nothing is counted, no order of use is changed, no Python code runs
   where the key's hash runs none. */
PyObject* terra_lru_cache_result(PyObject* cache, PyObject* key);
/* Whether 1 and 1.0 are told apart. */
int terra_lru_cache_is_typed(PyObject* cache);

#ifdef __cplusplus
}
#endif
