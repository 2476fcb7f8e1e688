#include "interpreter_hooks/guards/container_kinds.h"

#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"

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

size_t set_slots(PyObject* set) {
  auto* table = reinterpret_cast<PySetObject*>(set);
  return table->fill == table->used ? static_cast<size_t>(table->mask) + 1 : 0;
}

bool each_key(PyObject* container, bool (*visit)(PyObject* key, void* context), void* context) {
  PyObject *key, *value;
  Py_ssize_t position = 0;
  if (is_set(container)) {
    Py_hash_t hash;
    while (_PySet_NextEntry(container, &position, &key, &hash)) {
      if (!visit(key, context)) return false;
    }
    return true;
  }
  if (is_ordered_dict(container)) {  // has an order of its own beside the table's
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

bool compares_by_identity(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  return is_plain_tensor(object) ||
         (type->tp_hash == PyBaseObject_Type.tp_hash && type->tp_richcompare == PyBaseObject_Type.tp_richcompare);
}

bool is_value_key(PyObject* object) {
  if (is_atom(object)) return true;
  if (!PyTuple_CheckExact(object)) return false;
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
  if (is_atom(a) && is_atom(b)) {
    int equal = PyObject_RichCompareBool(a, b, Py_EQ);
    if (equal < 0) PyErr_Clear();
    return equal == 1;
  }
  if (!PyTuple_CheckExact(a) || !PyTuple_CheckExact(b) || PyTuple_GET_SIZE(a) != PyTuple_GET_SIZE(b)) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a); i++) {
    if (!same_key(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i))) return false;
  }
  return true;
}

}  // namespace terra::capture
