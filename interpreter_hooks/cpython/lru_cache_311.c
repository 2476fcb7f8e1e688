#include "interpreter_hooks/cpython/lru_cache.h"

#include "interpreter_hooks/cpython/class.h"

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
  Py_ssize_t most, misses;
  PyObject* mark; /* stands before the names in a key */
} Cache;

int terra_is_lru_cache(PyObject* callee) { return terra_class_is(Py_TYPE(callee), "functools._lru_cache_wrapper"); }

int terra_lru_cache_is_typed(PyObject* cache) { return ((Cache*)cache)->typed; }

PyObject* terra_lru_cache_key(PyObject* cache, PyObject* const* given, Py_ssize_t count, PyObject* names) {
  const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0, plain = count - named;
  if (count == 1 && !named && (PyUnicode_CheckExact(given[0]) || PyLong_CheckExact(given[0])))
    return Py_NewRef(given[0]);
  PyObject* key = PyTuple_New(plain + (named ? 1 + 2 * named : 0));
  if (!key) return NULL;
  for (Py_ssize_t i = 0; i < plain; i++) PyTuple_SET_ITEM(key, i, Py_NewRef(given[i]));
  if (named) PyTuple_SET_ITEM(key, plain, Py_NewRef(((Cache*)cache)->mark));
  for (Py_ssize_t i = 0; i < named; i++) {
    PyTuple_SET_ITEM(key, plain + 1 + 2 * i, Py_NewRef(PyTuple_GET_ITEM(names, i)));
    PyTuple_SET_ITEM(key, plain + 2 + 2 * i, Py_NewRef(given[plain + i]));
  }
  return key;
}

PyObject* terra_lru_cache_result(PyObject* cache, PyObject* key) {
  PyObject* table = ((Cache*)cache)->cache;
  if (!table || !PyDict_CheckExact(table)) return NULL;
  PyObject* found = PyDict_GetItemWithError(table, key);
  if (!found) PyErr_Clear();
  if (!found || ((Cache*)cache)->most < 0) return found;
  return terra_class_is(Py_TYPE(found), "functools._lru_list_elem") ? ((Link*)found)->result : NULL;
}

/* Calls a cache of `int` and looks the result up. */
static int reads(PyObject* make, PyObject* most) {
  PyObject* function = (PyObject*)&PyLong_Type;
  PyObject* cache = PyObject_CallFunction(make, "OOOO", function, most, Py_False, (PyObject*)&PyTuple_Type);
  PyObject* given[2] = {PyUnicode_FromString("1234567"), PyLong_FromLong(8)};
  PyObject* names = Py_BuildValue("(s)", "base");
  const int good_type = cache && given[0] && given[1] && names && terra_is_lru_cache(cache) &&
                        Py_TYPE(cache)->tp_basicsize >= (Py_ssize_t)sizeof(Cache);
  int good = 0;
  if (good_type) {
    const Cache* layout = (Cache*)cache;
    good = layout->function == function && layout->typed == 0 && layout->hits == 0 &&
           layout->most == (most == Py_None ? -1 : PyLong_AsSsize_t(most));
    for (int named = 0; good && named < 2; named++) {
      PyObject* result = PyObject_Vectorcall(cache, given, 1, named ? names : NULL);
      good = result && layout->misses == named + 1 && layout->mark;
      PyObject* key = good ? terra_lru_cache_key(cache, given, 1 + named, named ? names : NULL) : NULL;
      good = key && terra_lru_cache_result(cache, key) == result;
      Py_XDECREF(key);
      Py_XDECREF(result);
    }
  }
  PyErr_Clear();
  Py_XDECREF(names);
  Py_XDECREF(given[1]);
  Py_XDECREF(given[0]);
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
