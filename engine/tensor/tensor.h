// The tensor: a strided view of a storage, or a symbol of a graph under construction.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "engine/tensor/dims.h"
#include "engine/tensor/storage.h"
#include "kernels/abi/dtype.h"
#include "kernels/abi/view.h"

namespace terra {

class TensorImpl;

/// What the tape knows of a tensor; defined in engine/autograd. Absent on most tensors.
struct AutogradMeta {
  virtual ~AutogradMeta() = default;
  /// Of a view: whether gradients flow into its base by now, and so into it.
  virtual bool learn_from_base(const TensorImpl& view) = 0;
  bool is_view = false;
};

/// What a tensor stands for while a graph is built (defined by the emitter that made it); such a tensor has no storage.
struct Symbol {
  virtual ~Symbol() = default;
  /// Another handle of the same graph value, for a tensor that aliases this one.
  virtual std::unique_ptr<Symbol> clone() const = 0;
  /// Counts writes to what the symbol stands for, as Storage::version does.
  virtual uint32_t version() const { return 0; }
  /// True iff no other tensor stands for (a view of) the same symbolic memory.
  virtual bool is_sole() const { return true; }
};

/// The host language's one object for a tensor. The engine only keeps the pointer. When the last reference goes to a
/// tensor that keeps its object alive, `release_owner` gives the tensor to the object, which lets go of it in its time.
struct OwnerHooks {
  void (*release_owner)(void* owner) = nullptr;
};
OwnerHooks& owner_hooks();

/// dtype and sizes: what a shape rule computes; the device is that of the operands. `wrapped` marks a Python number
/// (see TensorImpl::wrapped_number).
struct TensorMeta {
  DType dtype = DType::F32;
  Dims sizes;
  bool wrapped = false;
  Device device = {};
};

/// A strong reference to a TensorImpl; the type that ops take and return. Null when default-constructed.
class Tensor : public Ref<TensorImpl> {
 public:
  using Ref::Ref;
  Tensor(Ref<TensorImpl> ref) : Ref(std::move(ref)) {}

  bool defined() const { return get() != nullptr; }
  DType dtype() const;
  Device device() const;
  const Dims& sizes() const;
  const Dims& strides() const;
  /// Throws Error for a dimension that the tensor doesn't have.
  int64_t size(int64_t dim) const;
  size_t rank() const;
  int64_t numel() const;
  bool requires_grad() const;
  bool is_contiguous() const;

  /// A fresh contiguous tensor with uninitialised elements.
  static Tensor empty(std::span<const int64_t> sizes, DType dtype, Device device = {});
  /// Another view of the same storage; offset counts elements. Throws Error if it would reach beyond the storage.
  static Tensor view_of(Ref<Storage> storage, DType dtype, Dims sizes, Dims strides, int64_t offset);
  /// Another tensor with the same elements (same storage or graph value), without gradient history.
  Tensor alias() const;
  /// A tensor without storage, for an emitter that builds a graph.
  static Tensor symbolic(TensorMeta meta, std::unique_ptr<Symbol> symbol);
};

/// Tensors that the caller of a function keeps alive until it returns: a count costs as much as a small kernel.
using LentTensors = std::span<TensorImpl* const>;

/// A number that no tensor had before.
uint64_t new_tensor_serial();

/// Layout (in order of use on the fast path): counts and flags, storage and offset, shape, then the rare parts.
class TensorImpl final : public Counted {
 public:
  static void destroy(TensorImpl* impl);

  DType dtype = DType::F32;
  /// Gradients flow into this tensor, as far as it knows: asked for on a leaf, inherited from an input otherwise. A
  /// view whose base was written through another one doesn't know yet: ask requires_grad().
  bool wants_grad = false;
  /// True iff the tensor stands for a Python number, so that it takes part in dtype promotion by category only.
  bool wrapped_number = false;
  /// True iff this tensor keeps its owner object alive (see `owner`).
  bool keeps_owner = false;
  /// Of a symbolic tensor: it stands for an inference tensor. Others ask their storage.
  bool symbol_is_inference = false;
  /// Marks of those who make tensors of another kind than strided ones: kSparseBit (sparse.h).
  uint8_t binding_bits = 0;
  Device device;  ///< of its storage

  /// Of this tensor as it is now: no other has or had it, and note_changed (epoch.h) gives it another one.
  uint64_t serial = new_tensor_serial();
  Ref<Storage> storage;
  int64_t offset = 0;  ///< elements from the start of the storage
  int64_t numel = 0;
  Dims sizes;
  Dims strides;

  /// The one host object of this tensor, or null. Borrowed, unless keeps_owner: then the host's references are gone and
  /// this tensor owns the object, to hand it out again when the tensor next reaches the host.
  void* owner = nullptr;
  std::unique_ptr<AutogradMeta> autograd;
  std::unique_ptr<Symbol> symbol;

  bool requires_grad() const {
    return wants_grad || (autograd && autograd->is_view && autograd->learn_from_base(*this));
  }
  bool is_symbolic() const { return symbol != nullptr; }
  bool is_inference() const { return storage ? storage->is_inference() : symbol_is_inference; }
  /// Counts in-place writes to the elements through any view.
  uint32_t version() const { return storage ? storage->version() : symbol->version(); }
  void* data() const { return static_cast<char*>(storage->data()) + offset * static_cast<int64_t>(size_of(dtype)); }
  template <class T>
  T* data_as() const {
    return static_cast<T*>(data());
  }
  View view() const { return {data(), sizes.data(), strides.data(), static_cast<int32_t>(sizes.size()), dtype}; }
  bool is_contiguous() const;
};

/// Each thread takes numbers from a block of its own.
inline uint64_t new_tensor_serial() {
  constexpr uint64_t block = 1 << 12;
  static constinit std::atomic<uint64_t> first_free{1};
  thread_local constinit uint64_t next = 0, end = 0;
  if (next == end) [[unlikely]] {
    next = first_free.fetch_add(block, std::memory_order_relaxed);
    end = next + block;
  }
  return next++;
}

inline DType Tensor::dtype() const { return get()->dtype; }
inline Device Tensor::device() const { return get()->device; }
inline const Dims& Tensor::sizes() const { return get()->sizes; }
inline const Dims& Tensor::strides() const { return get()->strides; }
inline size_t Tensor::rank() const { return get()->sizes.size(); }
inline int64_t Tensor::numel() const { return get()->numel; }
inline bool Tensor::requires_grad() const { return get()->requires_grad(); }
inline bool Tensor::is_contiguous() const { return get()->is_contiguous(); }

/// Pointers to tensors that stay where they are.
inline std::vector<TensorImpl*> lend(std::span<const Tensor> tensors) {
  std::vector<TensorImpl*> lent;
  lent.reserve(tensors.size());
  for (const Tensor& t : tensors) lent.push_back(t.get());
  return lent;
}
/// A strong reference to a lent tensor.
inline Tensor kept(TensorImpl* lent) { return Tensor(Ref<TensorImpl>(lent)); }

/// "float32 [2, 3]", as messages name a tensor.
std::string describe(const Tensor& t);

}  // namespace terra
