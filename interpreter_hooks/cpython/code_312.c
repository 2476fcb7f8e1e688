/* code.h for CPython 3.12. The layouts were read in pycore_code.h, pycore_object.h and pycore_dict.h of 3.12.1. */
#include "interpreter_hooks/cpython/code.h"

#if PY_VERSION_HEX < 0x030c0000 || PY_VERSION_HEX >= 0x030d0000
#error "code_312.c knows CPython 3.12 only"
#endif

#undef _PyGC_FINALIZED
#define Py_BUILD_CORE
#include <internal/pycore_code.h>
#include <internal/pycore_dict.h>
#include <internal/pycore_frame.h>
#undef Py_BUILD_CORE

#include "interpreter_hooks/cpython/code_extra_311.h"
#include "interpreter_hooks/cpython/versions.h"

Py_ssize_t terra_code_extra_index(void (*release)(void*)) { return PyUnstable_Eval_RequestCodeExtraIndex(release); }

void* terra_code_extra(const PyCodeObject* code, Py_ssize_t index) {
  return index < 0 ? NULL : code_extra(code, index);
}

int terra_code_set_extra(PyCodeObject* code, Py_ssize_t index, void* extra) {
  if (PyUnstable_Code_SetExtra((PyObject*)code, index, extra) == 0) return 1;
  PyErr_Clear();
  return 0;
}

int terra_code_slot_kind(PyCodeObject* code, int slot) {
  return (unsigned char)PyBytes_AS_STRING(code->co_localspluskinds)[slot] & ~CO_FAST_HIDDEN; /* of a comprehension */
}

PyObject* terra_code_slot_name(PyCodeObject* code, int slot) {
  return PyTuple_GET_ITEM(code->co_localsplusnames, slot);
}

int terra_code_argument_slots(PyCodeObject* code) {
  return code->co_argcount + code->co_kwonlyargcount + !!(code->co_flags & CO_VARARGS) +
         !!(code->co_flags & CO_VARKEYWORDS);
}

/* The table is a sequence of entries (start, length, target, depth * 2 + lasti); numbers are big-endian groups of six
 * bits, bit 6 says that more follow, bit 7 marks the start of an entry. */
static const unsigned char* read_number(const unsigned char* at, int* value) {
  int number = *at & 63;
  while (*at & 64) number = number << 6 | (*++at & 63);
  *value = number;
  return at + 1;
}

int terra_code_handler(PyCodeObject* code, int offset, int* depth, int* lasti) {
  const unsigned char* at = (const unsigned char*)PyBytes_AS_STRING(code->co_exceptiontable);
  const unsigned char* end = at + PyBytes_GET_SIZE(code->co_exceptiontable);
  while (at < end) {
    int start, length, target, packed;
    at = read_number(at, &start);
    at = read_number(at, &length);
    at = read_number(at, &target);
    at = read_number(at, &packed);
    if (offset < start) break; /* entries are sorted and do not overlap */
    if (offset >= start + length) continue;
    *depth = packed >> 1;
    *lasti = packed & 1;
    return target;
  }
  return -1;
}

TerraFrame* terra_generator_frame(PyObject* generator) { return (TerraFrame*)((PyGenObject*)generator)->gi_iframe; }

int terra_generator_is_unstarted(PyObject* generator) {
  return PyGen_CheckExact(generator) && ((PyGenObject*)generator)->gi_frame_state == FRAME_CREATED;
}

int terra_generator_ends_aloud(PyObject* generator) {
  const int state = ((PyGenObject*)generator)->gi_frame_state;
  return state == FRAME_SUSPENDED || (state == FRAME_CREATED && !PyGen_CheckExact(generator));
}

/* Objects/listobject.c, Objects/tupleobject.c */
typedef struct {
  PyObject_HEAD;
  Py_ssize_t index;
  PyObject* sequence; /* NULL when it has run dry */
} SequenceIterator;

static int walks_a_sequence(PyObject* iterator) {
  return Py_TYPE(iterator) == &PyListIter_Type || Py_TYPE(iterator) == &PyTupleIter_Type;
}

PyObject* terra_iterator_start(PyObject* iterator) {
  if (!walks_a_sequence(iterator)) return NULL;
  SequenceIterator* walk = (SequenceIterator*)iterator;
  return walk->index == 0 ? walk->sequence : NULL;
}

/* Objects/rangeobject.c */
typedef struct {
  PyObject_HEAD;
  long start, step, length; /* of what is left: where it began is not known any more */
} RangeIterator;

int terra_range_start(PyObject* iterator, long numbers[3]) {
  if (Py_TYPE(iterator) != &PyRangeIter_Type) return 0;
  RangeIterator* walk = (RangeIterator*)iterator;
  numbers[0] = walk->start;
  numbers[1] = walk->step;
  numbers[2] = walk->length;
  return 1;
}

/* The place of an iterator of a range is told by what is left, apart from the numbers of other iterators. */
static Py_ssize_t place_of(long left) { return -2 - (Py_ssize_t)left; }

Py_ssize_t terra_iterator_place(PyObject* iterator) {
  if (!walks_a_sequence(iterator)) return place_of(((RangeIterator*)iterator)->length);
  SequenceIterator* walk = (SequenceIterator*)iterator;
  return walk->sequence ? walk->index : -1;
}

void terra_iterator_move(PyObject* iterator, Py_ssize_t place) {
  if (!walks_a_sequence(iterator)) {
    RangeIterator* walk = (RangeIterator*)iterator;
    const long left = -2 - (long)place;
    walk->start += (walk->length - left) * walk->step;
    walk->length = left;
    return;
  }
  SequenceIterator* walk = (SequenceIterator*)iterator;
  if (place >= 0) {
    walk->index = place;
  } else {
    Py_CLEAR(walk->sequence);
  }
}

/* A word in front of an object with a managed dict: its inline values, marked by an odd address, or the dict that has
 * replaced them. */
static PyObject** dict_or_values(PyObject* object) { return (PyObject**)object - 3; }
static PyDictValues* inline_values(PyObject* object) {
  char* word = (char*)*dict_or_values(object);
  return (uintptr_t)word & 1 ? (PyDictValues*)(word + 1) : NULL;
}
static PyObject* managed_dict(PyObject* object) { return *dict_or_values(object); }

/* Index of a name among the inline values, or -1. Names are added to the keys of a type, never moved or taken away. */
static Py_ssize_t inline_index(PyTypeObject* type, PyObject* name) {
  PyDictKeysObject* keys = ((PyHeapTypeObject*)type)->ht_cached_keys;
  PyDictUnicodeEntry* entries = DK_UNICODE_ENTRIES(keys);
  for (Py_ssize_t i = 0; i < keys->dk_nentries; i++) {
    if (entries[i].me_key == name) return i;
  }
  return -1;
}

PyObject* terra_instance_attribute(PyObject* object, PyObject* name) {
  PyTypeObject* type = Py_TYPE(object);
  PyObject* dict = NULL;
  if (type->tp_flags & Py_TPFLAGS_MANAGED_DICT) {
    PyDictValues* values = inline_values(object);
    if (values) {
      Py_ssize_t index = inline_index(type, name);
      return index < 0 ? NULL : values->values[index];
    }
    dict = managed_dict(object);
  } else if (type->tp_dictoffset) {
    PyObject** place = _PyObject_GetDictPtr(object);
    dict = place ? *place : NULL;
  }
  if (!dict) return NULL;
  PyObject* value = PyDict_GetItemWithError(dict, name);
  if (!value && PyErr_Occurred()) PyErr_Clear();
  return value;
}

static int dict_words(PyObject** place, const uint64_t** words, int* in_dict) {
  if (!place) return 0;
  words[0] = (const uint64_t*)place;
  if (!*place) return 1;
  words[1] = terra_dict_version(*place);
  *in_dict = 1;
  return 2;
}

int terra_instance_attribute_words(PyObject* object, PyObject* name, const uint64_t** words, int* in_dict) {
  PyTypeObject* type = Py_TYPE(object);
  *in_dict = 0;
  if (!(type->tp_flags & Py_TPFLAGS_MANAGED_DICT)) {
    return type->tp_dictoffset ? dict_words(_PyObject_GetDictPtr(object), words, in_dict) : 0;
  }
  PyDictValues* values = inline_values(object);
  if (!values) return dict_words(dict_or_values(object), words, in_dict);
  words[0] = (const uint64_t*)dict_or_values(object);
  PyDictKeysObject* keys = ((PyHeapTypeObject*)type)->ht_cached_keys;
  Py_ssize_t index = inline_index(type, name);
  words[1] = index < 0 ? (const uint64_t*)&keys->dk_nentries : (const uint64_t*)&values->values[index];
  return 2;
}

int terra_instance_dict_words(PyObject* object, const uint64_t** words) {
  if (!(Py_TYPE(object)->tp_flags & Py_TPFLAGS_MANAGED_DICT)) {
    words[0] = (const uint64_t*)_PyObject_GetDictPtr(object);
    return words[0] != NULL;
  }
  words[0] = (const uint64_t*)dict_or_values(object);
  return 1;
}

PyObject* terra_dict_in_use(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (type->tp_flags & Py_TPFLAGS_MANAGED_DICT) return inline_values(object) ? NULL : managed_dict(object);
  PyObject** place = type->tp_dictoffset ? _PyObject_GetDictPtr(object) : NULL;
  return place ? *place : NULL;
}

PyObject* terra_instance_dict(PyObject* object) {
  PyObject** place = _PyObject_GetDictPtr(object); /* makes the dict of inline values */
  return place ? *place : NULL;
}
