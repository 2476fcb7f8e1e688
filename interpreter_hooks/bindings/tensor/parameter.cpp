// Parameter: a tensor that a module registers as its own when it is assigned.
#include "engine/autograd/autograd.h"
#include "engine/errors/errors.h"
#include "engine/tensor/sparse.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/tensor/construction.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"
#include "interpreter_hooks/bindings/tensor/tensor_parts.h"

namespace terra::hooks {
namespace {

Object parameter_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"data", "requires_grad", nullptr};
  PyObject *data = Py_None, *requires_grad = Py_True;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:Parameter", const_cast<char**>(names), &data, &requires_grad))
    throw PythonError{};
  if (data != Py_None && !is_tensor(data))
    raise(PyExc_TypeError, "Parameter(): argument 'data' (position 1) must be Tensor, not %s", Py_TYPE(data)->tp_name);
  if (data != Py_None && is_sparse(*impl_of(data))) {
    const Object module = owned(PyImport_ImportModule("terra.sparse._parameter"));
    return owned(PyObject_CallMethod(module.get(), "parameter", "OO", data, requires_grad));
  }
  if (data != Py_None && type == parameter_type && !is_plain_tensor_type(Py_TYPE(data))) {
    const Object module = owned(PyImport_ImportModule("terra.nn.parameter"));
    return owned(PyObject_CallMethod(module.get(), "of_subclass", "OO", data, requires_grad));
  }
  Tensor tensor = data == Py_None ? Tensor::empty(Dims{0}, DType::F32) : alias_of(*impl_of(data));
  if (succeeded(PyObject_IsTrue(requires_grad))) autograd::make_require_grad(tensor);
  Object self = Object::steal(wrap_as(type, std::move(tensor)));
  report_opaque("Parameter()", self.get());
  return self;
}

Object parameter_repr(PyObject* self) {
  Object text = tensor_repr(self);
  return owned(PyUnicode_FromFormat("Parameter containing:\n%U", text.get()));
}

/// PyTorch marks with it what counts as a parameter.
Object is_param(PyObject*, void*) { return owned(PyBool_FromLong(1)); }
/// An attribute there, which classes derived from Parameter set themselves; here the type has said it.
int set_is_param(PyObject*, PyObject* value, void*) {
  if (!value || !succeeded(PyObject_IsTrue(value))) raise(PyExc_AttributeError, "a Parameter can't cease to be one");
  return 0;
}

}  // namespace

void append_parameter_slots(std::vector<PyType_Slot>& slots) {
  slots.push_back({Py_tp_doc, const_cast<char*>("A tensor that a module counts among its parameters.")});
  slots.push_back({Py_tp_new, slot<parameter_new>()});
  slots.push_back({Py_tp_repr, slot<parameter_repr>()});
}

PyGetSetDef parameter_getters[] = {{"_is_param", entry<is_param>, entry<set_is_param>, nullptr, nullptr}, {}};

}  // namespace terra::hooks
