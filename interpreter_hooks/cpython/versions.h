/* Versions that CPython gives dicts and classes: while one stays the same, what was found there is found again. */
#ifndef TERRA_INTERPRETER_HOOKS_CPYTHON_VERSIONS_H
#define TERRA_INTERPRETER_HOOKS_CPYTHON_VERSIONS_H

#include <Python.h>

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the version of a dict stands. One is never that of another dict, nor of the same with other keys or values. */
static inline const uint64_t* terra_dict_version(PyObject* dict) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* from 3.12 on, without another way */
  return &((PyDictObject*)dict)->ma_version_tag;
#pragma GCC diagnostic pop
}

/* The version of a class, for look-ups in it and its bases; 0: it has none until the next look-up. A version that is
 * not valid any more keeps its number, so the flags count too. */
static inline unsigned terra_class_version(const PyTypeObject* type) {
  return type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG ? type->tp_version_tag : 0;
}

enum { TERRA_CLASS_VERSION_WORDS = 2 };
static_assert(offsetof(PyTypeObject, tp_version_tag) % sizeof(uint64_t) == 0, "the version begins a word");
/* The words that it depends on. */
static inline void terra_class_version_words(const PyTypeObject* type, const uint64_t* words[]) {
  words[0] = (const uint64_t*)&type->tp_flags;
  words[1] = (const uint64_t*)&type->tp_version_tag; /* and what lies behind it */
}

#ifdef __cplusplus
}
#endif

#endif
