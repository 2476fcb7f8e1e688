#include "interpreter_hooks/bindings/calls/override.h"

#include <vector>

#include "interpreter_hooks/bindings/calls/observer.h"

namespace terra::hooks {
namespace {

thread_local int disabled = 0;

PyObject* hook_name() {
  static PyObject* name = PyUnicode_InternFromString("__torch_function__");
  return name;
}

/// The attribute as found in the type: the function or descriptor itself. Borrowed, may be null.
PyObject* hook_in(PyTypeObject* type) { return _PyType_Lookup(type, hook_name()); }

bool is_default(PyObject* hook) { return hook == hook_in(tensor_type); }

/// An override of its own: neither Tensor's nor the one that stands for "none".
bool overrides(PyTypeObject* type) {
  if (is_plain_tensor_type(type) || !(type->tp_flags & Py_TPFLAGS_HEAPTYPE)) return false;
  PyObject* hook = hook_in(type);
  return hook && !is_default(hook) && hook != Py_None;
}

/// Fills `out` with the overriding objects, one per type, subclasses before their bases.
void collect(Borrowed value, std::vector<Borrowed>& out) {
  PyTypeObject* type = Py_TYPE(value);
  if (PyTuple_CheckExact(value) || PyList_CheckExact(value)) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(value); ++i) {
      Borrowed item = PySequence_Fast_GET_ITEM(value, i);
      if (overrides(Py_TYPE(item))) collect(item, out);
    }
    return;
  }
  if (!overrides(type)) return;
  size_t at = out.size();
  for (size_t i = out.size(); i-- > 0;) {
    if (Py_TYPE(out[i]) == type) return;
    if (PyType_IsSubtype(type, Py_TYPE(out[i]))) at = i;
  }
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(at), value);
}

void retype(PyObject* object, PyTypeObject* type) {
  if (Py_TYPE(object) != tensor_type) return;
  if (OpObserver* observer = op_observer()) observer->on_opaque("an instance of a subclass of Tensor", object);
  Object name = owned(PyUnicode_InternFromString("__class__"));
  succeeded(PyObject_SetAttr(object, name.get(), reinterpret_cast<PyObject*>(type)));
}

/// The default: run the function as if nobody overrode it, and give its results this class.
Object default_hook(PyObject* cls, PyObject* args) {
  PyObject *function, *types, *values = nullptr, *keywords = nullptr;
  if (!PyArg_ParseTuple(args, "OO|OO", &function, &types, &values, &keywords)) throw PythonError{};
  Object empty = values ? Object::share(values) : owned(PyTuple_New(0));
  Object result;
  {
    WithoutOverrides scope;
    result = owned(PyObject_Call(function, empty.get(), keywords == Py_None ? nullptr : keywords));
  }
  auto* type = reinterpret_cast<PyTypeObject*>(cls);
  return is_plain_tensor_type(type) ? std::move(result) : as_subclass(std::move(result), type);
}

Object disabled_hook(PyObject*, PyObject* args) {
  PyObject *function, *types, *values = nullptr, *keywords = nullptr;
  if (!PyArg_ParseTuple(args, "OO|OO", &function, &types, &values, &keywords)) throw PythonError{};
  Object empty = values ? Object::share(values) : owned(PyTuple_New(0));
  WithoutOverrides scope;
  return owned(PyObject_Call(function, empty.get(), keywords == Py_None ? nullptr : keywords));
}

Object set_disabled(PyObject*, PyObject* value) {
  const int before = disabled;
  disabled = PyObject_IsTrue(value);
  return owned(PyBool_FromLong(before));
}

}  // namespace

PyMethodDef override_methods[] = {
    {"__torch_function__", method<default_hook>(), METH_VARARGS | METH_CLASS,
     "Called instead of an op that got an instance of a subclass: func, types, args, kwargs."},
    {}};
PyMethodDef override_functions[] = {
    {"_disabled_torch_function_impl", method<disabled_hook>(), METH_VARARGS, "A __torch_function__ that does nothing."},
    {"_set_overrides_disabled", method<set_disabled>(), METH_O,
     "Switches __torch_function__ off; returns what it was."},
    {}};

WithoutOverrides::WithoutOverrides() { ++disabled; }
WithoutOverrides::~WithoutOverrides() { --disabled; }

bool may_override(PyTypeObject* type) {
  return !is_plain_tensor_type(type) && (type->tp_flags & Py_TPFLAGS_HEAPTYPE) && !disabled && hook_in(type);
}

Object overridden(Borrowed function, PyObject* const* values, size_t count, PyObject* keywords) {
  if (disabled) return {};
  const size_t all = count + (keywords ? PyTuple_GET_SIZE(keywords) : 0);
  std::vector<Borrowed> objects;
  for (size_t i = 0; i < all; ++i) collect(values[i], objects);
  if (objects.empty()) return {};
  Object types = owned(PyTuple_New(static_cast<Py_ssize_t>(objects.size())));
  for (size_t i = 0; i < objects.size(); ++i) PyTuple_SET_ITEM(types.get(), i, Py_NewRef(Py_TYPE(objects[i])));
  Object args = owned(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; i < count; ++i) PyTuple_SET_ITEM(args.get(), i, Py_NewRef(values[i]));
  Object kwargs = owned(PyDict_New());
  for (size_t i = count; i < all; ++i)
    succeeded(PyDict_SetItem(kwargs.get(), PyTuple_GET_ITEM(keywords, i - count), values[i]));
  for (Borrowed object : objects) {
    Object hook = owned(PyObject_GetAttr(object, hook_name()));
    Object result =
        owned(PyObject_CallFunctionObjArgs(hook.get(), function, types.get(), args.get(), kwargs.get(), nullptr));
    if (result.get() != Py_NotImplemented) return result;
  }
  raise(PyExc_TypeError, "no implementation found for %R on types that implement __torch_function__: %R", function,
        types.get());
}

Object overridden_method(const char* name, PyObject* const* values, size_t count) {
  const Object method = owned(PyObject_GetAttrString(reinterpret_cast<PyObject*>(tensor_type), name));
  return overridden(method.get(), values, count, nullptr);
}

PyTypeObject* result_subclass(PyObject* const* values, size_t count) {
  if (disabled) return nullptr;
  for (size_t i = 0; i < count; ++i) {
    PyTypeObject* type = Py_TYPE(values[i]);
    if (!is_plain_tensor_type(type) && is_tensor(values[i]) && is_default(hook_in(type)) &&
        !PyType_IsSubtype(type, parameter_type))
      return type;
  }
  return nullptr;
}

Object as_subclass(Object result, PyTypeObject* type) {
  PyObject* object = result.get();
  if (is_tensor(object)) {
    retype(object, type);
  } else if (PyTuple_Check(object) || PyList_Check(object)) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i)
      if (is_tensor(PySequence_Fast_GET_ITEM(object, i))) retype(PySequence_Fast_GET_ITEM(object, i), type);
  }
  return result;
}

}  // namespace terra::hooks
