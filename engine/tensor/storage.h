// A block of bytes that tensors view.
#pragma once
#include <cstddef>
#include <cstdint>

#include "engine/memory/intrusive.h"

namespace terra {

/// Owned by the tensors that view it. The version counts in-place writes by any of them: a tape node that saved a view
/// compares it before use. All fields belong to the thread that holds the interpreter's lock, or to the one runner
/// that a run was handed to.
class Storage final : public Counted {
 public:
  /// Uninitialised bytes from the caching allocator.
  static Ref<Storage> allocate(size_t bytes);
  /// Bytes that somebody else owns: `release(context)` is called when the last view goes.
  static Ref<Storage> wrap(void* data, size_t bytes, void (*release)(void*), void* context);
  /// The bytes of another storage, which it keeps alive, with a version of its own: what x.data views.
  static Ref<Storage> apart(const Ref<Storage>& original);
  static void destroy(Storage* storage);

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

  uint32_t version() const { return version_; }
  void bump_version() { ++version_; }

  /// True iff something outside the engine (numpy, DLPack, data_ptr) may read or write the bytes at any time.
  bool exported() const { return exported_; }
  void mark_exported() { exported_ = true; }

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
  void (*release_)(void*) = nullptr;  // null: the bytes are the allocator's
  void* context_ = nullptr;
  uint32_t version_ = 0;
  bool exported_ = false;
};

}  // namespace terra
