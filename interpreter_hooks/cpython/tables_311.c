/* tables.h for CPython 3.11 and 3.12: the sequences of probes are those of Objects/dictobject.c and
 * Objects/setobject.c. */
#include "interpreter_hooks/cpython/tables.h"

#include "interpreter_hooks/cpython/class.h"

#if PY_VERSION_HEX < 0x030b0000 || PY_VERSION_HEX >= 0x030d0000
#error "tables_311.c knows CPython 3.11 and 3.12 only"
#endif

#undef _PyGC_FINALIZED
#define Py_BUILD_CORE
#include <internal/pycore_dict.h>
#undef Py_BUILD_CORE

enum { perturb_shift = 5, linear_probes = 9 };

/* A tuple compares its items; what else a C class holds is not looked into. */
static bool compares_in_c(PyObject* key) {
  if (terra_class_compares_in_python(Py_TYPE(key))) return false;
  if (PyFrozenSet_Check(key)) return false;
  if (!PyTuple_Check(key)) return true;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++) {
    if (!compares_in_c(PyTuple_GET_ITEM(key, i))) return false;
  }
  return true;
}

static Py_ssize_t index_at(const PyDictKeysObject* keys, size_t place) {
  const int bits = keys->dk_log2_size;
  if (bits < 8) return ((const int8_t*)keys->dk_indices)[place];
  if (bits < 16) return ((const int16_t*)keys->dk_indices)[place];
  if (bits < 32) return ((const int32_t*)keys->dk_indices)[place];
  return ((const int64_t*)keys->dk_indices)[place];
}

static bool dict_compares_in_c(PyDictObject* dict, Py_hash_t hash) {
  PyDictKeysObject* keys = dict->ma_keys;
  if (DK_IS_UNICODE(keys)) return true;
  const PyDictKeyEntry* entries = DK_ENTRIES(keys);
  const size_t mask = (size_t)DK_SIZE(keys) - 1;
  size_t place = (size_t)hash & mask;
  for (size_t perturb = (size_t)hash;; place = (place * 5 + perturb + 1) & mask) {
    const Py_ssize_t index = index_at(keys, place);
    if (index == DKIX_EMPTY) return true;
    if (index >= 0 && entries[index].me_hash == hash && !compares_in_c(entries[index].me_key)) return false;
    perturb >>= perturb_shift;
  }
}

/* Calls visit(element, context) for the elements with this hash until it says true. */
static bool visit_set(PySetObject* set, Py_hash_t hash, bool (*visit)(PyObject*, void*), void* context) {
  const size_t mask = (size_t)set->mask;
  size_t place = (size_t)hash & mask;
  for (size_t perturb = (size_t)hash;; place = (place * 5 + 1 + perturb) & mask) {
    const setentry* entry = &set->table[place];
    int probes = place + linear_probes <= mask ? linear_probes : 0;
    do {
      if (!entry->key) return false;
      if (entry->hash == hash && visit(entry->key, context)) return true;
      entry++;
    } while (probes--);
    perturb >>= perturb_shift;
  }
}

static bool compares_in_python(PyObject* key, void* context) {
  (void)context;
  return !compares_in_c(key);
}

typedef struct {
  PyObject* wanted;
  bool (*equal)(PyObject*, PyObject*);
} Wanted;

static bool is_wanted(PyObject* key, void* context) {
  const Wanted* wanted = context;
  return key == wanted->wanted || wanted->equal(key, wanted->wanted);
}

bool terra_set_has(PyObject* set, PyObject* element, Py_hash_t hash, bool (*equal)(PyObject*, PyObject*)) {
  Wanted wanted = {element, equal};
  return visit_set((PySetObject*)set, hash, is_wanted, &wanted);
}

PyObject* terra_dict_item(PyObject* dict, PyObject* key, Py_hash_t hash) {
  return _PyDict_GetItem_KnownHash(dict, key, hash);
}

bool terra_set_next(PyObject* set, Py_ssize_t* position, PyObject** element) {
  Py_hash_t hash;
  return _PySet_NextEntry(set, position, element, &hash);
}

size_t terra_set_layout(PyObject* set) {
  const size_t prime = 1000003;
  const PySetObject* table = (PySetObject*)set;
  if (table->fill != table->used) return 0;
  const size_t last = (size_t)table->mask;
  size_t layout = last + 1;
  for (size_t place = 0; place <= last; place++) {
    if (table->table[place].key) layout = layout * prime + place;
  }
  return layout | (size_t)1 << 63;
}

bool terra_table_compares_in_c(PyObject* container, Py_hash_t hash) {
  return PyAnySet_Check(container) ? !visit_set((PySetObject*)container, hash, compares_in_python, NULL)
                                   : dict_compares_in_c((PyDictObject*)container, hash);
}
