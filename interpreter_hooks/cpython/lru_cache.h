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
/* The kept result for a key, borrowed, or NULL. The key is the only argument itself, if that is an int or a str, else a
   tuple of all. Nothing is counted, no order of use is changed, no Python code runs where the key's hash runs none. */
PyObject* terra_lru_cache_result(PyObject* cache, PyObject* key);
/* Whether 1 and 1.0 are told apart. */
int terra_lru_cache_is_typed(PyObject* cache);

#ifdef __cplusplus
}
#endif
