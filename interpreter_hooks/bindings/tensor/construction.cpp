#include "interpreter_hooks/bindings/tensor/construction.h"

#include <string_view>

#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/ops/rules.h"
#include "engine/tensor/sparse.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/objects/dtype_object.h"
#include "interpreter_hooks/bindings/tensor/scalars.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"

namespace terra::hooks {
namespace {

bool is_text(Borrowed object) { return PyUnicode_Check(object) || PyBytes_Check(object); }

bool is_number(Borrowed object) { return PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object); }

/// A tensor is a sequence only where another item has shown that one stands there, else a number.
bool is_sequence(Borrowed object, bool expected) {
  if (is_tensor(object)) return expected && !impl_of(object)->sizes.empty();
  return PyList_Check(object) || PyTuple_Check(object) ||
         (PySequence_Check(object) && !is_text(object) && !is_number(object));
}

/// Items as a list or tuple; objects with a length and items (range, arrays, tensors) are turned into one.
Object items_of(Borrowed object) { return owned(PySequence_Fast(object, "a sequence was expected")); }

/// The dtype of a number: that of a tensor or numpy scalar, else what Python's number becomes.
std::optional<DType> dtype_of_number(Borrowed object) {
  if (is_tensor(object)) return impl_of(object)->dtype;
  if (PyBool_Check(object)) return DType::Bool;
  if (PyLong_Check(object)) return DType::I64;
  const bool foreign = std::string_view(Py_TYPE(object)->tp_name).starts_with("numpy.");
  if (foreign && PyObject_CheckBuffer(object)) return Buffer(object).dtype();
  if (PyFloat_Check(object)) return default_dtype();
  if (PyComplex_Check(object)) return default_complex_dtype();
  if (PyIndex_Check(object)) return DType::I64;
  return std::nullopt;
}

/// What nested sequences hold: one walk finds the shape and the common dtype.
class Survey {
 public:
  Dims sizes;
  DType dtype = DType::Bool;
  bool any = false;

  void look(Borrowed object, size_t depth) {
    check_kind(depth <= static_cast<size_t>(kMaxRank), ErrorKind::ValueError, "too many dimensions '{}'",
               Py_TYPE(object)->tp_name);
    if (!is_sequence(object, depth < sizes.size())) return look_at_number(object, depth);
    Object items = items_of(object);
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(items.get());
    if (depth == sizes.size() && !complete_)
      sizes.push_back(n);
    else if (depth >= sizes.size())
      raise(PyExc_TypeError,
            is_inexact(dtype) ? "must be real number, not %s" : "'%s' object cannot be interpreted as an integer",
            Py_TYPE(object)->tp_name);
    else if (sizes[depth] != n)
      raise(PyExc_ValueError, "expected sequence of length %lld at dim %zu (got %zd)",
            static_cast<long long>(sizes[depth]), depth, n);
    for (Py_ssize_t i = 0; i < n; ++i) look(PySequence_Fast_GET_ITEM(items.get(), i), depth + 1);
    if (n == 0) complete_ = true;
  }

 private:
  void look_at_number(Borrowed object, size_t depth) {
    if (PyUnicode_Check(object) && complete_) raise(PyExc_TypeError, "new(): invalid data type 'str'");
    if (depth < sizes.size()) raise(PyExc_TypeError, "not a sequence");
    if (PyUnicode_Check(object)) raise(PyExc_ValueError, "too many dimensions 'str'");
    complete_ = true;
    if (is_tensor(object) && impl_of(object)->numel != 1)
      raise(PyExc_ValueError, "only one element tensors can be converted to Python scalars");
    const auto found = dtype_of_number(object);
    if (!found) raise(PyExc_RuntimeError, "Could not infer dtype of %s", Py_TYPE(object)->tp_name);
    dtype = any ? promote_types(dtype, *found) : *found;
    any = true;
  }

  bool complete_ = false;  // a number has been seen: the rank is known
};

/// An int on its way to an element, in the words of Python's conversions. Only ints go to uint64.
Scalar whole_number(Borrowed object, DType dtype) {
  Scalar value;
  if (dtype == DType::U64) {
    value = Scalar(uint64_t{PyLong_AsUnsignedLongLong(object)});
  } else if (is_inexact(dtype)) {
    value = Scalar(PyLong_AsDouble(object));
  } else {
    int overflow = 0;
    value = Scalar(int64_t{PyLong_AsLongLongAndOverflow(object, &overflow)});
    check_kind(overflow == 0, ErrorKind::ValueError, "Overflow when unpacking long long");
  }
  if (PyErr_Occurred()) throw PythonError{};
  return value;
}

/// Writes the numbers of `rank` levels of sequences.
void fill(Borrowed object, size_t rank, DType dtype, char*& to) {
  if (rank > 0) {
    Object items = items_of(object);
    const Py_ssize_t n = PySequence_Fast_GET_SIZE(items.get());
    for (Py_ssize_t i = 0; i < n; ++i) fill(PySequence_Fast_GET_ITEM(items.get(), i), rank - 1, dtype, to);
    return;
  }
  Scalar value;
  if (dtype == DType::U64 || (PyLong_Check(object) && !is_bool(dtype)))
    value = whole_number(object, dtype);
  else if (is_tensor(object))
    value = item_of(*impl_of(object));
  else if (!to_scalar(object, value))
    raise(PyExc_TypeError, "must be real number, not %s", Py_TYPE(object)->tp_name);
  if (value.is_complex() && is_floating(dtype)) raise(PyExc_TypeError, "must be real number, not complex");
  if (value.is_complex() && is_integral(dtype))
    raise(PyExc_TypeError, "'complex' object cannot be interpreted as an integer");
  check(!is_integral(dtype) || !is_out_of_range(value, dtype), "value cannot be converted to type {} without overflow",
        name_of(dtype));
  store_scalar(to, dtype, value);
  to += size_of(dtype);
}

bool is_array(Borrowed data) {
  return PyObject_CheckBuffer(data) && std::string_view(Py_TYPE(data)->tp_name) == "numpy.ndarray";
}

/// True for what on_construct reports.
bool is_numbers(Borrowed data) {
  if (PyFloat_CheckExact(data) || PyLong_CheckExact(data) || PyBool_Check(data)) return true;
  if (!PyList_CheckExact(data) && !PyTuple_CheckExact(data)) return false;
  const Py_ssize_t n = PySequence_Fast_GET_SIZE(data);
  for (Py_ssize_t i = 0; i < n; ++i)
    if (!is_numbers(PySequence_Fast_GET_ITEM(data, i))) return false;
  return true;
}

}  // namespace

Tensor alias_of(const TensorImpl& t) {
  check_has_memory(t);
  return Tensor::view_of(t.storage, t.dtype, t.sizes, t.strides, t.offset);
}

Tensor converted(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  const GradMode off(false);
  static const Op* op = find_op("to_dtype");
  return (*op)(tensor, dtype);
}

Object tensor_from_data(Borrowed data, std::optional<DType> dtype) {
  if (is_tensor(data) && is_sparse(*impl_of(data))) {
    const Object apart = owned(PyObject_CallMethod(data, "detach", nullptr));
    const Object copy = owned(PyObject_CallMethod(apart.get(), "clone", nullptr));
    return owned(PyObject_CallMethod(copy.get(), "to", "O", dtype_object(dtype.value_or(impl_of(data)->dtype))));
  }
  if (is_tensor(data)) {
    const GradMode off(false);
    static const Op* clone = find_op("clone");
    const Tensor copy = (*clone)(alias_of(*impl_of(data)));
    return Object::steal(wrap(converted(copy, dtype.value_or(copy.dtype()))));
  }
  if (is_array(data)) {
    Buffer buffer(data);
    const auto type = buffer.dtype();
    if (!type) {
      Object given = owned(PyObject_GetAttrString(data, "dtype"));
      Object kind = owned(PyObject_GetAttrString(given.get(), "type"));
      raise(PyExc_TypeError,
            "can't convert np.ndarray of type %s. The only supported types are: float64, float32, float16, complex64, "
            "complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool.",
            PyType_Check(kind.get()) ? reinterpret_cast<PyTypeObject*>(kind.get())->tp_name : "object");
    }
    const Tensor shared = std::move(buffer).share();
    const GradMode off(false);
    static const Op* clone = find_op("clone");
    return Object::steal(wrap(dtype && *dtype != *type ? converted(shared, *dtype) : (*clone)(shared)));
  }
  if (is_text(data)) raise(PyExc_TypeError, "new(): invalid data type '%s'", Py_TYPE(data)->tp_name);
  Survey survey;
  survey.look(data, 0);
  const DType type = dtype.value_or(survey.any ? survey.dtype : default_dtype());
  Tensor tensor = Tensor::empty(survey.sizes, type);
  char* to = static_cast<char*>(tensor->data());
  if (tensor.numel() > 0) fill(data, survey.sizes.size(), type, to);
  return Object::steal(wrap(std::move(tensor)));
}

void observe_construction(const char* what, Borrowed data, Borrowed tensor) {
  OpObserver* observer = op_observer();
  if (!observer) [[likely]]
    return;
  if (is_numbers(data))
    observer->on_construct(data, tensor);
  else
    observer->on_opaque(what, tensor);
}

}  // namespace terra::hooks
