// A block of bytes that tensors view.
#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>

#include "engine/device/device.h"
#include "engine/memory/intrusive.h"
#include "engine/tensor/deferral.h"

namespace terra {

namespace detail {
inline constinit thread_local bool inference_mode = false;
}
/// Whether what this thread makes are inference tensors: no gradient leads to them, and nobody counts writes to them.
inline bool inference_mode() { return detail::inference_mode; }

/// Owned by the tensors that view it. The version counts in-place writes by any of them: a tape node that saved a view
/// compares it before use. All fields belong to the thread that holds the interpreter's lock, or to the one runner
/// that a run was handed to.
class Storage final : public Counted {
 public:
  /// Uninitialised bytes from the device's allocator.
  static Ref<Storage> allocate(size_t bytes, Device device = {});
  /// Bytes that somebody else owns: `release(context)` is called when the last view goes.
  static Ref<Storage> wrap(void* data, size_t bytes, void (*release)(void*), void* context, Device device = {});
  /// The bytes of another storage, which it keeps alive, with a version of its own: what x.data views.
  static Ref<Storage> apart(const Ref<Storage>& original);
  /// A new storage with the same bytes.
  static Ref<Storage> copied(const Storage& original);
  /// Bytes that `by` is going to make.
  static Ref<Storage> deferred(size_t bytes, Deferral& by, uint32_t ticket);
  static void destroy(Storage* storage);

  /// An address on the device, which means nothing to the host unless that is the CPU.
  void* data() const {
    settle();
    return data_;
  }
  /// The same for those who wait by other means for work that has been put off. Null: nobody has made the bytes yet.
  void* address() const { return data_; }
  Device device() const { return device_; }
  size_t bytes() const { return bytes_; }

  /// Work that has been put off and concerns the bytes, or null.
  Deferral* deferral() const { return bytes_of_->deferral_; }
  /// What the storage is to that work, which knows what the number means.
  uint32_t ticket() const { return bytes_of_->ticket_; }
  void settle() const {
    if (bytes_of_->deferral_) [[unlikely]]
      bytes_of_->deferral_->settle();
  }
  /// Until it is done, `by` is going to read the bytes. Null: it has, or has made them.
  void defer_to(Deferral* by, uint32_t ticket) {
    bytes_of_->deferral_ = by;
    bytes_of_->ticket_ = ticket;
  }
  /// The bytes of a deferred storage, which are those of another one, from byte `from` on.
  void deliver(Ref<Storage> bytes, size_t from = 0);
  /// Nobody will make the bytes of a deferred storage: whoever asks for them gets this error, each time.
  void fail(std::exception_ptr error);

  uint32_t version() const { return version_; }
  void bump_version() {
    ++version_;
    note_write();
  }

  /// Grows with every write to the bytes, those included that another storage of the same bytes (`apart`) counts as its
  /// own. While it is unchanged, nobody but those whom the bytes are exported to has written.
  uint32_t writes() const { return bytes_of_->writes_; }
  /// A write that changes no version.
  void note_write() { ++bytes_of_->writes_; }

  /// Made in inference mode: outside of it nobody may write the bytes, or save them for a gradient.
  bool is_inference() const { return inference_; }
  void mark_inference(bool yes) { inference_ = yes; }

  /// True iff something outside the engine (numpy, DLPack, data_ptr) may read or write the bytes at any time.
  bool exported() const { return exported_; }
  void mark_exported() { exported_ = true; }
  /// True iff no tensor may go on to view a larger copy instead: numpy shows the bytes, or somebody else owns them.
  bool fixed() const { return fixed_; }
  void mark_fixed() { exported_ = fixed_ = true; }

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
  void (*release_)(void*) = nullptr;  // null: the bytes are the allocator's
  void* context_ = nullptr;
  uint32_t version_ = 0;
  uint32_t writes_ = 0;
  Deferral* deferral_ = nullptr;
  Storage* bytes_of_ = this;  // of an `apart` one: the storage that has the bytes
  uint32_t ticket_ = 0;
  bool exported_ = false;
  Device device_;
  bool fixed_ = false;
  bool inference_ = detail::inference_mode;
};

}  // namespace terra
