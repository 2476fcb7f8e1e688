// Memory shared with numpy, without numpy: the buffer protocol in both directions.
#include <string_view>

#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/tensor/sparse.h"
#include "interpreter_hooks/bindings/calls/function_tables.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/objects/dtype_object.h"
#include "interpreter_hooks/bindings/objects/types.h"
#include "interpreter_hooks/bindings/tensor/construction.h"
#include "interpreter_hooks/bindings/tensor/scalars.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"
#include "interpreter_hooks/bindings/tensor/tensor_parts.h"

namespace terra::hooks {
namespace {

/// What an array made from a tensor has as its base: exports its memory, which it keeps alive whatever the tensor may
/// become.
struct Exporter {
  PyObject_HEAD TensorImpl* impl;  // strong: another tensor of that memory
};

PyTypeObject* exporter_type() {
  static PyTypeObject* type = [] {
    static constexpr const char* formats[kDTypeCount] = {"?", "B",     "b", "h", "i",     "q",     "H",  "I", "Q",
                                                         "e", nullptr, "f", "d", nullptr, nullptr, "Zf", "Zd"};
    const auto get = [](PyObject* self, Py_buffer* view, int) -> int {
      TensorImpl& t = *reinterpret_cast<Exporter*>(self)->impl;
      const size_t rank = t.sizes.size();
      auto* numbers = new Py_ssize_t[2 * rank + 1];
      for (size_t i = 0; i < rank; ++i) {
        numbers[i] = t.sizes[i];
        numbers[rank + i] = t.strides[i] * static_cast<Py_ssize_t>(size_of(t.dtype));
      }
      *view = {};
      view->buf = t.numel ? t.data() : t.storage->data();
      view->obj = Py_NewRef(self);
      view->len = t.numel * static_cast<Py_ssize_t>(size_of(t.dtype));
      view->itemsize = static_cast<Py_ssize_t>(size_of(t.dtype));
      view->format = const_cast<char*>(formats[static_cast<int>(t.dtype)]);
      view->ndim = static_cast<int>(rank);
      view->shape = numbers;
      view->strides = numbers + rank;
      view->internal = numbers;
      return 0;
    };
    const auto release = [](PyObject*, Py_buffer* view) { delete[] static_cast<Py_ssize_t*>(view->internal); };
    const auto dealloc = [](PyObject* self) {
      PyTypeObject* type = Py_TYPE(self);
      Ref<TensorImpl>::adopt(reinterpret_cast<Exporter*>(self)->impl);
      type->tp_free(self);
      Py_DECREF(type);
    };
    PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(static_cast<getbufferproc>(get))},
                           {Py_bf_releasebuffer, reinterpret_cast<void*>(static_cast<releasebufferproc>(release))},
                           {Py_tp_dealloc, reinterpret_cast<void*>(static_cast<destructor>(dealloc))},
                           {0, nullptr}};
    PyType_Spec spec = {"terra.memory", sizeof(Exporter), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                        slots};
    return create_type(spec);
  }();
  return type;
}

/// The array that shares a tensor's memory. From now on somebody outside may read and write it at any time.
Object array_of(PyObject* self) {
  TensorImpl& t = *impl_of(self);
  if (is_half(t.dtype) && t.dtype != DType::F16)
    raise(PyExc_TypeError, "Got unsupported ScalarType %s", std::string(scalar_type_name(t.dtype)).c_str());
  if (!t.device.is_cpu())
    raise(PyExc_TypeError,
          "can't convert %s device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.",
          to_string(t.device).c_str());
  check_has_memory(t);
  report_opaque("numpy()", self);
  wait_for_bytes(t);
  t.storage->mark_fixed();
  Object exporter = owned(exporter_type()->tp_alloc(exporter_type(), 0));
  reinterpret_cast<Exporter*>(exporter.get())->impl = Ref<TensorImpl>(tensor_of(self).alias().get()).release();
  Object numpy = owned(PyImport_ImportModule("numpy"));
  return owned(PyObject_CallMethod(numpy.get(), "asarray", "O", exporter.get()));
}

/// The tape doesn't see what becomes of an array: where gradients are recorded, the tensor must want none.
void check_leaves_tape(PyObject* self) {
  check(!grad_enabled() || !impl_of(self)->requires_grad(),
        "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.");
}

Object numpy(PyObject* self, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"force", nullptr};
  int force = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$p:numpy", const_cast<char**>(names), &force)) throw PythonError{};
  if (!force) check_leaves_tape(self);
  return array_of(self);
}

/// numpy asks for this; the result may be a view.
Object array_method(PyObject* self, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"dtype", "copy", nullptr};
  PyObject *dtype = Py_None, *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:__array__", const_cast<char**>(names), &dtype, &copy))
    throw PythonError{};
  check_leaves_tape(self);
  Object array = array_of(self);
  if (copy == Py_True) array = owned(PyObject_CallMethod(array.get(), "copy", nullptr));
  if (dtype == Py_None) return array;
  Object numpy = owned(PyImport_ImportModule("numpy"));
  return owned(PyObject_CallMethod(numpy.get(), "asarray", "OO", array.get(), dtype));
}

/// Results of numpy functions that got a tensor.
Object array_wrap(PyObject*, PyObject* args) {
  Borrowed array = PyTuple_GET_SIZE(args) > 0 ? PyTuple_GET_ITEM(args, 0) : Py_None;
  if (!PyObject_CheckBuffer(array)) return Object::share(array);
  Buffer buffer(array);
  return buffer.dtype() ? Object::steal(wrap(std::move(buffer).share())) : Object::share(array);
}

Object from_numpy(PyObject*, PyObject* array) {
  if (std::string_view(Py_TYPE(array)->tp_name) != "numpy.ndarray" &&
      !PyObject_HasAttrString(array, "__array_interface__"))
    raise(PyExc_TypeError, "expected np.ndarray (got %s)", Py_TYPE(array)->tp_name);
  Buffer buffer(array);
  if (!buffer.dtype()) {
    Object dtype = owned(PyObject_GetAttrString(array, "dtype"));
    raise(PyExc_TypeError,
          "can't convert np.ndarray of type numpy.%S. The only supported types are: float64, float32, float16, int64, "
          "int32, int16, int8, uint64, uint32, uint16, uint8, and bool.",
          dtype.get());
  }
  if (buffer.read_only() &&
      PyErr_WarnEx(
          PyExc_UserWarning,
          "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means "
          "writing to this tensor will result in undefined behavior. You may want to copy the array to protect its "
          "data or make it writable before converting it to a tensor. This type of warning will be suppressed for the "
          "rest of this program.",
          1) < 0)
    throw PythonError{};
  Object tensor = Object::steal(wrap(std::move(buffer).share()));
  report_opaque("from_numpy()", tensor.get());
  return tensor;
}

/// frombuffer(buffer, *, dtype, count=-1, offset=0): a 1-d tensor of the bytes that any object exports.
Object frombuffer(PyObject*, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"buffer", "dtype", "count", "offset", "requires_grad", nullptr};
  PyObject *exporter, *dtype = nullptr, *ignored = nullptr;
  Py_ssize_t count = -1, offset = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OnnO:frombuffer", const_cast<char**>(names), &exporter, &dtype,
                                   &count, &offset, &ignored))
    throw PythonError{};
  const auto type = dtype ? dtype_from(dtype) : std::nullopt;
  if (!type) raise(PyExc_TypeError, "frombuffer() missing required argument 'dtype', a torch.dtype");
  Object bytes = owned(PyMemoryView_FromObject(exporter));
  bytes = owned(PyObject_CallMethod(bytes.get(), "cast", "s", "B"));
  const Tensor all = Buffer(bytes.get()).share();
  const auto size = static_cast<Py_ssize_t>(size_of(*type)), length = static_cast<Py_ssize_t>(all.numel());
  check_kind(offset >= 0 && offset < length, ErrorKind::ValueError,
             "offset ({} bytes) must be non-negative and no greater than buffer length ({} bytes) minus 1", offset,
             length);
  check_kind(count > 0 || (length - offset) % size == 0, ErrorKind::ValueError,
             "buffer length ({} bytes) after offset ({} bytes) must be a multiple of element size ({})", length, offset,
             size);
  const Py_ssize_t n = count < 0 ? (length - offset) / size : count;
  check_kind(
      n <= (length - offset) / size, ErrorKind::ValueError,
      "requested buffer length ({} * {} bytes) after offset ({} bytes) must not be greater than actual buffer length "
      "({} bytes)",
      n, size, offset, length);
  check_kind(offset % size == 0, ErrorKind::ValueError, "offset ({} bytes) must be a multiple of the element size ({})",
             offset, size);
  return Object::steal(wrap(Tensor::view_of(all->storage, *type, Dims{n}, Dims{1}, offset / size)));
}

}  // namespace

PyMethodDef numpy_methods[] = {
    {"numpy", method<numpy>(), METH_VARARGS | METH_KEYWORDS, "A numpy array that shares this tensor's memory."},
    {"__array__", method<array_method>(), METH_VARARGS | METH_KEYWORDS, nullptr},
    {"__array_wrap__", method<array_wrap>(), METH_VARARGS, nullptr},
    {}};

PyMethodDef numpy_functions[] = {
    {"from_numpy", method<from_numpy>(), METH_O, "A tensor that shares a numpy array's memory."},
    {"frombuffer", method<frombuffer>(), METH_VARARGS | METH_KEYWORDS,
     "A 1-d tensor of the bytes that an object exports."},
    {}};

}  // namespace terra::hooks
