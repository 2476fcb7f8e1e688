// Element values that become Python objects.
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/tensor/sparse.h"
#include "engine/tensor/transfer.h"
#include "interpreter_hooks/bindings/calls/counters.h"
#include "interpreter_hooks/bindings/calls/invoke.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/calls/override.h"
#include "interpreter_hooks/bindings/tensor/scalars.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"
#include "interpreter_hooks/bindings/tensor/tensor_parts.h"
#include "kernels/abi/element.h"

namespace terra::hooks {
namespace {

Object item(PyObject* self, PyObject*) {
  const Scalar element = item_of(*impl_of(self));
  ++counters.items;
  Object value = owned(from_scalar(element));
  if (OpObserver* observer = op_observer()) [[unlikely]]
    observer->on_item(self, value.get());
  return value;
}

/// Nested lists of the elements from dimension `dim` on; `data` is the first of them.
Object list_from(const TensorImpl& t, size_t dim, const char* data) {
  if (dim == t.sizes.size()) return owned(from_scalar(load_element(data, t.dtype)));
  const int64_t step = t.strides[dim] * static_cast<int64_t>(size_of(t.dtype));
  Object list = owned(PyList_New(t.sizes[dim]));
  for (int64_t i = 0; i < t.sizes[dim]; ++i)
    PyList_SET_ITEM(list.get(), i, list_from(t, dim + 1, data + i * step).release());
  return list;
}

Object tolist(PyObject* self, PyObject*) {
  const TensorImpl& t = *impl_of(self);
  if (t.sizes.empty() && !t.device.is_meta()) return item(self, nullptr);
  report_opaque("tolist", self);
  check_has_memory(t);
  ++counters.items;
  wait_for_bytes(t);
  const Tensor here = to_host(kept(impl_of(self)));
  return list_from(*here, 0, static_cast<const char*>(here->data()));
}

Object is_nonzero(PyObject* self, PyObject*) { return owned(PyBool_FromLong(succeeded(PyObject_IsTrue(self)))); }

/// Python asks complex() through this.
Object as_complex(PyObject* self, PyObject*) {
  if (is_complex(impl_of(self)->dtype)) return item(self, nullptr);
  Object value = owned(PyNumber_Float(self));
  return owned(PyComplex_FromDoubles(PyFloat_AS_DOUBLE(value.get()), 0));
}

/// True where some element equals the value.
Object contains(PyObject* self, PyObject* value) {
  Scalar number;
  if (!is_tensor(value) && !to_scalar(value, number))
    raise(PyExc_RuntimeError, "Tensor.__contains__ only supports Tensor or scalar, but you passed in a <class '%s'>.",
          Py_TYPE(value)->tp_name);
  Object same = owned(PyObject_RichCompare(self, value, Py_EQ));
  Object any = invoke_simple(required_op("any"), {tensor_of(same.get())}, {same.get()});
  return owned(PyBool_FromLong(succeeded(PyObject_IsTrue(any.get()))));
}

Object reversed(PyObject* self, PyObject*) {
  const TensorImpl& t = *impl_of(self);
  if (t.sizes.empty()) return Object::share(self);
  return invoke_simple(required_op("flip"), {tensor_of(self), Dims{0}}, {self});
}

}  // namespace

PyMethodDef value_methods[] = {
    {"item", method<item>(), METH_NOARGS, "The only element as a Python number."},
    {"tolist", method<tolist>(), METH_NOARGS, "Nested lists of the elements; a number for a 0-d tensor."},
    {"is_nonzero", method<is_nonzero>(), METH_NOARGS, "The truth of the only element."},
    {"__complex__", method<as_complex>(), METH_NOARGS, nullptr},
    {"__contains__", method<contains>(), METH_O, nullptr},
    {"__reversed__", method<reversed>(), METH_NOARGS, nullptr},
    {}};

}  // namespace terra::hooks
