// Bytes that somebody may compute from again: whoever writes them leaves a copy of what was there.
#pragma once
#include <atomic>
#include <vector>

#include "engine/tensor/storage.h"

namespace terra {

/// What storages held when they were given to it, whatever is written to them since. Belongs to the thread that holds
/// the interpreter's lock.
class KeptBytes {
 public:
  KeptBytes() = default;
  ~KeptBytes() { let_go(); }
  KeptBytes(const KeptBytes&) = delete;

  /// From here on. A storage whose bytes are still to be made isn't kept.
  void keep(const Ref<Storage>& storage);
  /// A copy of what it held. Null: it isn't kept, or nobody has told of a write (before_write).
  Ref<Storage> copy_of(const Storage& storage) const;
  void let_go();

 private:
  friend void leave_copies(const Storage& storage);

  struct Kept {
    Ref<Storage> storage;
    Ref<Storage> copy;  ///< once written
  };
  std::vector<Kept> kept_;
};

/// How many are kept that nobody has written. Use before_write.
inline constinit std::atomic<size_t> bytes_kept = 0;
void leave_copies(const Storage& storage);
/// Whether a write would have to leave a copy.
bool is_kept(const Storage& storage);

/// To be called by whoever is about to write the bytes. What is done beside the host program was put off before they
/// were kept.
inline void before_write(const Storage& storage) {
  storage.settle();  // those that read them now may keep them
  if (bytes_kept.load(std::memory_order_relaxed) > 0 && !beside_host) [[unlikely]]
    leave_copies(storage);
}

}  // namespace terra
