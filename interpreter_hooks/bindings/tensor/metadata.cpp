// What a tensor says of itself without its elements: shape, strides, dtype, device, identity of its memory.
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/tensor/sparse.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/objects/dtype_object.h"
#include "interpreter_hooks/bindings/objects/size_object.h"
#include "interpreter_hooks/bindings/objects/types.h"
#include "interpreter_hooks/bindings/tensor/memory_format.h"
#include "interpreter_hooks/bindings/tensor/scalars.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"
#include "interpreter_hooks/bindings/tensor/tensor_parts.h"

namespace terra::hooks {
namespace {

/// Tells the observer what Python learns.
Object told(PyObject* self, const char* attribute, Object value, int64_t dim = 0) {
  if (OpObserver* observer = op_observer()) [[unlikely]]
    observer->on_metadata(self, attribute, value.get(), dim);
  return value;
}
Object opaque(PyObject* self, const char* what, Object value) {
  report_opaque(what, self);
  return value;
}
Object integer(int64_t value) { return owned(PyLong_FromLongLong(value)); }
Object boolean(bool value) { return owned(PyBool_FromLong(value)); }

using Reader = Object (*)(const TensorImpl&);

Object read_shape(const TensorImpl& t) { return owned(make_size(t.sizes)); }
Object read_dtype(const TensorImpl& t) { return Object::share(dtype_object(t.dtype)); }
Object read_rank(const TensorImpl& t) { return integer(static_cast<int64_t>(t.sizes.size())); }
Object read_numel(const TensorImpl& t) { return integer(t.numel); }
Object read_device(const TensorImpl& t) { return device_object(t.device); }
Object read_layout(const TensorImpl&) { return Object::share(strided_layout()); }
Object read_itemsize(const TensorImpl& t) { return integer(static_cast<int64_t>(size_of(t.dtype))); }
Object read_nbytes(const TensorImpl& t) { return integer(t.numel * static_cast<int64_t>(size_of(t.dtype))); }
Object read_offset(const TensorImpl& t) { return integer(t.offset); }
Object read_on_cpu(const TensorImpl& t) { return boolean(t.device.is_cpu()); }
Object read_on_meta(const TensorImpl& t) { return boolean(t.device.is_meta()); }
Object read_inference(const TensorImpl& t) { return boolean(t.is_inference()); }
Object read_false(const TensorImpl&) { return boolean(false); }
Object read_none(const TensorImpl&) { return Object::share(Py_None); }
Object read_floating(const TensorImpl& t) { return boolean(is_floating(t.dtype)); }
Object read_complex(const TensorImpl& t) { return boolean(is_complex(t.dtype)); }
Object read_signed(const TensorImpl& t) { return boolean(is_signed(t.dtype)); }
Object read_type_name(const TensorImpl& t) {
  return owned(
      PyUnicode_FromFormat("torch.%s%sTensor", t.device.is_meta() ? "meta." : "", scalar_type_name(t.dtype).data()));
}

/// One row of the attribute and method tables below: the name under which observers know it, and how it is read.
struct Fact {
  const char* name;
  Reader read;
};
constexpr Fact kShape{"shape", read_shape}, kDtype{"dtype", read_dtype}, kRank{"ndim", read_rank},
    kNumel{"numel", read_numel}, kDevice{"device", read_device}, kLayout{"layout", read_layout},
    kItemsize{"itemsize", read_itemsize}, kNbytes{"nbytes", read_nbytes}, kFalse{"is_cuda", read_false},
    kOnCpu{"is_cpu", read_on_cpu}, kOnMeta{"is_meta", read_on_meta}, kInference{"is_inference", read_inference},
    kNone{"name", read_none}, kFloating{"is_floating_point", read_floating},
    kComplexNumbers{"is_complex", read_complex}, kSigned{"is_signed", read_signed},
    kOffset{"storage_offset", read_offset};

template <const Fact& F>
Object getter(PyObject* self, void*) {
  return told(self, F.name, F.read(*impl_of(self)));
}
template <const Fact& F>
Object reader(PyObject* self, PyObject*) {
  return told(self, F.name, F.read(*impl_of(self)));
}

/// size() and stride(): everything, or one dimension.
Object dimensions(PyObject* self, const Dims& dims, const char* name, PyObject* const* args, Py_ssize_t count,
                  PyObject* names, PyObject* (*all)(std::span<const int64_t>)) {
  check_arguments(name, count, names, 1, "dim");
  Borrowed which = count > 0 ? args[0] : names ? args[0] : nullptr;
  if (!which || which == Py_None) return told(self, name, owned(all(dims)));
  int64_t dim = 0;
  if (!to_int(which, dim))
    raise(PyExc_TypeError, "%s(): argument 'dim' (position 1) must be int, not %s", name, Py_TYPE(which)->tp_name);
  check_kind(!dims.empty(), ErrorKind::IndexError, "Dimension specified as {} but tensor has no dimensions", dim);
  dim = wrap_dim(dim, dims.size());
  return told(self, name, integer(dims[static_cast<size_t>(dim)]), dim);
}
Object size(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return dimensions(self, impl_of(self)->sizes, "size", args, count, names, make_size);
}
Object stride(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return dimensions(self, impl_of(self)->strides, "stride", args, count, names, make_tuple);
}

Object is_contiguous(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (count > 0) raise(PyExc_TypeError, "is_contiguous() takes 0 positional arguments but %zd was given", count);
  const auto format = memory_format_from(keyword(args, count, names, "memory_format"), "is_contiguous");
  if (!format) return told(self, "is_contiguous", boolean(impl_of(self)->is_contiguous()));
  return told(self, "memory_format", boolean(is_contiguous_in(*impl_of(self), *format)));
}

Object version(PyObject* self, void*) {
  const TensorImpl& t = *impl_of(self);
  check(!t.is_inference(), "Inference tensors do not track version counter.");
  return told(self, "_version", integer(t.storage ? t.storage->version() : 0));
}

/// From now on somebody outside may read and write the bytes at any time.
Object data_ptr(PyObject* self, PyObject*) {
  TensorImpl& t = *impl_of(self);
  check_has_memory(t);
  if (t.storage) t.storage->mark_exported();
  return opaque(self, "data_ptr", owned(PyLong_FromVoidPtr(t.numel ? t.data() : nullptr)));
}
Object storage_ptr(PyObject* self, PyObject*) {
  TensorImpl& t = *impl_of(self);
  check_has_memory(t);
  return opaque(self, "data_ptr", owned(PyLong_FromVoidPtr(t.storage ? t.storage->data() : nullptr)));
}
Object storage_bytes(PyObject* self, PyObject*) {
  return opaque(self, "storage", integer(static_cast<int64_t>(impl_of(self)->storage->bytes())));
}

Object is_same_size(PyObject* self, PyObject* other) {
  if (!is_tensor(other)) raise(PyExc_TypeError, "is_same_size(): argument 'other' must be Tensor");
  Object same = boolean(impl_of(self)->sizes == impl_of(other)->sizes);
  return told(self, "is_same_size", told(other, "is_same_size", std::move(same)));
}
Object is_set_to(PyObject* self, PyObject* other) {
  if (!is_tensor(other)) raise(PyExc_TypeError, "is_set_to(): argument 'tensor' must be Tensor");
  const TensorImpl &a = *impl_of(self), &b = *impl_of(other);
  const bool same = a.storage == b.storage && a.offset == b.offset && a.sizes == b.sizes && a.strides == b.strides;
  return told(self, "is_set_to", told(other, "is_set_to", boolean(same)));
}
Object type_name(PyObject* self, PyObject*) { return read_type_name(*impl_of(self)); }

}  // namespace

PyGetSetDef metadata_getters[] = {
    {"shape", entry<getter<kShape>>, nullptr, "The sizes of the dimensions.", nullptr},
    {"dtype", entry<getter<kDtype>>, nullptr, "The type of the elements.", nullptr},
    {"ndim", entry<getter<kRank>>, nullptr, "The number of dimensions.", nullptr},
    {"device", entry<getter<kDevice>>, nullptr, "Where the memory is.", nullptr},
    {"layout", entry<getter<kLayout>>, nullptr, "torch.strided, of all but sparse tensors.", nullptr},
    {"itemsize", entry<getter<kItemsize>>, nullptr, "Bytes of one element.", nullptr},
    {"nbytes", entry<getter<kNbytes>>, nullptr, "Bytes of all elements.", nullptr},
    {"is_cuda", entry<getter<kFalse>>, nullptr, "False: there is no CUDA in this build.", nullptr},
    {"is_xpu", entry<getter<kFalse>>, nullptr, nullptr, nullptr},
    {"is_mps", entry<getter<kFalse>>, nullptr, nullptr, nullptr},
    {"is_meta", entry<getter<kOnMeta>>, nullptr, "True of a tensor of the meta device, without elements.", nullptr},
    {"is_sparse", entry<getter<kFalse>>, nullptr, nullptr, nullptr},
    {"is_sparse_csr", entry<getter<kFalse>>, nullptr, nullptr, nullptr},
    {"is_quantized", entry<getter<kFalse>>, nullptr, nullptr, nullptr},
    {"is_nested", entry<getter<kFalse>>, nullptr, nullptr, nullptr},
    {"is_mkldnn", entry<getter<kFalse>>, nullptr, nullptr, nullptr},
    {"is_cpu", entry<getter<kOnCpu>>, nullptr, "True of a tensor of the CPU.", nullptr},
    {"name", entry<getter<kNone>>, nullptr, nullptr, nullptr},
    {"_version", entry<version>, nullptr, "How often the memory was written in place.", nullptr},
    {}};

PyMethodDef metadata_methods[] = {
    {"size", method<size>(), METH_FASTCALL | METH_KEYWORDS, "size(dim=None): the sizes, or one of them."},
    {"stride", method<stride>(), METH_FASTCALL | METH_KEYWORDS, "stride(dim=None): steps in elements."},
    {"dim", method<reader<kRank>>(), METH_NOARGS, "The number of dimensions."},
    {"ndimension", method<reader<kRank>>(), METH_NOARGS, "The number of dimensions."},
    {"numel", method<reader<kNumel>>(), METH_NOARGS, "The number of elements."},
    {"nelement", method<reader<kNumel>>(), METH_NOARGS, "The number of elements."},
    {"element_size", method<reader<kItemsize>>(), METH_NOARGS, "Bytes of one element."},
    {"storage_offset", method<reader<kOffset>>(), METH_NOARGS, "Elements from the start of the memory."},
    {"is_floating_point", method<reader<kFloating>>(), METH_NOARGS, "True for floating dtypes."},
    {"is_complex", method<reader<kComplexNumbers>>(), METH_NOARGS, "True for complex dtypes."},
    {"is_signed", method<reader<kSigned>>(), METH_NOARGS, "True where there are negative values."},
    {"is_conj", method<reader<kFalse>>(), METH_NOARGS, nullptr},
    {"is_neg", method<reader<kFalse>>(), METH_NOARGS, nullptr},
    {"is_shared", method<reader<kFalse>>(), METH_NOARGS, "False: no memory is shared between processes."},
    {"is_pinned", method<reader<kFalse>>(), METH_NOARGS, nullptr},
    {"is_inference", method<reader<kInference>>(), METH_NOARGS, "True for what was made in inference mode."},
    {"is_contiguous", method<is_contiguous>(), METH_FASTCALL | METH_KEYWORDS, "True for row-major order without gaps."},
    {"data_ptr", method<data_ptr>(), METH_NOARGS, "The address of the first element."},
    {"_storage_ptr", method<storage_ptr>(), METH_NOARGS, "The address of the memory."},
    {"_storage_bytes", method<storage_bytes>(), METH_NOARGS, "The size of the memory."},
    {"is_same_size", method<is_same_size>(), METH_O, "True when the shapes are equal."},
    {"is_set_to", method<is_set_to>(), METH_O, "True when both are the same view of the same memory."},
    {"_type_name", method<type_name>(), METH_NOARGS, "\"torch.FloatTensor\""},
    {}};

}  // namespace terra::hooks
