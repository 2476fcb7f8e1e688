// deepcopy and pickle.
#include <cstring>

#include "engine/autograd/autograd.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/tensor/epoch.h"
#include "engine/tensor/sparse.h"
#include "engine/tensor/transfer.h"
#include "interpreter_hooks/bindings/calls/dispatch.h"
#include "interpreter_hooks/bindings/calls/function_tables.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/objects/dtype_object.h"
#include "interpreter_hooks/bindings/objects/size_object.h"
#include "interpreter_hooks/bindings/tensor/construction.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"
#include "interpreter_hooks/bindings/tensor/tensor_parts.h"

namespace terra::hooks {
namespace {

/// Carries a copied storage through deepcopy's memo, so that views of one storage stay views of one.
void release_storage(PyObject* capsule) {
  Ref<Storage>::adopt(static_cast<Storage*>(PyCapsule_GetPointer(capsule, "terra.storage")));
}

Ref<Storage> copied_storage(Storage* storage, Borrowed memo) {
  Object key = owned(PyLong_FromVoidPtr(storage));
  if (Borrowed known = PyDict_GetItem(memo, key.get()))
    return Ref<Storage>(static_cast<Storage*>(PyCapsule_GetPointer(known, "terra.storage")));
  Ref<Storage> copy = Storage::copied(*storage);
  Object capsule = owned(PyCapsule_New(Ref<Storage>(copy).release(), "terra.storage", release_storage));
  succeeded(PyDict_SetItem(memo, key.get(), capsule.get()));
  return copy;
}

/// Copies the attributes of the object; `deep` through copy.deepcopy.
void copy_attributes(Borrowed from, Borrowed to, Borrowed memo) {
  Borrowed dict = tensor_object(from)->dict;
  if (!dict || PyDict_GET_SIZE(dict) == 0) return;
  Object copy = owned(PyImport_ImportModule("copy"));
  Object copied = owned(PyObject_CallMethod(copy.get(), "deepcopy", "OO", dict, memo));
  succeeded(PyDict_Update(attributes_of(to).get(), copied.get()));
}

Object deepcopy(PyObject* self, PyObject* memo) {
  Object key = owned(PyLong_FromVoidPtr(self));
  if (Borrowed known = PyDict_GetItem(memo, key.get())) return Object::share(known);
  if (is_wrapper(self)) return copied_wrapper(self, memo);
  const TensorImpl& t = *impl_of(self);
  check_has_memory(t);
  check(
      autograd::is_leaf(tensor_of(self)),
      "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.  If you "
      "were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see "
      "https://github.com/pytorch/pytorch/pull/103001");
  report_opaque("deepcopy", self);
  Tensor copy = Tensor::view_of(copied_storage(t.storage.get(), memo), t.dtype, t.sizes, t.strides, t.offset);
  set_wants_grad(*copy, t.requires_grad());
  Object result = Object::steal(wrap_as(Py_TYPE(self), copy));
  succeeded(PyDict_SetItem(memo, key.get(), result.get()));
  copy_attributes(self, result.get(), memo);
  const bool is_parameter = PyType_IsSubtype(Py_TYPE(self), parameter_type);  // the copy of one has no gradient yet
  if (const Tensor gradient = autograd::grad(tensor_of(self)); gradient.defined() && !is_parameter) {
    Object object = Object::steal(wrap(gradient));
    // The memo knows objects by address: this one has to live as long as the memo.
    Object module = owned(PyImport_ImportModule("copy"));
    owned(PyObject_CallMethod(module.get(), "_keep_alive", "OO", object.get(), memo));
    const Object copied = owned(PyObject_CallMethod(module.get(), "deepcopy", "OO", object.get(), memo));
    if (!is_tensor(copied.get())) raise(PyExc_TypeError, "the copy of a gradient is a tensor");
    autograd::set_grad(copy, tensor_of(copied.get()));
  }
  return result;
}

/// The elements as a tensor on the host that has no gaps, its dimensions in memory in the same order where they lie so.
Tensor without_gaps(const TensorImpl& t) {
  const GradMode off(false);
  static const Op* clone = find_op("clone");
  const Tensor here = to_host(alias_of(t));
  return here.is_contiguous() ? here : (*clone)(here, "preserve_format");
}

Object reduce(PyObject* self, PyObject*) {
  report_opaque("pickle", self);
  if (is_wrapper(self)) return reduced_wrapper(self);
  const TensorImpl& t = *impl_of(self);
  Object module = owned(PyImport_ImportModule("_terra_C"));
  Object rebuild = owned(PyObject_GetAttrString(module.get(), "_rebuild_tensor"));
  Borrowed dict = tensor_object(self)->dict;
  Object attributes = dict && PyDict_GET_SIZE(dict) > 0 ? owned(PyDict_Copy(dict)) : Object::share(Py_None);
  Object bytes = Object::share(Py_None), strides = Object::share(Py_None);
  if (!t.device.is_meta()) {
    const Tensor dense = without_gaps(t);
    bytes = owned(PyBytes_FromStringAndSize(static_cast<const char*>(dense.numel() ? dense->data() : ""),
                                            static_cast<Py_ssize_t>(dense.numel() * size_of(dense.dtype()))));
    if (!dense.is_contiguous()) strides = Object::steal(make_tuple(dense->strides));
  }
  return owned(Py_BuildValue("N(OONNON)N", rebuild.release(), Py_TYPE(self), dtype_object(t.dtype), make_tuple(t.sizes),
                             bytes.release(), t.requires_grad() ? Py_True : Py_False, strides.release(),
                             attributes.release()));
}

Dims dims_of(PyObject* tuple) {
  Dims dims;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); ++i) {
    dims.push_back(PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, i)));
    if (dims.back() == -1 && PyErr_Occurred()) throw PythonError{};
  }
  return dims;
}

/// Whether all elements of a tensor that is not empty lie within the first `numel` of its memory.
bool lies_within(const Dims& sizes, const Dims& strides, int64_t numel) {
  int64_t left = numel - 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (strides[d] < 0 || (strides[d] > 0 && sizes[d] - 1 > left / strides[d])) return false;
    left -= (sizes[d] - 1) * strides[d];
  }
  return true;
}

Object rebuild_tensor(PyObject*, PyObject* args) {
  PyObject *type, *dtype, *sizes, *bytes, *requires_grad, *strides = Py_None;
  if (!PyArg_ParseTuple(args, "O!OO!OO|O:_rebuild_tensor", &PyType_Type, &type, &dtype, &PyTuple_Type, &sizes, &bytes,
                        &requires_grad, &strides))
    throw PythonError{};
  const auto element = dtype_from(dtype);
  const bool on_meta = bytes == Py_None;
  check_kind(
      element.has_value() && PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type), tensor_type) &&
          (on_meta || PyBytes_Check(bytes)) &&
          (strides == Py_None || (PyTuple_Check(strides) && PyTuple_GET_SIZE(strides) == PyTuple_GET_SIZE(sizes))),
      ErrorKind::TypeError, "_rebuild_tensor() takes a tensor type, a dtype, sizes, bytes and strides");
  const Dims shape = dims_of(sizes);
  Tensor tensor = Tensor::empty(shape, *element, on_meta ? kMetaDevice : Device());
  if (!on_meta) {
    const auto wanted = static_cast<Py_ssize_t>(tensor.numel() * size_of(*element));
    check_kind(PyBytes_GET_SIZE(bytes) == wanted, ErrorKind::ValueError, "a tensor of {} needs {} bytes, not {}",
               describe(tensor), wanted, PyBytes_GET_SIZE(bytes));
    if (wanted) std::memcpy(tensor->data(), PyBytes_AS_STRING(bytes), static_cast<size_t>(wanted));
  }
  if (strides != Py_None) {
    const Dims steps = dims_of(strides);
    check(tensor.numel() == 0 || lies_within(shape, steps, tensor.numel()),
          "the strides of a pickled {} lead out of its elements", describe(tensor));
    tensor = Tensor::view_of(tensor->storage, *element, shape, steps, 0);
  }
  if (succeeded(PyObject_IsTrue(requires_grad))) autograd::make_require_grad(tensor);
  return Object::steal(wrap_as(reinterpret_cast<PyTypeObject*>(type), std::move(tensor)));
}

}  // namespace

PyMethodDef copying_methods[] = {
    {"__deepcopy__", method<deepcopy>(), METH_O, nullptr}, {"__reduce_ex__", method<reduce>(), METH_O, nullptr}, {}};
PyMethodDef copying_functions[] = {{"_rebuild_tensor", method<rebuild_tensor>(), METH_VARARGS, nullptr}, {}};

}  // namespace terra::hooks
