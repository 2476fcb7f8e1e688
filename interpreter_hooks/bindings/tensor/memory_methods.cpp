// Methods that change what memory a tensor views, or walk it with Python functions.
#include "engine/autograd/autograd.h"
#include "engine/device/backend.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/ops/overlap.h"
#include "engine/ops/rules.h"
#include "engine/tensor/epoch.h"
#include "engine/tensor/kept_bytes.h"
#include "engine/tensor/sparse.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/objects/dtype_object.h"
#include "interpreter_hooks/bindings/objects/types.h"
#include "interpreter_hooks/bindings/tensor/construction.h"
#include "interpreter_hooks/bindings/tensor/memory_format.h"
#include "interpreter_hooks/bindings/tensor/resize.h"
#include "interpreter_hooks/bindings/tensor/scalars.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"
#include "interpreter_hooks/bindings/tensor/tensor_parts.h"
#include "kernels/abi/element.h"

namespace terra::hooks {
namespace {

/// A tuple of ints, or such a tuple's only item, as sizes (or strides: `what`) of a method.
Dims ints_from(PyObject* args, const char* method, const char* what) {
  Object items = PyTuple_GET_SIZE(args) == 1 && PySequence_Check(PyTuple_GET_ITEM(args, 0))
                     ? owned(PySequence_Tuple(PyTuple_GET_ITEM(args, 0)))
                     : Object::share(args);
  Dims sizes;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.get()); ++i) {
    int64_t size;
    if (!to_int(PyTuple_GET_ITEM(items.get(), i), size))
      raise(PyExc_TypeError, "%s(): %s must be ints, not %s", method, what,
            Py_TYPE(PyTuple_GET_ITEM(items.get(), i))->tp_name);
    sizes.push_back(size);
  }
  return sizes;
}

/// The storage, or where it has fewer bytes a larger one with what it holds.
Ref<Storage> with_room(const Ref<Storage>& storage, size_t needed) {
  if (needed <= storage->bytes()) return storage;
  check(!storage->fixed(), "Trying to resize storage that is not resizable: numpy or another owner holds its memory");
  Ref<Storage> larger = Storage::allocate(needed, storage->device());
  backend_of(storage->device()).copy(larger->data(), storage->data(), storage->bytes());
  return larger;
}

}  // namespace

void resize(TensorImpl& t, Dims sizes, MemoryFormat format) {
  check(!t.requires_grad(), "cannot resize variables that require grad");
  const int64_t numel = checked_numel(sizes);
  const auto needed =
      static_cast<size_t>(size_product(size_sum(t.offset, numel), static_cast<int64_t>(size_of(t.dtype))));
  Ref<Storage> storage = with_room(t.storage, needed);
  Dims strides = strides_in(format, sizes);
  const Tensor resized = Tensor::view_of(storage, t.dtype, std::move(sizes), std::move(strides), t.offset);
  storage->mark_inference(t.is_inference());
  become(t, std::move(storage), *resized);
  before_write(*t.storage);
  t.storage->bump_version();
  check_counts_writes(t);
}

namespace {

Object resize_method(PyObject* self, PyObject* args, PyObject* kwargs) {
  Borrowed format = kwargs ? PyDict_GetItemString(kwargs, "memory_format") : nullptr;
  report_opaque("resize_()", self);
  resize(*impl_of(self), ints_from(args, "resize_", "sizes"),
         memory_format_from(format, "resize_").value_or(MemoryFormat::Contiguous));
  return Object::share(self);
}

Object resize_as(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  Borrowed other = count > 0 ? args[0] : keyword(args, count, names, "the_template");
  if (!other || !is_tensor(other))
    raise(PyExc_TypeError, "resize_as_(): argument must be Tensor, not %s",
          other ? Py_TYPE(other)->tp_name : "nothing");
  const auto format = memory_format_from(keyword(args, count, names, "memory_format"), "resize_as_");
  report_opaque("resize_as_()", self);
  const TensorImpl& like = *impl_of(other);
  const bool preserves = format == MemoryFormat::Preserve;
  resize(*impl_of(self), like.sizes, preserves ? suggested_format(like) : format.value_or(MemoryFormat::Contiguous));
  return Object::share(self);
}

/// Where set_() takes memory from: a tensor, or the bytes of a storage (storage.py), which have no dtype unless they
/// are those of a TypedStorage.
struct Source {
  Object bytes;  ///< a tensor
  DType dtype;
  bool is_storage;
};

Source source_from(PyObject* given, DType wanted) {
  if (is_tensor(given)) return {Object::share(given), impl_of(given)->dtype, false};
  Object untyped = Object::steal(PyObject_GetAttrString(given, "_untyped_storage"));
  if (!untyped) PyErr_Clear();
  DType dtype = wanted;
  if (untyped) dtype = dtype_from(owned(PyObject_GetAttrString(given, "dtype")).get()).value_or(wanted);
  Object bytes = Object::steal(PyObject_GetAttrString(untyped ? untyped.get() : given, "_bytes"));
  if (!bytes || !is_tensor(bytes.get())) {
    PyErr_Clear();
    raise(PyExc_TypeError, "set_(): argument 'source' (position 1) must be a Tensor or a storage, not %s",
          Py_TYPE(given)->tp_name);
  }
  return {std::move(bytes), dtype, true};
}

/// The last byte that elements in such places reach, from the beginning of the storage.
size_t reach(int64_t offset, const Dims& sizes, const Dims& strides, DType dtype) {
  int64_t last = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return 0;
    last = size_sum(last, size_product(sizes[d] - 1, strides[d]));
  }
  return static_cast<size_t>(size_product(size_sum(size_sum(offset, last), 1), static_cast<int64_t>(size_of(dtype))));
}

/// x.set_(source, storage_offset, size, stride): x becomes another view of the memory of a tensor or of a storage, of
/// all of it without the rest; x.set_() of none.
Object set_memory(PyObject* self, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"source", "storage_offset", "size", "stride", nullptr};
  PyObject *given = nullptr, *offset_object = nullptr, *size = nullptr, *stride = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOOO:set_", const_cast<char**>(names), &given, &offset_object, &size,
                                   &stride))
    throw PythonError{};
  report_opaque("set_()", self);
  TensorImpl& to = *impl_of(self);
  check_has_memory(to);
  check(!to.requires_grad() || !autograd::is_leaf(tensor_of(self)) || !grad_enabled(),
        "a leaf Variable that requires grad is being used in an in-place operation.");
  if (!given) {
    const Tensor none = Tensor::empty(Dims{0}, to.dtype, to.device);
    become(to, none->storage, *none);
    return Object::share(self);
  }
  const Source source = source_from(given, to.dtype);
  TensorImpl& from = *impl_of(source.bytes.get());
  check_has_memory(from);
  check(
      to.device == from.device,
      "Attempted to set the storage of a tensor on device \"{}\" to a storage on different device \"{}\".  This is no "
      "longer allowed; the devices must match.",
      to_string(to.device), to_string(from.device));
  if (source.is_storage)
    check(source.dtype == to.dtype, "Expected a Storage of type {} or an UntypedStorage, but got one of type {}",
          scalar_type_name(to.dtype), scalar_type_name(source.dtype));
  else
    check(source.dtype == to.dtype, "Could not set tensor of type {} to a tensor of type {}", c_type_name(from.dtype),
          c_type_name(to.dtype));
  if (!offset_object && !source.is_storage) {
    become(to, from.storage, from);
    return Object::share(self);
  }
  const auto each = static_cast<int64_t>(size_of(to.dtype));
  const int64_t begin = source.is_storage ? from.offset : 0;  // of a part of a storage, in bytes
  check(begin % each == 0, "set_(): the storage begins in the middle of an element of {}", name_of(to.dtype));
  int64_t offset = 0;
  Dims sizes{from.numel / each}, strides{1};
  if (offset_object) {
    if (!to_int(offset_object, offset)) raise(PyExc_TypeError, "set_(): storage_offset must be an int");
    check(offset >= 0, "Tensor: invalid storage offset {}", offset);
    if (!size) raise(PyExc_TypeError, "set_() missing 1 required positional arguments: \"size\"");
    sizes = ints_from(owned(PySequence_Tuple(size)).get(), "set_", "sizes");
    static_cast<void>(checked_numel(sizes));
    strides = contiguous_strides(sizes);
    if (stride && PyObject_Size(stride) != 0)
      strides = ints_from(owned(PySequence_Tuple(stride)).get(), "set_", "strides");
    check(strides.size() == sizes.size(), "unequal size length ({}) and stride length ({})", sizes.size(),
          strides.size());
    for (int64_t step : strides)
      check(step >= 0, "Storage size calculation overflowed with sizes={} and strides={}", listed(sizes),
            listed(strides));
  }
  offset += begin / each;
  Ref<Storage> storage = with_room(from.storage, reach(offset, sizes, strides, to.dtype));
  const Tensor view = Tensor::view_of(storage, to.dtype, std::move(sizes), std::move(strides), offset);
  become(to, std::move(storage), *view);
  return Object::share(self);
}

/// Replaces every element by what a Python function makes of it (and of the element of another tensor).
Object map_elements(PyObject* self, PyObject* other, PyObject* function) {
  const Tensor target = alias_of(*impl_of(self)), second_operand = other ? alias_of(*impl_of(other)) : Tensor();
  TensorImpl& t = *target;  // the function may give the tensors themselves other memory
  report_opaque("apply_()", self);
  check(!impl_of(self)->requires_grad(),
        "Can't call apply_() on Variable that requires grad. Use var.detach().apply_() instead.");
  if (t.device.is_meta()) return Object::share(self);
  check_kind(t.device.is_cpu() && (!other || second_operand.device().is_cpu()), ErrorKind::TypeError,
             "{} is only implemented on CPU tensors", other ? "map_" : "apply_");
  check(!other || second_operand.sizes() == t.sizes, "map_(): the tensors must have the same shape");
  Dims at(t.sizes.size(), 0);
  before_write(*t.storage);
  const auto element = [&at](const TensorImpl& of) {
    int64_t offset = 0;
    for (size_t d = 0; d < at.size(); ++d) offset += at[d] * of.strides[d];
    return static_cast<char*>(of.data()) + offset * static_cast<int64_t>(size_of(of.dtype));
  };
  for (int64_t i = 0; i < t.numel; ++i) {
    Object first = owned(from_scalar(load_element(element(t), t.dtype)));
    Object second =
        other ? owned(from_scalar(load_element(element(*second_operand), second_operand.dtype()))) : Object();
    Object made = owned(PyObject_CallFunctionObjArgs(function, first.get(), second.get(), nullptr));
    Scalar value;
    if (!to_scalar(made.get(), value))
      raise(PyExc_TypeError, "must be real number, not %s", Py_TYPE(made.get())->tp_name);
    store_scalar(element(t), t.dtype, value);
    for (size_t d = at.size(); d-- > 0 && ++at[d] == t.sizes[d];) at[d] = 0;
  }
  t.storage->bump_version();
  check_counts_writes(t);
  return Object::share(self);
}
Object apply(PyObject* self, PyObject* function) { return map_elements(self, nullptr, function); }
Object map(PyObject* self, PyObject* args) {
  PyObject *other, *function;
  if (!PyArg_ParseTuple(args, "O!O:map_", tensor_type, &other, &function)) throw PythonError{};
  return map_elements(self, other, function);
}

/// x.squeeze_() and the like: x becomes the view that the op makes of it, history included.
Object become_view(PyObject* self, const char* op_name, const char* node_name, PyObject* const* args, Py_ssize_t count,
                   PyObject* names) {
  report_opaque("in-place change of a shape", self);
  const Tensor target = tensor_of(self);
  check(!target.requires_grad() || !autograd::is_leaf(target) || !grad_enabled(),
        "a leaf Variable that requires grad is being used in an in-place operation.");
  Object method = owned(PyObject_GetAttrString(self, op_name));
  Object view = owned(PyObject_Vectorcall(method.get(), args, static_cast<size_t>(count), names));
  const TensorImpl& from = *impl_of(view.get());
  const autograd::Edge made = autograd::history(tensor_of(view.get()));
  become(*target, target->storage, from);
  before_write(*target->storage);
  target->storage->bump_version();
  check_counts_writes(*target);
  if (made.node) {
    made.node->rename(node_name);
    autograd::set_history(target, made.node, made.index);
  }
  return Object::share(self);
}
Object squeeze(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return become_view(self, "squeeze", count > 0 ? "SqueezeBackward4" : "SqueezeBackward3", args, count, names);
}
Object unsqueeze(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return become_view(self, "unsqueeze", "UnsqueezeBackward1", args, count, names);
}
Object transpose(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return become_view(self, "transpose", "TransposeBackward1", args, count, names);
}
Object t(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return become_view(self, "t", "TBackward1", args, count, names);
}

Object itself(PyObject* self, PyObject*) { return Object::share(self); }

}  // namespace

PyMethodDef memory_methods[] = {
    {"resize_", method<resize_method>(), METH_VARARGS | METH_KEYWORDS, "Another shape, with more memory where needed."},
    {"resize_as_", method<resize_as>(), METH_FASTCALL | METH_KEYWORDS, "The shape of another tensor."},
    {"set_", method<set_memory>(), METH_VARARGS | METH_KEYWORDS,
     "Another view of the memory of a tensor or a storage."},
    {"apply_", method<apply>(), METH_O, "Replaces every element by function(element)."},
    {"map_", method<map>(), METH_VARARGS, "Replaces every element by function(element, element of other)."},
    {"squeeze_", method<squeeze>(), METH_FASTCALL | METH_KEYWORDS, "Drops dimensions of size 1 in place."},
    {"unsqueeze_", method<unsqueeze>(), METH_FASTCALL | METH_KEYWORDS, "Adds a dimension of size 1 in place."},
    {"transpose_", method<transpose>(), METH_FASTCALL | METH_KEYWORDS, "Swaps two dimensions in place."},
    {"t_", method<t>(), METH_FASTCALL | METH_KEYWORDS, "Swaps the two dimensions of a matrix in place."},
    {"share_memory_", method<itself>(), METH_NOARGS, "The tensor itself."},
    {"resolve_conj", method<itself>(), METH_NOARGS, nullptr},
    {"resolve_neg", method<itself>(), METH_NOARGS, nullptr},
    {}};

}  // namespace terra::hooks
