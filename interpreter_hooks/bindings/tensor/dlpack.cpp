// Memory shared with other array libraries by DLPack: a capsule that holds a pointer, a shape and who lets go of it.
#include <algorithm>
#include <type_traits>

#include "engine/errors/errors.h"
#include "engine/ops/convert.h"
#include "engine/tensor/sparse.h"
#include "interpreter_hooks/bindings/calls/function_tables.h"
#include "interpreter_hooks/bindings/calls/observer.h"
#include "interpreter_hooks/bindings/interpreter_lock.h"
#include "interpreter_hooks/bindings/tensor/construction.h"
#include "interpreter_hooks/bindings/tensor/tensor_object.h"
#include "interpreter_hooks/bindings/tensor/tensor_parts.h"

namespace terra::hooks {
namespace {

// ---- the structures of DLPack 1.0, as its specification lays them out -----------------------------------------------
enum DeviceType : int32_t { kCpu = 1 };
enum ElementKind : uint8_t { kSigned = 0, kUnsigned = 1, kFloat = 2, kBfloat = 4, kComplexNumber = 5, kBoolean = 6 };

struct Element {
  uint8_t kind, bits;
  uint16_t lanes;
};
struct Array {
  void* data;
  int32_t device_type, device_id;
  int32_t rank;
  Element element;
  int64_t* sizes;
  int64_t* strides;  // in elements; null: row-major
  uint64_t byte_offset;
};
/// What a capsule named "dltensor" holds.
struct Managed {
  Array array;
  void* context;
  void (*release)(Managed*);
};
/// What one named "dltensor_versioned" holds.
struct VersionedManaged {
  uint32_t major, minor;
  void* context;
  void (*release)(VersionedManaged*);
  uint64_t flags;
  Array array;
};
constexpr uint64_t kIsCopied = 2;

struct Row {
  DType dtype;
  Element element;
};
constexpr Row kElements[] = {{DType::Bool, {kBoolean, 8, 1}},       {DType::U8, {kUnsigned, 8, 1}},
                             {DType::I8, {kSigned, 8, 1}},          {DType::I16, {kSigned, 16, 1}},
                             {DType::I32, {kSigned, 32, 1}},        {DType::I64, {kSigned, 64, 1}},
                             {DType::U16, {kUnsigned, 16, 1}},      {DType::U32, {kUnsigned, 32, 1}},
                             {DType::U64, {kUnsigned, 64, 1}},      {DType::F16, {kFloat, 16, 1}},
                             {DType::BF16, {kBfloat, 16, 1}},       {DType::F32, {kFloat, 32, 1}},
                             {DType::F64, {kFloat, 64, 1}},         {DType::C32, {kComplexNumber, 32, 1}},
                             {DType::C64, {kComplexNumber, 64, 1}}, {DType::C128, {kComplexNumber, 128, 1}}};

// ---- from a tensor --------------------------------------------------------------------------------------------------
/// A tensor that somebody else holds through M, until it calls M's release; its sizes lie beside it.
template <class M>
struct Lent {
  M managed;
  Tensor tensor;
};

template <class M>
M* lend(Tensor tensor) {
  const auto row = std::find_if(std::begin(kElements), std::end(kElements),
                                [&tensor](const Row& r) { return r.dtype == tensor.dtype(); });
  if (row == std::end(kElements))
    raise(PyExc_BufferError, "%s type is not supported by dlpack: convert the tensor first.",
          std::string(scalar_type_name(tensor.dtype())).c_str());
  auto* lent = new Lent<M>{{}, std::move(tensor)};
  TensorImpl& t = *lent->tensor;
  lent->managed.array = {.data = t.numel ? t.data() : t.storage->data(),
                         .device_type = kCpu,
                         .device_id = 0,
                         .rank = static_cast<int32_t>(t.sizes.size()),
                         .element = row->element,
                         .sizes = t.sizes.begin(),
                         .strides = t.strides.begin(),
                         .byte_offset = 0};
  lent->managed.context = lent;
  lent->managed.release = [](M* managed) {
    const InterpreterLock lock;
    delete static_cast<Lent<M>*>(managed->context);
  };
  return &lent->managed;
}
template <class M>
constexpr const char* kName = std::is_same_v<M, Managed> ? "dltensor" : "dltensor_versioned";

/// The capsule of a tensor. Whoever takes the tensor out of it renames it; else it lets go of the tensor.
template <class M>
Object capsule_of(M* managed) {
  return owned(PyCapsule_New(managed, kName<M>, [](PyObject* capsule) {
    if (!PyCapsule_IsValid(capsule, kName<M>)) return;
    auto* held = static_cast<M*>(PyCapsule_GetPointer(capsule, kName<M>));
    held->release(held);
  }));
}

Object dlpack(PyObject* self, PyObject* args, PyObject* kwargs) {
  static const char* names[] = {"stream", "max_version", "dl_device", "copy", nullptr};
  PyObject *stream = Py_None, *version = Py_None, *device = Py_None, *copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO:__dlpack__", const_cast<char**>(names), &stream, &version,
                                   &device, &copy))
    throw PythonError{};
  TensorImpl& t = *impl_of(self);
  if (t.requires_grad()) raise(PyExc_BufferError, "Can't export tensors that require gradient, use tensor.detach()");
  if (!t.device.is_cpu()) raise(PyExc_BufferError, "Can't export memory of %s", to_string(t.device).c_str());
  check_has_memory(t);
  report_opaque("__dlpack__()", self);
  Tensor lent = copy == Py_True ? ops::clone(alias_of(t)) : alias_of(t);
  lent->storage->mark_exported();
  long major = 0;
  if (version != Py_None) {
    Object number = owned(PySequence_GetItem(version, 0));
    major = PyLong_AsLong(number.get());
    if (major == -1 && PyErr_Occurred()) throw PythonError{};
  }
  if (major < 1) return capsule_of(lend<Managed>(std::move(lent)));
  auto* managed = lend<VersionedManaged>(std::move(lent));
  managed->major = 1;
  managed->minor = 0;
  managed->flags = copy == Py_True ? kIsCopied : 0;
  return capsule_of(managed);
}
// ---- to a tensor ----------------------------------------------------------------------------------------------------
/// A tensor over the memory of a capsule, which is taken out of it.
template <class M>
Object taken(PyObject* capsule, const char* used_name) {
  auto* managed = static_cast<M*>(PyCapsule_GetPointer(capsule, kName<M>));
  if (!managed) throw PythonError{};
  const Array& a = managed->array;
  check_kind(a.device_type == kCpu, ErrorKind::ValueError,
             "from_dlpack: memory of device type {} is not here: Terra has CPU memory only", a.device_type);
  const auto row = std::find_if(std::begin(kElements), std::end(kElements), [&](const Row& r) {
    return r.element.kind == a.element.kind && r.element.bits == a.element.bits && a.element.lanes == 1;
  });
  if (row == std::end(kElements))
    raise(PyExc_BufferError, "from_dlpack: elements of kind %d with %d bits and %d lanes have no dtype here",
          a.element.kind, a.element.bits, a.element.lanes);
  Dims sizes, strides;
  for (int32_t d = 0; d < a.rank; ++d) sizes.push_back(a.sizes[d]);
  strides = contiguous_strides(sizes);
  int64_t extent = 1;
  for (int32_t d = 0; d < a.rank; ++d) {
    if (a.strides) strides[d] = a.strides[d];
    check_kind(strides[d] >= 0 || sizes[d] <= 1, ErrorKind::ValueError,
               "from_dlpack: negative strides are not supported");
    if (sizes[d] > 0) extent += (sizes[d] - 1) * strides[d];
  }
  const size_t bytes = checked_numel(sizes) == 0 ? 0 : static_cast<size_t>(extent) * size_of(row->dtype);
  const auto release = [](void* context) {
    auto* held = static_cast<M*>(context);
    if (!held->release) return;
    if (const InterpreterLock lock; lock) held->release(held);
  };
  Ref<Storage> storage = Storage::wrap(static_cast<char*>(a.data) + a.byte_offset, bytes, release, managed);
  storage->mark_fixed();
  if (PyCapsule_SetName(capsule, used_name) < 0) throw PythonError{};
  Object tensor =
      Object::steal(wrap(Tensor::view_of(std::move(storage), row->dtype, std::move(sizes), std::move(strides), 0)));
  report_opaque("from_dlpack()", tensor.get());
  return tensor;
}

Object take_dlpack(PyObject*, PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, kName<Managed>)) return taken<Managed>(capsule, "used_dltensor");
  if (PyCapsule_IsValid(capsule, kName<VersionedManaged>))
    return taken<VersionedManaged>(capsule, "used_dltensor_versioned");
  fail(ErrorKind::RuntimeError,
       "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so you might "
       "have already constructed a tensor from it once.");
}

}  // namespace

PyMethodDef dlpack_methods[] = {
    {"__dlpack__", method<dlpack>(), METH_VARARGS | METH_KEYWORDS, "A capsule that shares this tensor's memory."}, {}};

PyMethodDef dlpack_functions[] = {
    {"_take_dlpack", method<take_dlpack>(), METH_O, "A tensor that shares the memory of a DLPack capsule."}, {}};

}  // namespace terra::hooks
