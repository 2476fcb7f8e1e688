// to(), type(), float() and the like: the same elements in another dtype, or on another device.
#include <algorithm>
#include <optional>
#include <string_view>

#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/ops/convert.h"
#include "engine/ops/emitter.h"
#include "engine/tensor/transfer.h"
#include "interpreter_hooks/bindings/calls/invoke.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/calls/override.h"
#include "interpreter_hooks/bindings/objects/dtype_object.h"
#include "interpreter_hooks/bindings/objects/types.h"
#include "interpreter_hooks/bindings/tensor/memory_format.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"
#include "interpreter_hooks/bindings/tensor/tensor_parts.h"

namespace terra::hooks {
namespace {

/// The elements on another device, which is a call that gradients lead back through.
Object on_device(PyObject* self, DType dtype, MemoryFormat format, Device device) {
  const Tensor from = tensor_of(self);
  report_opaque("a move to another device", self);
  check_kind(!from.device().is_meta(), ErrorKind::NotImplementedError, "Cannot copy out of meta tensor; no data!");
  static const Op &to_dtype = required_op("to_dtype"), &copy = required_op("copy");
  const Arg in_format = format == MemoryFormat::Preserve ? Arg() : Arg(name_of(format));
  Tensor made;
  {
    const GradMode off(false);
    made = empty_like_on(to_dtype(from, dtype, in_format), device);
  }
  const Arg args[] = {made, from};
  call_in_place(copy, args);
  if (made.requires_grad()) tape_hooks().name(made, "ToCopyBackward0", nullptr, {});
  return Object::steal(wrap(std::move(made)));
}

/// Where dtype and device are right already the tensor itself is the answer, and Python has learned the dtype.
Object in_dtype(PyObject* self, DType dtype, MemoryFormat format = MemoryFormat::Preserve, bool copy = false,
                std::optional<Device> device = std::nullopt) {
  const TensorImpl& t = *impl_of(self);
  const bool moves = device && *device != t.device;
  const bool lies_so = format == MemoryFormat::Preserve || suggested_format(t) == format;
  if (t.dtype == dtype && lies_so && !copy && !moves) {
    if (OpObserver* observer = op_observer()) {
      observer->on_metadata(self, "dtype", dtype_object(dtype), 0);
      if (format != MemoryFormat::Preserve) observer->on_metadata(self, "memory_format", Py_True, 0);
    }
    return Object::share(self);
  }
  warn_of_lost_parts(t.dtype, dtype);
  static const Op& op = required_op("to_dtype");
  const Arg in_format = format == MemoryFormat::Preserve ? Arg() : Arg(name_of(format));
  return moves ? on_device(self, dtype, format, *device)
               : invoke_simple(op, {tensor_of(self), dtype, in_format}, {self});
}

/// to(dtype), to(device), to(device, dtype), to(other), with non_blocking, copy and memory_format behind them.
Object to(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  DType dtype = impl_of(self)->dtype;
  Device device = impl_of(self)->device;
  MemoryFormat format = MemoryFormat::Preserve;
  bool copy = false;
  int flags = 0;
  const auto take = [&](Borrowed value, const char* name) {
    if (const auto found = dtype_from(value))
      dtype = *found;
    else if (PyUnicode_Check(value) || is_device(value) || (PyLong_Check(value) && !PyBool_Check(value)))
      device = device_from(value);
    else if (is_tensor(value))
      dtype = impl_of(value)->dtype, device = impl_of(value)->device;
    else if (value != Py_None)
      raise(PyExc_TypeError,
            "to() received an invalid combination of arguments - got (%s), but expected a dtype, a device "
            "or a Tensor",
            name ? name : Py_TYPE(value)->tp_name);
  };
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (PyBool_Check(args[i]))
      copy |= flags++ == 1 && args[i] == Py_True;  // non_blocking, then copy
    else
      take(args[i], nullptr);
  }
  for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); ++i) {
    const char* name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, i));
    Borrowed value = args[count + i];
    const std::string_view key = name;
    if (key == "copy")
      copy = succeeded(PyObject_IsTrue(value));
    else if (key == "dtype" || key == "device" || key == "other")
      take(value, name);
    else if (key == "memory_format")
      format = memory_format_from(value, "to").value_or(MemoryFormat::Preserve);
    else if (key != "non_blocking")
      raise(PyExc_TypeError, "to() got an unexpected keyword argument '%s'", name);
  }
  return in_dtype(self, dtype, format, copy, device);
}

/// Names of PyTorch's tensor types, without "torch.".
constexpr struct {
  std::string_view name;
  DType dtype;
} type_names[] = {
    {"BoolTensor", DType::Bool},          {"ByteTensor", DType::U8},         {"CharTensor", DType::I8},
    {"ShortTensor", DType::I16},          {"IntTensor", DType::I32},         {"LongTensor", DType::I64},
    {"UInt16Tensor", DType::U16},         {"UInt32Tensor", DType::U32},      {"UInt64Tensor", DType::U64},
    {"HalfTensor", DType::F16},           {"BFloat16Tensor", DType::BF16},   {"FloatTensor", DType::F32},
    {"DoubleTensor", DType::F64},         {"ComplexHalfTensor", DType::C32}, {"ComplexFloatTensor", DType::C64},
    {"ComplexDoubleTensor", DType::C128}, {"BComplex32Tensor", DType::BC32}};

/// type(): the name of its type; type(dtype or name): converted.
Object type(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  Borrowed wanted = count > 0 ? args[0] : keyword(args, count, names, "dtype");
  if (!wanted || wanted == Py_None) {
    Object name = owned(PyUnicode_InternFromString("_type_name"));
    return owned(PyObject_CallMethodNoArgs(self, name.get()));
  }
  if (const auto dtype = dtype_from(wanted)) return in_dtype(self, *dtype);
  Object text = PyUnicode_Check(wanted) ? Object::share(wanted) : owned(PyObject_GetAttrString(wanted, "__name__"));
  const char* utf8 = PyUnicode_AsUTF8(text.get());
  if (!utf8) throw PythonError{};
  std::string_view name = utf8;
  if (const size_t dot = name.rfind('.'); dot != std::string_view::npos) name.remove_prefix(dot + 1);
  if (name == "Tensor") return in_dtype(self, default_dtype());
  for (const auto& row : type_names)
    if (row.name == name) return in_dtype(self, row.dtype);
  raise(PyExc_ValueError, "invalid type: '%s'", utf8);
}

Object type_as(PyObject* self, PyObject* other) {
  if (!is_tensor(other))
    raise(PyExc_TypeError, "type_as(): argument 'other' (position 1) must be Tensor, not %s", Py_TYPE(other)->tp_name);
  return in_dtype(self, impl_of(other)->dtype, MemoryFormat::Preserve, false, impl_of(other)->device);
}

/// A text as an argument of a template.
template <size_t N>
struct Name {
  constexpr Name(const char (&from)[N]) { std::copy_n(from, N, text); }
  char text[N];
};

template <Name name, DType D>
Object cast(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  check_arguments(name.text, count, names, 0, "memory_format");
  const auto format = memory_format_from(keyword(args, count, names, "memory_format"), "to");
  return in_dtype(self, D, format.value_or(MemoryFormat::Preserve));
}

Object cpu(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  check_arguments("cpu", count, names, 0, "memory_format");
  const auto format = memory_format_from(keyword(args, count, names, "memory_format"), "cpu");
  const TensorImpl& t = *impl_of(self);
  if (!format && t.device.is_cpu()) return Object::share(self);
  return in_dtype(self, t.dtype, format.value_or(MemoryFormat::Preserve), false, Device());
}
Object cuda(PyObject*, PyObject* const*, Py_ssize_t, PyObject*) {
  raise(PyExc_AssertionError,
        "Torch not compiled with CUDA enabled: Terra was built for the CPU, where the tensor is "
        "already. Leave out .cuda(), or ask terra.cuda.is_available() first.");
}

}  // namespace

#define TERRA_CAST(name, dtype) \
  { name, method<cast<name, dtype>>(), METH_FASTCALL | METH_KEYWORDS, "The same elements in another dtype." }
PyMethodDef conversion_methods[] = {
    {"to", method<to>(), METH_FASTCALL | METH_KEYWORDS, "to(dtype | device | other): the tensor with that dtype."},
    {"type", method<type>(), METH_FASTCALL | METH_KEYWORDS,
     "The name of the tensor's type, or the tensor with another."},
    {"type_as", method<type_as>(), METH_O, "The tensor with the dtype of another."},
    TERRA_CAST("float", DType::F32),
    TERRA_CAST("double", DType::F64),
    TERRA_CAST("chalf", DType::C32),
    TERRA_CAST("cfloat", DType::C64),
    TERRA_CAST("cdouble", DType::C128),
    TERRA_CAST("half", DType::F16),
    TERRA_CAST("bfloat16", DType::BF16),
    TERRA_CAST("long", DType::I64),
    TERRA_CAST("int", DType::I32),
    TERRA_CAST("short", DType::I16),
    TERRA_CAST("char", DType::I8),
    TERRA_CAST("byte", DType::U8),
    TERRA_CAST("bool", DType::Bool),
    {"cpu", method<cpu>(), METH_FASTCALL | METH_KEYWORDS, "The tensor on the CPU."},
    {"cuda", method<cuda>(), METH_FASTCALL | METH_KEYWORDS, "Raises: there is no CUDA in this build."},
    {}};
#undef TERRA_CAST

}  // namespace terra::hooks
