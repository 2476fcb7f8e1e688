// A recording holds tensors so that it knows them again. What is in those that the program has let go of, nobody asks.
#include "interpreter_hooks/bindings/tensor_object.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/trace_builder.h"

#include "engine/memory/allocator.h"
#include "engine/tensor/epoch.h"
#include "graph/executor/plan.h"

namespace terra::capture {

namespace {

/// Tensors are looked through whenever they have come to so many times the least that is worth it more.
constexpr uint64_t growth = 16;

/// What the recording has of a tensor.
struct Holds {
  PyObject* object = nullptr;
  Py_ssize_t objects = 0;  ///< references to the object
  uint32_t tensors = 0;    ///< to the tensor itself
};

bool has_weak_references(PyObject* object) {
  if (!PyType_SUPPORTS_WEAKREFS(Py_TYPE(object))) return false;
  return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) + Py_TYPE(object)->tp_weaklistoffset) != nullptr;
}

/// Nothing of the program leads to the tensor. The tape may have its memory, until a pass has used it.
bool is_forgotten(const TensorImpl& tensor, const Holds& holds) {
  const Storage* storage = tensor.storage.get();
  if (!storage || storage->bytes() < graph::lent_bytes() || storage->exported()) return false;
  if (tensor.use_count() != holds.tensors + (holds.object ? 1 : 0)) return false;
  if (!holds.object) return tensor.owner == nullptr;
  return Py_REFCNT(holds.object) == holds.objects && !has_weak_references(holds.object);
}

}  // namespace

/// Else a recorded step has the gradients of the step before and all that its frames have computed on top of what
/// plain execution has.
void TraceBuilder::shed_memory() {
  if (!r_.alive()) return;
  std::unordered_map<TensorImpl*, Holds> tensors;
  r_.held().each([&](PyObject* object, Py_ssize_t times) {
    if (is_plain_tensor(object)) tensors[tensor_of(object)] = {object, times, 0};
  });
  for (const auto& [leaf, gradient] : first_gradients_)
    if (gradient.defined()) ++tensors[gradient.get()].tensors;
  for (const auto& [tensor, holds] : tensors) {
    if (!is_forgotten(*tensor, holds)) continue;
    // Another storage may come to be where this one was.
    const Storage* storage = tensor->storage.get();
    if (storage->use_count() > 1 && (storages_.contains(storage) || written_.contains(storage))) continue;
    storages_.erase(storage);
    written_.erase(storage);
    become(*tensor, Storage::allocate(0), *tensor);
  }
  bytes_after_shedding_ = memory::statistics().live_bytes;
}

void TraceBuilder::shed_what_has_grown() {
  const uint64_t now = memory::statistics().live_bytes;
  if (bytes_after_shedding_ == 0) bytes_after_shedding_ = now;
  if (now > bytes_after_shedding_ + growth * graph::lent_bytes()) shed_memory();
}

}  // namespace terra::capture
