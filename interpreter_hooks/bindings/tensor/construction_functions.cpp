// terra.tensor, as_tensor, Tensor(...), new_tensor and the like: construction as Python calls it.
#include <string>

#include "engine/autograd/autograd.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/tensor/sparse.h"
#include "engine/tensor/transfer.h"
#include "interpreter_hooks/bindings/calls/function_tables.h"
#include "interpreter_hooks/bindings/calls/invoke.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/calls/override.h"
#include "interpreter_hooks/bindings/objects/dtype_object.h"
#include "interpreter_hooks/bindings/objects/size_object.h"
#include "interpreter_hooks/bindings/objects/types.h"
#include "interpreter_hooks/bindings/tensor/construction.h"
#include "interpreter_hooks/bindings/tensor/scalars.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"
#include "interpreter_hooks/bindings/tensor/tensor_parts.h"

namespace terra::hooks {
namespace {

std::optional<DType> optional_dtype(Borrowed object, const char* function) {
  if (!object || object == Py_None) return std::nullopt;
  const auto dtype = dtype_from(object);
  if (!dtype)
    raise(PyExc_TypeError, "%s(): argument 'dtype' must be torch.dtype, not %s", function, Py_TYPE(object)->tp_name);
  return dtype;
}

/// The arguments that all constructors share.
struct Options {
  PyObject *data = nullptr, *dtype = Py_None, *device = Py_None, *requires_grad = Py_False, *pin_memory = Py_False,
           *copy = Py_None;
  /// The device that the result is to be on. Nothing: that of the data.
  std::optional<Device> to;

  void parse(PyObject* args, PyObject* kwargs, const char* name) {
    static const char* names[] = {"data", "dtype", "device", "requires_grad", "pin_memory", "copy", nullptr};
    const std::string format = std::string("O|OO$OOO:") + name;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, format.c_str(), const_cast<char**>(names), &data, &dtype, &device,
                                     &requires_grad, &pin_memory, &copy))
      throw PythonError{};
    if (device != Py_None || !current_device().is_cpu()) to = device_from(device);
  }
};

/// What the program has built of its data, on the device that it is asked for on.
Object placed(Object made, std::optional<Device> to) {
  const Tensor tensor = tensor_of(made.get());
  if (!to || tensor.device() == *to) return made;
  report_opaque("a tensor of another device", made.get());
  return Object::steal(wrap(moved_to(tensor, *to)));
}

Object require(Object tensor, Borrowed requires_grad) {
  if (succeeded(PyObject_IsTrue(requires_grad))) {
    if (OpObserver* observer = op_observer()) observer->on_requires_grad(tensor.get(), true);
    autograd::make_require_grad(tensor_of(tensor.get()));
  }
  return tensor;
}

Object tensor(PyObject*, PyObject* args, PyObject* kwargs) {
  Options options;
  options.parse(args, kwargs, "tensor");
  if (is_tensor(options.data) &&
      PyErr_WarnEx(PyExc_UserWarning,
                   "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
                   "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor).",
                   1) < 0)
    throw PythonError{};
  Object made = tensor_from_data(options.data, optional_dtype(options.dtype, "tensor"));
  observe_construction("tensor()", options.data, made.get());
  return require(placed(std::move(made), options.to), options.requires_grad);
}

/// The tensor itself, or one that shares an array's memory, where dtype allows; else a copy.
Object as_tensor(PyObject*, PyObject* args, PyObject* kwargs) {
  Options options;
  options.parse(args, kwargs, "as_tensor");
  const auto dtype = optional_dtype(options.dtype, "as_tensor");
  const bool copy = options.copy != Py_None && succeeded(PyObject_IsTrue(options.copy));
  const bool stays = !options.to || !is_tensor(options.data) || impl_of(options.data)->device == *options.to;
  if (is_tensor(options.data) && !copy && stays) {
    if (!dtype || *dtype == impl_of(options.data)->dtype) return Object::share(options.data);
    if (is_sparse(*impl_of(options.data))) return owned(PyObject_CallMethod(options.data, "to", "O", options.dtype));
    return invoke_simple(required_op("to_dtype"), {tensor_of(options.data), *dtype}, {options.data});
  }
  Object made;
  if (!copy && !is_tensor(options.data) && PyObject_CheckBuffer(options.data) && !PyBytes_Check(options.data)) {
    Buffer buffer(options.data);
    if (buffer.dtype()) {
      const Tensor shared = std::move(buffer).share();
      made = Object::steal(wrap(converted(shared, dtype.value_or(shared.dtype()))));
    }
  }
  if (!made) made = tensor_from_data(options.data, dtype);
  observe_construction("as_tensor()", options.data, made.get());
  return require(placed(std::move(made), options.to), options.requires_grad);
}

/// as_tensor(), but what shouldn't require grad is cut off from its history.
Object asarray(PyObject* self, PyObject* args, PyObject* kwargs) {
  Object made = as_tensor(self, args, kwargs);
  Borrowed asked = kwargs ? PyDict_GetItemString(kwargs, "requires_grad") : nullptr;
  if (asked != Py_False || !impl_of(made.get())->requires_grad()) return made;
  return owned(PyObject_CallMethod(made.get(), "detach", nullptr));
}

Object is_tensor_function(PyObject*, PyObject* object) { return owned(PyBool_FromLong(is_tensor(object))); }

/// Tensor(2, 3), Tensor([1, 2]), Tensor(): of the default dtype. Tensor(other) shares the memory of the other.
Object legacy_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  Tensor made;
  const Py_ssize_t n = PyTuple_GET_SIZE(args);
  Borrowed device = kwargs ? PyDict_GetItemString(kwargs, "device") : nullptr;
  const Device to = device && device != Py_None ? device_from(device) : Device();
  Borrowed first = n > 0 ? PyTuple_GET_ITEM(args, 0) : nullptr;
  if (n == 0) {
    made = Tensor::empty(Dims{0}, default_dtype(), to);
  } else if (is_tensor(first)) {
    made = alias_of(*impl_of(first));
  } else if (n == 1 && PyObject_TypeCheck(first, size_type)) {
    Dims sizes;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(first); ++i) {
      int64_t size = 0;
      to_int(PyTuple_GET_ITEM(first, i), size);
      sizes.push_back(size);
    }
    made = Tensor::empty(sizes, default_dtype(), to);
  } else if (int64_t size; to_int(first, size)) {
    Dims sizes;
    for (Py_ssize_t i = 0; i < n; ++i) {
      if (!to_int(PyTuple_GET_ITEM(args, i), size))
        raise(PyExc_TypeError, "new(): sizes must be ints, not %s", Py_TYPE(PyTuple_GET_ITEM(args, i))->tp_name);
      sizes.push_back(size);
    }
    made = Tensor::empty(sizes, default_dtype(), to);
  } else if (PyTuple_Check(first) || PyList_Check(first) || PySequence_Check(first)) {
    Object data = tensor_from_data(first, default_dtype());
    made = moved_to(alias_of(*impl_of(data.get())), to);
  } else {
    raise(PyExc_TypeError, "new(): data must be a sequence (got %s)", Py_TYPE(first)->tp_name);
  }
  Object result = Object::steal(wrap_as(type, std::move(made)));
  const bool of_numbers = n == 1 && (PyList_CheckExact(first) || PyTuple_CheckExact(first)) && type == tensor_type;
  observe_construction("Tensor()", of_numbers ? first : Py_None, result.get());
  return result;
}

/// Subclasses may take what they like; their __new__ has had its say.
int legacy_init(PyObject*, PyObject*, PyObject*) { return 0; }

Object new_tensor(PyObject* self, PyObject* args, PyObject* kwargs) {
  Options options;
  options.parse(args, kwargs, "new_tensor");
  Object made =
      tensor_from_data(options.data, optional_dtype(options.dtype, "new_tensor").value_or(impl_of(self)->dtype));
  observe_construction("new_tensor()", options.data, made.get());
  if (options.device == Py_None) options.to = impl_of(self)->device;
  return require(placed(std::move(made), options.to), options.requires_grad);
}

/// x.new_zeros(2, 3) is zeros(2, 3, dtype=x.dtype): `function` of the module with this tensor's dtype and device.
Object new_like(PyObject* self, PyObject* args, PyObject* kwargs, const char* function) {
  Object values = kwargs ? owned(PyDict_Copy(kwargs)) : owned(PyDict_New());
  Borrowed given = PyDict_GetItemString(values.get(), "dtype");
  if (!given || given == Py_None)
    succeeded(PyDict_SetItemString(values.get(), "dtype", dtype_object(impl_of(self)->dtype)));
  given = PyDict_GetItemString(values.get(), "device");
  if ((!given || given == Py_None) && impl_of(self)->device != current_device())
    succeeded(PyDict_SetItemString(values.get(), "device", device_object(impl_of(self)->device).get()));
  Object module = owned(PyImport_ImportModule("_terra_C"));
  Object callable = owned(PyObject_GetAttrString(module.get(), function));
  return owned(PyObject_Call(callable.get(), args, values.get()));
}
Object new_zeros(PyObject* self, PyObject* a, PyObject* k) { return new_like(self, a, k, "zeros"); }
Object new_ones(PyObject* self, PyObject* a, PyObject* k) { return new_like(self, a, k, "ones"); }
Object new_empty(PyObject* self, PyObject* a, PyObject* k) { return new_like(self, a, k, "empty"); }
Object new_full(PyObject* self, PyObject* a, PyObject* k) { return new_like(self, a, k, "full"); }

/// x.new(2, 3), x.new([1, 2]): the old form of new_empty and new_tensor. Sizes are ints or a torch.Size; any other
/// sequence is data.
Object new_old(PyObject* self, PyObject* args, PyObject* kwargs) {
  const Py_ssize_t n = PyTuple_GET_SIZE(args);
  Borrowed first = n > 0 ? PyTuple_GET_ITEM(args, 0) : nullptr;
  const TensorImpl& like = *impl_of(self);
  if (n == 1 && is_tensor(first)) return placed(tensor_from_data(first, like.dtype), like.device);
  if (n == 0 && (!kwargs || !PyDict_GetItemString(kwargs, "size")))
    return Object::steal(wrap(Tensor::empty(Dims{0}, like.dtype, like.device)));
  int64_t size;
  if (n != 1 || PyObject_TypeCheck(first, size_type) || to_int(first, size))
    return new_like(self, args, kwargs, "empty");
  if (PyUnicode_Check(first)) raise(PyExc_TypeError, "new(): invalid data type 'str'");
  if (!PySequence_Check(first))
    raise(PyExc_TypeError, "new(): data must be a sequence (got %s)", Py_TYPE(first)->tp_name);
  return new_tensor(self, args, kwargs);
}

Borrowed checked_type(Borrowed type) {
  if (!PyType_Check(type) || !PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type), tensor_type))
    raise(PyExc_TypeError, "cls must be a type (got %s)", Py_TYPE(type)->tp_name);
  return type;
}

Object make_subclass(PyObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"cls", "data", "require_grad", nullptr};
  PyObject *type, *data, *requires_grad = Py_False;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!|O:_make_subclass", const_cast<char**>(names), &type, tensor_type,
                                   &data, &requires_grad))
    throw PythonError{};
  checked_type(type);
  return require(Object::steal(wrap_as(reinterpret_cast<PyTypeObject*>(type), alias_of(*impl_of(data)))),
                 requires_grad);
}

/// The same tensor, with its history, as an instance of a subclass.
Object as_subclass_method(PyObject* self, PyObject* type) {
  checked_type(type);
  return as_subclass(invoke_simple(required_op("view"), {tensor_of(self), impl_of(self)->sizes}, {self}),
                     reinterpret_cast<PyTypeObject*>(type));
}

}  // namespace

void append_construction_slots(std::vector<PyType_Slot>& slots) {
  slots.push_back({Py_tp_new, slot<legacy_new>()});
  slots.push_back({Py_tp_init, slot<legacy_init>()});
}

PyMethodDef construction_methods[] = {
    {"new_tensor", method<new_tensor>(), METH_VARARGS | METH_KEYWORDS,
     "A new tensor of the data, with this one's dtype."},
    {"new_zeros", method<new_zeros>(), METH_VARARGS | METH_KEYWORDS, "Zeros of this tensor's dtype."},
    {"new_ones", method<new_ones>(), METH_VARARGS | METH_KEYWORDS, "Ones of this tensor's dtype."},
    {"new_empty", method<new_empty>(), METH_VARARGS | METH_KEYWORDS, "An uninitialised tensor of this tensor's dtype."},
    {"new_full", method<new_full>(), METH_VARARGS | METH_KEYWORDS, "A constant tensor of this tensor's dtype."},
    {"new", method<new_old>(), METH_VARARGS | METH_KEYWORDS, "An uninitialised tensor, or one of the data given."},
    {"as_subclass", method<as_subclass_method>(), METH_O, "This tensor as an instance of a subclass."},
    {"_make_subclass", method<make_subclass>(), METH_VARARGS | METH_KEYWORDS | METH_STATIC,
     "An instance of cls that shares the memory of data."},
    {}};

PyMethodDef construction_functions[] = {
    {"tensor", method<tensor>(), METH_VARARGS | METH_KEYWORDS,
     "tensor(data, dtype=None, device=None, requires_grad=False): a new tensor of numbers, sequences or an array."},
    {"as_tensor", method<as_tensor>(), METH_VARARGS | METH_KEYWORDS,
     "as_tensor(data, dtype=None, device=None): the data as a tensor, sharing memory where that is possible."},
    {"asarray", method<asarray>(), METH_VARARGS | METH_KEYWORDS,
     "asarray(obj, dtype=None, copy=None): the data as a tensor, sharing memory where that is possible."},
    {"is_tensor", method<is_tensor_function>(), METH_O, "True for instances of Tensor."},
    {}};

}  // namespace terra::hooks
