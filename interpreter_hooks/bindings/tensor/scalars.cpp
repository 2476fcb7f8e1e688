#include "interpreter_hooks/bindings/tensor/scalars.h"

#include <string_view>

#include "engine/device/backend.h"
#include "engine/eager/host_lock.h"
#include "engine/errors/errors.h"
#include "engine/ops/rules.h"
#include "engine/tensor/sparse.h"
#include "interpreter_hooks/bindings/calls/counters.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"
#include "kernels/abi/element.h"

namespace terra::hooks {
namespace {

/// Python's messages where neither int64 nor uint64 holds it.
Scalar int_value(Borrowed object) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (value == -1 && PyErr_Occurred()) throw PythonError{};
  if (overflow == 0) return Scalar(int64_t{value});
  check_kind(overflow > 0, ErrorKind::OverflowError, "can't convert negative int to unsigned");
  const uint64_t large = PyLong_AsUnsignedLongLong(object);
  if (!PyErr_Occurred()) return Scalar(large);
  PyErr_Clear();
  fail(ErrorKind::OverflowError, "int too big to convert");
}

int64_t signed_value(Borrowed object) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (value == -1 && PyErr_Occurred()) throw PythonError{};
  check_kind(overflow == 0, ErrorKind::ValueError, "Overflow when unpacking long long");
  return value;
}

std::complex<double> complex_value(Borrowed object) {
  const Py_complex value = PyComplex_AsCComplex(object);
  return {value.real, value.imag};
}

bool is_numpy_scalar(Borrowed object) {
  const std::string_view name = Py_TYPE(object)->tp_name;
  return name.starts_with("numpy.") && name != "numpy.ndarray" && Py_TYPE(object)->tp_as_number;
}

bool scalar_of_other(Borrowed object, Scalar& out) {
  if (PyBool_Check(object)) return out = Scalar(object == Py_True), true;
  if (PyLong_Check(object)) return out = int_value(object), true;
  if (PyFloat_Check(object)) return out = Scalar(PyFloat_AS_DOUBLE(object)), true;
  if (PyComplex_Check(object)) return out = Scalar(complex_value(object)), true;
  if (is_tensor(object)) {
    TensorImpl* impl = impl_of(object);
    if (!impl->sizes.empty() || impl->requires_grad()) return false;
    out = item_of(*impl);
    ++counters.items;
    if (OpObserver* observer = op_observer()) {
      Object value = owned(from_scalar(out));
      observer->on_item(object, value.get());
    }
    return true;
  }
  if (is_numpy_scalar(object)) {
    Object value = owned(PyObject_CallMethod(object, "item", nullptr));
    return !is_numpy_scalar(value.get()) && scalar_of_other(value.get(), out);
  }
  if (PyIndex_Check(object) && std::string_view(Py_TYPE(object)->tp_name) != "numpy.ndarray") {
    Object value = owned(PyNumber_Index(object));
    return out = int_value(value.get()), true;
  }
  return false;
}

}  // namespace

bool to_scalar(Borrowed object, Scalar& out) {
  if (PyFloat_CheckExact(object)) return out = Scalar(PyFloat_AS_DOUBLE(object)), true;
  if (PyLong_CheckExact(object)) return out = int_value(object), true;
  return scalar_of_other(object, out);
}

bool to_int(Borrowed object, int64_t& out) {
  if (PyLong_Check(object) && !PyBool_Check(object)) return out = signed_value(object), true;
  if (PyBool_Check(object) || PyFloat_Check(object)) return false;
  Scalar value;
  if (!scalar_of_other(object, value) || value.kind() != Scalar::Kind::Int) return false;
  out = value.to_int();
  return true;
}

PyObject* from_scalar(const Scalar& value) {
  switch (value.kind()) {
    case Scalar::Kind::Bool: return PyBool_FromLong(value.to_bool());
    case Scalar::Kind::Int: return PyLong_FromLongLong(value.to_int());
    case Scalar::Kind::Unsigned: return PyLong_FromUnsignedLongLong(value.to_unsigned());
    case Scalar::Kind::Float: return PyFloat_FromDouble(value.to_double());
    case Scalar::Kind::Complex: return PyComplex_FromDoubles(value.to_double(), value.imag());
  }
  return nullptr;
}

void wait_for_bytes(const TensorImpl& tensor) {
  if (!tensor.storage || !tensor.storage->deferral()) return;
  const Ref<Storage> kept = tensor.storage;
  const WaitingWithoutHostLock others;
  kept->settle();
}

Scalar item_of(const TensorImpl& tensor) {
  wait_for_bytes(tensor);
  check(tensor.numel == 1, "a Tensor with {} elements cannot be converted to Scalar", tensor.numel);
  check(!tensor.device.is_meta(), "Tensor.item() cannot be called on meta tensors");
  check_has_memory(tensor);
  if (tensor.device.is_cpu()) [[likely]]
    return load_element(tensor.data(), tensor.dtype);
  alignas(16) char element[kMaxElementSize];
  backend_of(tensor.device).copy_out(element, tensor.data(), size_of(tensor.dtype));
  return load_element(element, tensor.dtype);
}

void store_scalar(void* data, DType dtype, const Scalar& value) {
  if (value.is_complex() || (value.is_float() && is_integral(dtype))) check_holds(value, dtype);
  store_element(data, dtype, value);
}

}  // namespace terra::hooks
