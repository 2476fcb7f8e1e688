/* What the recorder needs to know about code, generator and instance layouts; like frame.h, one file per version. */
#ifndef TERRA_INTERPRETER_HOOKS_CPYTHON_CODE_H
#define TERRA_INTERPRETER_HOOKS_CPYTHON_CODE_H

#include "interpreter_hooks/cpython/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TERRA_SLOT_LOCAL = 0x20, TERRA_SLOT_CELL = 0x40, TERRA_SLOT_FREE = 0x80 };

/* An index under which something can be kept with every code object; `release` gets it when the code object dies. -1
 * where there is none left. */
Py_ssize_t terra_code_extra_index(void (*release)(void*));
/* What is kept under an index, or NULL. */
void* terra_code_extra(const PyCodeObject* code, Py_ssize_t index);
/* False, without an exception, where there is no memory. */
int terra_code_set_extra(PyCodeObject* code, Py_ssize_t index, void* extra);

/* Kind bits of a slot of localsplus; a slot can be a local and a cell at once (an argument that a closure captures). */
int terra_code_slot_kind(PyCodeObject* code, int slot);
/* Name of a slot of localsplus (borrowed). */
PyObject* terra_code_slot_name(PyCodeObject* code, int slot);
/* Number of argument slots, *args and **kwargs included. */
int terra_code_argument_slots(PyCodeObject* code);

/* The exception handler that protects the instruction at `offset` (code units): its offset, or -1 where there is none.
 * `depth` receives the height to which the stack is cut, `lasti` whether the instruction offset is pushed before the
 * exception. */
int terra_code_handler(PyCodeObject* code, int offset, int* depth, int* lasti);

/* The frame inside a generator or coroutine object. */
TerraFrame* terra_generator_frame(PyObject* generator);

/* True for a generator that has not run its first instruction: what it was called with is in its frame. */
int terra_generator_is_unstarted(PyObject* generator);

/* Dropping the generator, coroutine or asynchronous generator runs its code, or warns that it was never awaited. */
int terra_generator_ends_aloud(PyObject* generator);

/* What an iterator of a list or tuple walks over (borrowed), where it has yielded nothing yet; else NULL. */
PyObject* terra_iterator_start(PyObject* iterator);
/* True for an iterator of a range that has yielded nothing yet, as far as can be told: `numbers` receives start, step
 * and length. */
int terra_range_start(PyObject* iterator, long numbers[3]);
/* Where an iterator of a list, tuple or range is, for terra_iterator_move: 0 when it has yielded nothing, -1 when it
 * has run dry and let go of what it walked over. */
Py_ssize_t terra_iterator_place(PyObject* iterator);
/* Puts such an iterator where another one like it was found. */
void terra_iterator_move(PyObject* iterator, Py_ssize_t place);

/* The attribute in the instance itself (its dict or inline values), borrowed, or NULL. `name` must be interned. Never
 * runs Python code and never turns inline values into a dict. Objects without an instance dict have no attributes. */
PyObject* terra_instance_attribute(PyObject* object, PyObject* name);

/* Where terra_instance_attribute(object, name) looks: while these words, and the type of the object, are unchanged, it
 * finds the same. Fills in at most TERRA_MOST_ATTRIBUTE_WORDS addresses and returns their number; `in_dict` says that
 * the words end with the version of a dict, which holds what was found. */
enum { TERRA_MOST_ATTRIBUTE_WORDS = 3 };
int terra_instance_attribute_words(PyObject* object, PyObject* name, const uint64_t** words, int* in_dict);

/* The dict in which the instance keeps its attributes (borrowed); NULL where it has none, as with inline values. */
PyObject* terra_dict_in_use(PyObject* object);

/* The same for terra_dict_in_use; 0 where the words can't be told. */
int terra_instance_dict_words(PyObject* object, const uint64_t** words);

/* The dict of the instance (borrowed) where one exists already or can be made; NULL where the type has none. */
PyObject* terra_instance_dict(PyObject* object);

#ifdef __cplusplus
}
#endif

#endif
