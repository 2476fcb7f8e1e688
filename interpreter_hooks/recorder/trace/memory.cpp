// A recording holds tensors so that it knows them again. What is in those that the program has let go of, nobody asks.
#include "interpreter_hooks/bindings/tensor/tensor_object.h"
#include "interpreter_hooks/guards/tensors.h"
#include "interpreter_hooks/recorder/trace/builder.h"

#include "engine/autograd/meta.h"
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

bool is_plain_container(PyObject* object) {
  return PyTuple_CheckExact(object) || PyList_CheckExact(object) || PyDict_CheckExact(object);
}

int count_item(PyObject* item, void* items) {
  static_cast<std::vector<PyObject*>*>(items)->push_back(item);
  return 0;
}

/// By object: the references to it that are the recording's. What only the recording leads to holds for it:
///
///     q, k, v = qkv.unbind(0)   # nobody but the recording has the tuple any more
std::unordered_map<PyObject*, Py_ssize_t> references_of(const HeldObjects& held) {
  std::unordered_map<PyObject*, Py_ssize_t> references;
  std::vector<PyObject*> containers, items;
  held.each([&](PyObject* object, Py_ssize_t times) {
    references[object] = times;
    if (is_plain_container(object)) containers.push_back(object);
  });
  std::unordered_set<PyObject*> passed;
  while (!containers.empty()) {
    PyObject* const container = containers.back();
    containers.pop_back();
    if (Py_REFCNT(container) != references[container] || !passed.insert(container).second) continue;
    items.clear();
    Py_TYPE(container)->tp_traverse(container, count_item, &items);
    for (PyObject* item : items) {
      ++references[item];
      if (is_plain_container(item)) containers.push_back(item);
    }
  }
  return references;
}

/// Nothing of the program leads to the tensor. The tape may have its memory, until a pass has used it.
bool is_forgotten(const TensorImpl& tensor, const Holds& holds) {
  const Storage* storage = tensor.storage.get();
  if (!storage || storage->bytes() < graph::lent_bytes() || storage->exported()) return false;
  if (tensor.use_count() != holds.tensors + (holds.object ? 1 : 0)) return false;
  if (!holds.object) return tensor.owner == nullptr;
  return Py_REFCNT(holds.object) == holds.objects && !has_weak_references(holds.object);
}

using ByStorage = std::unordered_map<const Storage*, std::vector<TensorImpl*>>;

/// The forgotten ones.
ByStorage forgotten(const std::unordered_map<TensorImpl*, Holds>& tensors) {
  ByStorage found;
  for (const auto& [tensor, holds] : tensors)
    if (is_forgotten(*tensor, holds)) found[tensor->storage.get()].push_back(tensor);
  return found;
}

/// A view that nobody asks is no reason to keep what it was derived from:
///
///     logits = head(h)
///     loss = cross_entropy(logits.view(-1, V), y)   # what .view made has `logits` as its base
void forget_bases(const ByStorage& found) {
  for (const auto& [storage, views] : found)
    for (TensorImpl* view : views) {
      autograd::Meta* meta = autograd::find_meta(Tensor(view));
      if (!meta || !meta->base.defined()) continue;
      view->requires_grad();  // learns what the base knows
      meta->is_view = false;
      meta->base = Tensor();
    }
}

}  // namespace

/// Else a recorded step has the gradients of the step before and all that its frames have computed on top of what
/// plain execution has.
void TraceBuilder::shed_memory() {
  if (!r_.alive()) return;
  std::unordered_map<TensorImpl*, Holds> tensors;
  for (const auto& [object, times] : references_of(r_.held()))
    if (is_plain_tensor(object)) tensors[tensor_of(object)] = {object, times, 0};
  for (const auto& [leaf, gradient] : first_gradients_)
    if (gradient.defined()) ++tensors[gradient.get()].tensors;
  forget_bases(forgotten(tensors));
  for (const auto& [storage, views] : forgotten(tensors)) {  // the bases are forgotten now, too
    // Another storage may come to be where this one was.
    if (storage->use_count() > views.size() && (storages_.contains(storage) || written_.contains(storage))) continue;
    storages_.erase(storage);
    written_.erase(storage);
    for (TensorImpl* tensor : views) become(*tensor, Storage::allocate(0), *tensor);
  }
  bytes_after_shedding_ = memory::statistics().live_bytes;
}

void TraceBuilder::shed_what_has_grown() {
  const uint64_t now = memory::statistics().live_bytes;
  if (bytes_after_shedding_ == 0) bytes_after_shedding_ = now;
  if (now > bytes_after_shedding_ + growth * graph::lent_bytes()) shed_memory();
}

}  // namespace terra::capture
