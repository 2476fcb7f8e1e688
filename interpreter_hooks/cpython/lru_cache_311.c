#include "interpreter_hooks/cpython/lru_cache.h"

#include <string.h>

/* As in Modules/_functoolsmodule.c of 3.11. */
typedef struct Link {
  PyObject_HEAD struct Link *previous, *next;
  Py_hash_t hash;
  PyObject *key, *result;
} Link;
typedef struct {
  Link root;
  void* wrapper;
  int typed;
  PyObject* cache; /* of results where it is unbounded, else of links */
  Py_ssize_t hits;
  PyObject* function;
  Py_ssize_t most;
} Cache;

int terra_is_lru_cache(PyObject* callee) {
  return strcmp(Py_TYPE(callee)->tp_name, "functools._lru_cache_wrapper") == 0;
}

int terra_lru_cache_is_typed(PyObject* cache) { return ((Cache*)cache)->typed; }

PyObject* terra_lru_cache_result(PyObject* cache, PyObject* key) {
  PyObject* table = ((Cache*)cache)->cache;
  if (!table || !PyDict_CheckExact(table)) return NULL;
  PyObject* found = PyDict_GetItemWithError(table, key);
  if (!found) PyErr_Clear();
  if (!found || ((Cache*)cache)->most < 0) return found;
  return strcmp(Py_TYPE(found)->tp_name, "functools._lru_list_elem") == 0 ? ((Link*)found)->result : NULL;
}

/* Calls a cache of `len` and looks the result up. */
static int reads(PyObject* make, PyObject* most) {
  PyObject* function = PyDict_GetItemString(PyEval_GetBuiltins(), "len");
  PyObject* cache = PyObject_CallFunction(make, "OOOO", function, most, Py_False, (PyObject*)&PyTuple_Type);
  PyObject* key = PyUnicode_FromString("seven..");
  PyObject* result = cache && key ? PyObject_CallOneArg(cache, key) : NULL;
  int good = 0;
  if (result && Py_TYPE(cache)->tp_basicsize >= (Py_ssize_t)sizeof(Cache) && terra_is_lru_cache(cache)) {
    const Cache* layout = (Cache*)cache;
    good = layout->function == function && layout->typed == 0 && layout->hits == 0 &&
           layout->most == (most == Py_None ? -1 : PyLong_AsSsize_t(most)) &&
           terra_lru_cache_result(cache, key) == result;
  }
  PyErr_Clear();
  Py_XDECREF(result);
  Py_XDECREF(key);
  Py_XDECREF(cache);
  return good;
}

int terra_reads_lru_caches(void) {
  static int known = -1;
  if (known >= 0) return known;
  PyObject* module = PyImport_ImportModule("_functools"); /* built into the interpreter */
  PyObject* make = module ? PyObject_GetAttrString(module, "_lru_cache_wrapper") : NULL;
  PyObject* two = PyLong_FromLong(2);
  known = make && two && reads(make, Py_None) && reads(make, two);
  PyErr_Clear();
  Py_XDECREF(two);
  Py_XDECREF(make);
  Py_XDECREF(module);
  return known;
}
