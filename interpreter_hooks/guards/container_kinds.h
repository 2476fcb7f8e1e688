// Which container a Python object is, for everybody who looks inside one: builtin kinds, the classes of collections,
// and subclasses that leave the access to their contents as it is.
#pragma once
#include "interpreter_hooks/cpython/frame.h"

namespace terra::capture {

bool is_deque(PyObject* object);
/// A tuple, or an instance of a subclass that is indexed, measured and iterated over as a tuple (named tuples, Size).
bool is_tuple(PyObject* object);
/// A list, a tuple or a deque: items by position.
bool is_sequence(PyObject* object);

bool is_ordered_dict(PyObject* object);
bool is_default_dict(PyObject* object);
/// A dict, or an instance of a subclass whose subscripts, stores, length and iteration are those of dict (__missing__
/// and the order of an OrderedDict excepted).
bool is_dict(PyObject* object);
inline bool is_set(PyObject* object) { return PyAnySet_CheckExact(object); }
/// What keys(), values() and items() give.
inline bool is_dict_view(PyObject* object) {
  return PyDictKeys_Check(object) || PyDictValues_Check(object) || PyDictItems_Check(object);
}

/// True for classes written in Python, whose methods can be replaced while instances exist.
bool is_changeable(PyTypeObject* type);

/// The item at a position, borrowed from the sequence. Runs no Python code.
PyObject* real_item(PyObject* sequence, Py_ssize_t index);
/// Number of keys of a dict or elements of a set.
Py_ssize_t key_count(PyObject* container);
/// maxlen of a deque, -1 where it has none.
Py_ssize_t max_length_of(PyObject* deque);
/// Keys of a dict or elements of a set in the order of iteration, borrowed. Stops early when visit says false.
bool each_key(PyObject* container, bool (*visit)(PyObject* key, void* context), void* context);

/// A member of a class of enum that is compared by identity and hashed by its name, which runs Python code; one of a
/// kind.
bool is_enum_member(PyObject* object);
/// The code of the method that hashes such members, or null while nobody has imported enum; borrowed.
PyObject* enum_hash_code();
/// A member of a class of enum that is an int, float or string as well, hashed and compared as one.
bool is_value_member(PyObject* object);
/// A tuple, or an instance of a subclass that is hashed and compared as one and holds nothing but its items.
bool is_value_tuple(PyObject* object);
/// An enum member, or a tuple in which there is one.
bool is_hashed_in_python(PyObject* key);
/// Whether a dict or set has a key that is a value key or compared by identity. Unknown: code of the program would have
/// to say whether another key is equal to it. Runs no Python code.
enum class Presence : unsigned char { Absent, Present, Unknown };
Presence presence_of(PyObject* container, PyObject* key);
/// What a dict has under such a key, borrowed; null where it is absent or that is unknown. Runs no Python code.
PyObject* item_in(PyObject* dict, PyObject* key);

/// Hash and equality of the object are its address.
bool compares_by_identity(PyObject* object);
/// Hashed and compared by its value alone: an atom, an enum member, or a tuple of such.
bool is_value_key(PyObject* object);
/// Atoms, and lists, tuples and dicts of such.
bool holds_atoms_only(PyObject* object);
/// What a dict takes for the same key, if both are value keys or compared by identity: 1, 1.0 and True are.
bool same_key(PyObject* a, PyObject* b);

}  // namespace terra::capture
