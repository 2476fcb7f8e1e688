#include "interpreter_hooks/bindings/objects/size_object.h"

#include "interpreter_hooks/bindings/objects/types.h"

namespace terra::hooks {

PyTypeObject* size_type = nullptr;

namespace {

void fill(PyObject* tuple, std::span<const int64_t> values) {
  for (size_t i = 0; i < values.size(); ++i)
    PyTuple_SET_ITEM(tuple, i, owned(PyLong_FromLongLong(values[i])).release());
}

/// A Size of the items of a tuple, or the object itself where it isn't a plain tuple.
Object as_size(Object tuple) {
  if (!PyTuple_CheckExact(tuple.get())) return tuple;
  const Py_ssize_t n = PyTuple_GET_SIZE(tuple.get());
  Object size = owned(size_type->tp_alloc(size_type, n));
  for (Py_ssize_t i = 0; i < n; ++i) PyTuple_SET_ITEM(size.get(), i, Py_NewRef(PyTuple_GET_ITEM(tuple.get(), i)));
  return size;
}

Object size_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  Object self = owned(PyTuple_Type.tp_new(type, args, kwargs));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self.get()); ++i) {
    Borrowed item = PyTuple_GET_ITEM(self.get(), i);
    if (PyLong_Check(item)) continue;
    Object number = Object::steal(PyNumber_Index(item));
    if (!number) {
      PyErr_Clear();
      raise(PyExc_TypeError, "torch.Size() takes an iterable of 'int' (item %zd is '%s')", i, Py_TYPE(item)->tp_name);
    }
    PyTuple_SET_ITEM(self.get(), i, number.release());
    Py_DECREF(item);
  }
  return self;
}

Object size_repr(PyObject* self) {
  Object list = owned(PySequence_List(self));
  Object text = owned(PyObject_Repr(list.get()));
  return owned(PyUnicode_FromFormat("torch.Size(%U)", text.get()));
}

Object size_concat(PyObject* a, PyObject* b) { return as_size(owned(PyTuple_Type.tp_as_sequence->sq_concat(a, b))); }
Object size_repeat(PyObject* a, Py_ssize_t n) {
  Object list = owned(PySequence_List(a));
  Object repeated = owned(PySequence_Repeat(list.get(), n));
  return as_size(owned(PySequence_Tuple(repeated.get())));
}
Object size_subscript(PyObject* self, PyObject* key) {
  Object item = owned(PyTuple_Type.tp_as_mapping->mp_subscript(self, key));
  if (!PyTuple_Check(item.get()) || !PySlice_Check(key)) return item;
  if (item.get() == self) return item;
  return as_size(std::move(item));
}

Object size_numel(PyObject* self, PyObject*) {
  long long n = 1;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); ++i) n *= PyLong_AsLongLong(PyTuple_GET_ITEM(self, i));
  return owned(PyLong_FromLongLong(n));
}
Object size_reduce(PyObject* self, PyObject*) {
  Object items = owned(PySequence_List(self));
  return owned(Py_BuildValue("(O(N))", size_type, PySequence_Tuple(items.get())));
}

PyMethodDef methods[] = {{"numel", method<size_numel>(), METH_NOARGS, "The number of elements of such a tensor."},
                         {"__reduce__", method<size_reduce>(), METH_NOARGS, nullptr},
                         {}};

}  // namespace

PyObject* make_size(std::span<const int64_t> sizes) {
  Object size = owned(size_type->tp_alloc(size_type, static_cast<Py_ssize_t>(sizes.size())));
  fill(size.get(), sizes);
  return size.release();
}

PyObject* make_tuple(std::span<const int64_t> values) {
  Object tuple = owned(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  fill(tuple.get(), values);
  return tuple.release();
}

void create_size_type(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>("The sizes of a tensor, a tuple of ints.")},
                         {Py_tp_new, slot<size_new>()},
                         {Py_tp_repr, slot<size_repr>()},
                         {Py_sq_concat, slot<size_concat>()},
                         {Py_sq_repeat, slot<size_repeat>()},
                         {Py_mp_subscript, slot<size_subscript>()},
                         {Py_tp_methods, methods},
                         {0, nullptr}};
  PyType_Spec spec = {"terra.Size", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_TUPLE_SUBCLASS, slots};
  size_type = create_type(spec, &PyTuple_Type);
  add_object(module, "Size", size_type);
}

}  // namespace terra::hooks
