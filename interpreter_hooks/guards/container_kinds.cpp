#include "interpreter_hooks/guards/container_kinds.h"

#include "interpreter_hooks/cpython/class.h"
#include "interpreter_hooks/cpython/code.h"
#include "interpreter_hooks/cpython/tables.h"
#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/guards/undisturbed.h"

namespace terra::capture {

namespace {

/// A type of a module that is part of the interpreter: importing it loads no file and no other module.
PyTypeObject* built_in(const char* module, const char* name) {
  PyObject* holder = PyImport_ImportModule(module);
  PyObject* type = holder ? PyObject_GetAttrString(holder, name) : nullptr;
  Py_XDECREF(holder);
  if (!type) PyErr_Clear();
  return reinterpret_cast<PyTypeObject*>(type);
}

PyTypeObject* deque_type() {
  static PyTypeObject* type = built_in("_collections", "deque");
  return type;
}
PyTypeObject* default_dict_type() {
  static PyTypeObject* type = built_in("_collections", "defaultdict");
  return type;
}

bool inherits(PyTypeObject* type, PyTypeObject* base, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    PyObject* key = PyUnicode_InternFromString(name);
    bool same = _PyType_Lookup(type, key) == _PyType_Lookup(base, key);
    Py_DECREF(key);
    if (!same) return false;
  }
  return true;
}

}  // namespace

bool is_changeable(PyTypeObject* type) {
  return (type->tp_flags & Py_TPFLAGS_HEAPTYPE) && !(type->tp_flags & Py_TPFLAGS_IMMUTABLETYPE);
}

bool is_deque(PyObject* object) { return Py_TYPE(object) == deque_type(); }

bool is_tuple(PyObject* object) {
  if (PyTuple_CheckExact(object)) return true;
  PyTypeObject* type = Py_TYPE(object);
  if (!PyTuple_Check(object)) return false;
  if (is_size(object)) return true;
  return type->tp_as_sequence->sq_length == PyTuple_Type.tp_as_sequence->sq_length &&
         type->tp_as_mapping->mp_subscript == PyTuple_Type.tp_as_mapping->mp_subscript &&
         type->tp_as_sequence->sq_contains == PyTuple_Type.tp_as_sequence->sq_contains &&
         type->tp_iter == PyTuple_Type.tp_iter;
}

bool is_sequence(PyObject* object) { return PyList_CheckExact(object) || is_tuple(object) || is_deque(object); }

bool is_ordered_dict(PyObject* object) { return Py_TYPE(object) == &PyODict_Type; }
bool is_default_dict(PyObject* object) { return Py_TYPE(object) == default_dict_type(); }

bool is_dict(PyObject* object) {
  if (PyDict_CheckExact(object) || is_ordered_dict(object) || is_default_dict(object)) return true;
  if (!PyDict_Check(object) || PyODict_Check(object)) return false;
  return inherits(Py_TYPE(object), &PyDict_Type,
                  {"__getitem__", "__setitem__", "__contains__", "__iter__", "__len__", "keys", "values", "items"});
}

PyObject* real_item(PyObject* sequence, Py_ssize_t index) {
  if (PyList_CheckExact(sequence)) return PyList_GET_ITEM(sequence, index);
  if (PyTuple_Check(sequence)) return PyTuple_GET_ITEM(sequence, index);
  const CollectorHeld held;  // an index past the end makes an exception
  PyObject* item = PySequence_GetItem(sequence, index);
  if (item) {
    Py_DECREF(item);  // the deque holds it
  } else {
    PyErr_Clear();
  }
  return item;
}

Py_ssize_t key_count(PyObject* container) {
  return is_set(container) ? PySet_GET_SIZE(container) : PyDict_GET_SIZE(container);
}

Py_ssize_t max_length_of(PyObject* deque) {
  PyObject* length = PyObject_GetAttrString(deque, "maxlen");
  Py_ssize_t result = length && length != Py_None ? PyLong_AsSsize_t(length) : -1;
  PyErr_Clear();
  Py_XDECREF(length);
  return result;
}

bool each_key(PyObject* container, bool (*visit)(PyObject* key, void* context), void* context) {
  PyObject *key, *value;
  Py_ssize_t position = 0;
  if (is_set(container)) {
    while (terra_set_next(container, &position, &key)) {
      if (!visit(key, context)) return false;
    }
    return true;
  }
  if (is_ordered_dict(container)) {  // has an order of its own beside the table's
    const CollectorHeld held;
    PyObject* iterator = PyObject_GetIter(container);
    bool going = iterator != nullptr;
    while (going && (key = PyIter_Next(iterator))) {
      going = visit(key, context);
      Py_DECREF(key);  // the dict holds it
    }
    Py_XDECREF(iterator);
    PyErr_Clear();
    return going;
  }
  while (PyDict_Next(container, &position, &key, &value)) {
    if (!visit(key, context)) return false;
  }
  return true;
}

namespace {

/// enum.Enum as the program has imported it, its metaclass and its __hash__; null before that.
struct EnumParts {
  PyTypeObject* metaclass = nullptr;
  PyObject* hash = nullptr;
};
const EnumParts& enum_parts() {
  static EnumParts parts;
  if (parts.hash) return parts;
  static PyObject* const name = PyUnicode_InternFromString("enum");
  PyObject* module = PyDict_GetItemWithError(PyImport_GetModuleDict(), name);
  PyObject* base = module && PyModule_Check(module) ? PyDict_GetItemString(PyModule_GetDict(module), "Enum") : nullptr;
  PyObject* hash = base && PyType_Check(base)
                       ? PyDict_GetItemString(terra_class_dict(reinterpret_cast<PyTypeObject*>(base)), "__hash__")
                       : nullptr;
  if (hash && PyFunction_Check(hash)) parts = {Py_TYPE(base), Py_NewRef(hash)};
  return parts;
}

/// The name that hashes an enum member, borrowed.
PyObject* name_of_member(PyObject* member) {
  static PyObject* const name = PyUnicode_InternFromString("_name_");
  return terra_instance_attribute(member, name);
}

/// What hashes as the key does, of strings, new.
PyObject* hashed_alike(PyObject* key) {
  if (is_enum_member(key)) return Py_NewRef(name_of_member(key));
  if (!PyTuple_Check(key)) return Py_NewRef(key);
  const CollectorHeld held;
  PyObject* alike = PyTuple_New(PyTuple_GET_SIZE(key));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++) {
    PyTuple_SET_ITEM(alike, i, hashed_alike(PyTuple_GET_ITEM(key, i)));
  }
  return alike;
}

}  // namespace

bool is_enum_member(PyObject* object) {
  static PyObject* const hash = PyUnicode_InternFromString("__hash__");
  static PyObject* const equal = PyUnicode_InternFromString("__eq__");
  PyTypeObject *type = Py_TYPE(object), *metaclass = Py_TYPE(type);
  if (metaclass == &PyType_Type || !enum_parts().hash || metaclass != enum_parts().metaclass) return false;
  if (_PyType_Lookup(type, hash) != enum_parts().hash) return false;
  PyObject* name = name_of_member(object);
  return name && PyUnicode_CheckExact(name) && _PyType_Lookup(type, equal) == _PyType_Lookup(&PyBaseObject_Type, equal);
}

bool is_value_member(PyObject* object) {
  PyTypeObject *type = Py_TYPE(object), *metaclass = Py_TYPE(type);
  if (metaclass == &PyType_Type || !enum_parts().hash || metaclass != enum_parts().metaclass) return false;
  const PyTypeObject* base = PyLong_Check(object)      ? &PyLong_Type
                             : PyUnicode_Check(object) ? &PyUnicode_Type
                             : PyFloat_Check(object)   ? &PyFloat_Type
                                                       : nullptr;
  return base && type->tp_hash == base->tp_hash && type->tp_richcompare == base->tp_richcompare;
}

bool is_value_tuple(PyObject* object) {
  if (PyTuple_CheckExact(object)) return true;
  const PyTypeObject* type = Py_TYPE(object);
  return PyTuple_Check(object) && type->tp_hash == PyTuple_Type.tp_hash &&
         type->tp_richcompare == PyTuple_Type.tp_richcompare && type->tp_dictoffset == 0;
}

PyObject* enum_hash_code() { return enum_parts().hash ? PyFunction_GET_CODE(enum_parts().hash) : nullptr; }

bool is_hashed_in_python(PyObject* key) {
  if (!PyTuple_Check(key)) return is_enum_member(key);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); i++) {
    if (is_hashed_in_python(PyTuple_GET_ITEM(key, i))) return true;
  }
  return false;
}

namespace {

/// -1, without an exception: it has none.
Py_hash_t hash_of(PyObject* key) {
  PyObject* alike = is_hashed_in_python(key) ? hashed_alike(key) : Py_NewRef(key);
  const Py_hash_t hash = PyObject_Hash(alike);
  Py_DECREF(alike);
  if (hash == -1) PyErr_Clear();
  return hash;
}

}  // namespace

PyObject* item_in(PyObject* dict, PyObject* key) {
  const Py_hash_t hash = hash_of(key);
  if (hash == -1 || !terra_table_compares_in_c(dict, hash)) return nullptr;
  PyObject* found = terra_dict_item(dict, key, hash);
  if (!found) PyErr_Clear();
  return found;
}

Presence presence_of(PyObject* container, PyObject* key) {
  const Py_hash_t hash = hash_of(key);
  if (hash == -1 || !terra_table_compares_in_c(container, hash)) return Presence::Unknown;
  if (!is_set(container)) {
    const bool found = terra_dict_item(container, key, hash);
    if (!found) PyErr_Clear();
    return found ? Presence::Present : Presence::Absent;
  }
  return terra_set_has(container, key, hash, same_key) ? Presence::Present : Presence::Absent;
}

bool compares_by_identity(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  return is_plain_tensor(object) ||
         (type->tp_hash == PyBaseObject_Type.tp_hash && type->tp_richcompare == PyBaseObject_Type.tp_richcompare);
}

bool is_value_key(PyObject* object) {
  if (PySlice_Check(object)) return false;  // has no hash
  if (is_atom(object) || is_enum_member(object) || is_value_member(object)) return true;
  if (!is_value_tuple(object)) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); i++) {
    PyObject* item = PyTuple_GET_ITEM(object, i);
    if (!is_value_key(item) && !is_engine_constant(item)) return false;
  }
  return true;
}

bool holds_atoms_only(PyObject* object) {
  if (is_atom(object)) return true;
  if (PyDict_CheckExact(object)) {
    PyObject *key, *value;
    Py_ssize_t position = 0;
    while (PyDict_Next(object, &position, &key, &value)) {
      if (!is_value_key(key) || !holds_atoms_only(value)) return false;
    }
    return true;
  }
  if (!PyList_CheckExact(object) && !PyTuple_CheckExact(object)) return false;
  for (Py_ssize_t i = 0; i < Py_SIZE(object); i++) {
    if (real_item(object, i) == object || !holds_atoms_only(real_item(object, i))) return false;
  }
  return true;
}

bool same_key(PyObject* a, PyObject* b) {
  if (a == b) return true;
  if ((is_atom(a) || is_value_member(a)) && (is_atom(b) || is_value_member(b))) {
    int equal = PyObject_RichCompareBool(a, b, Py_EQ);
    if (equal < 0) PyErr_Clear();
    return equal == 1;
  }
  if (!is_value_tuple(a) || !is_value_tuple(b) || PyTuple_GET_SIZE(a) != PyTuple_GET_SIZE(b)) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a); i++) {
    if (!same_key(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i))) return false;
  }
  return true;
}

}  // namespace terra::capture
