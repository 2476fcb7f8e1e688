#include "interpreter_hooks/bindings/tensor/scalars.h"

#include <cstring>
#include <string_view>

#include "engine/device/backend.h"
#include "engine/eager/host_lock.h"
#include "engine/errors/errors.h"
#include "engine/ops/rules.h"
#include "engine/tensor/sparse.h"
#include "interpreter_hooks/bindings/calls/counters.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"
#include "kernels/abi/half.h"

namespace terra::hooks {
namespace {

int64_t int_value(Borrowed object) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  check(overflow == 0, "Overflow when unpacking long: the integer does not fit 64 bits");
  if (value == -1 && PyErr_Occurred()) throw PythonError{};
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
  if (PyLong_Check(object)) return out = Scalar(int_value(object)), true;
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
    return out = Scalar(int_value(value.get())), true;
  }
  return false;
}

template <class T>
void store_integer(void* data, const Scalar& value) {
  const int64_t wide = value.to_int();
  check(static_cast<int64_t>(static_cast<T>(wide)) == wide || !value.is_float(),
        "value cannot be converted to type int without overflow");
  const T narrow = static_cast<T>(wide);
  std::memcpy(data, &narrow, sizeof narrow);
}
template <class T>
void store_as(void* data, const T& value) {
  std::memcpy(data, &value, sizeof value);
}
template <class T>
T load_as(const void* data) {
  T value;
  std::memcpy(&value, data, sizeof value);
  return value;
}

}  // namespace

bool to_scalar(Borrowed object, Scalar& out) {
  if (PyFloat_CheckExact(object)) return out = Scalar(PyFloat_AS_DOUBLE(object)), true;
  if (PyLong_CheckExact(object)) return out = Scalar(int_value(object)), true;
  return scalar_of_other(object, out);
}

bool to_int(Borrowed object, int64_t& out) {
  if (PyLong_CheckExact(object)) return out = int_value(object), true;
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
  check(!tensor.is_symbolic(), "the value of a tensor that belongs to a graph under construction is not known yet");
  check_has_memory(tensor);
  if (tensor.device.is_cpu()) [[likely]]
    return load_scalar(tensor.data(), tensor.dtype);
  alignas(16) char element[kMaxElementSize];
  backend_of(tensor.device).copy_out(element, tensor.data(), size_of(tensor.dtype));
  return load_scalar(element, tensor.dtype);
}

Scalar load_scalar(const void* data, DType dtype) {
  switch (dtype) {
    case DType::Bool: return Scalar(load_as<uint8_t>(data) != 0);
    case DType::U8: return Scalar(int64_t{load_as<uint8_t>(data)});
    case DType::I8: return Scalar(int64_t{load_as<int8_t>(data)});
    case DType::I16: return Scalar(int64_t{load_as<int16_t>(data)});
    case DType::I32: return Scalar(int64_t{load_as<int32_t>(data)});
    case DType::I64: return Scalar(load_as<int64_t>(data));
    case DType::F16: return Scalar(double{static_cast<float>(load_as<Half>(data))});
    case DType::BF16: return Scalar(double{static_cast<float>(load_as<BFloat16>(data))});
    case DType::F32: return Scalar(double{load_as<float>(data)});
    case DType::F64: return Scalar(load_as<double>(data));
    case DType::C32: return Scalar(std::complex<double>(std::complex<float>(load_as<ComplexHalf>(data))));
    case DType::C64: return Scalar(std::complex<double>(load_as<std::complex<float>>(data)));
    case DType::C128: return Scalar(load_as<std::complex<double>>(data));
  }
  return Scalar();
}

void store_scalar(void* data, DType dtype, const Scalar& value) {
  if (value.is_complex()) check_holds(value, dtype);
  switch (dtype) {
    case DType::Bool: return store_as(data, static_cast<uint8_t>(value.to_bool()));
    case DType::U8: return store_integer<uint8_t>(data, value);
    case DType::I8: return store_integer<int8_t>(data, value);
    case DType::I16: return store_integer<int16_t>(data, value);
    case DType::I32: return store_integer<int32_t>(data, value);
    case DType::I64: return store_as(data, value.to_int());
    case DType::F16: return store_as(data, Half(static_cast<float>(value.to_double())));
    case DType::BF16: return store_as(data, BFloat16(static_cast<float>(value.to_double())));
    case DType::F32: return store_as(data, static_cast<float>(value.to_double()));
    case DType::F64: return store_as(data, value.to_double());
    case DType::C32: return store_as(data, ComplexHalf(std::complex<float>(value.to_complex())));
    case DType::C64: return store_as(data, std::complex<float>(value.to_complex()));
    case DType::C128: return store_as(data, value.to_complex());
  }
}

}  // namespace terra::hooks
