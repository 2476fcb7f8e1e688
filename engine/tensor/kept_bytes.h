// Bytes that somebody may compute from again: whoever writes them leaves a copy of what was there.
#pragma once
#include <atomic>
#include <vector>

#include "engine/tensor/storage.h"

namespace terra {

/// Somebody who may, and is asked before bytes are written. Belongs to the thread that holds the interpreter's lock.
class BytesKeeper {
 public:
  BytesKeeper() = default;
  BytesKeeper(const BytesKeeper&) = delete;

 protected:
  virtual ~BytesKeeper() { stop_keeping(); }
  /// From here on. Again: nothing more.
  void start_keeping();
  void stop_keeping();
  /// It may need what is there. Writes to other bytes don't ask.
  static void mark(Storage& storage);

 private:
  friend void leave_copies(const Storage& storage);
  friend bool is_kept(const Storage& storage);

  /// Whether it needs what is there, once `storage` is written. Others may share the bytes with it (Storage::apart).
  virtual bool needs(const Storage& storage) const = 0;
  /// What was there.
  virtual void take(const Storage& storage, const Ref<Storage>& copy) = 0;

  BytesKeeper *next_ = nullptr, *previous_ = nullptr;
  bool keeps_ = false;
};

/// What storages held when they were given to it, whatever is written to them since.
class KeptBytes final : public BytesKeeper {
 public:
  /// From here on. A storage whose bytes are still to be made isn't kept.
  void keep(const Ref<Storage>& storage);
  /// A copy of what it held. Null: it isn't kept, or nobody has told of a write (before_write).
  Ref<Storage> copy_of(const Storage& storage) const;
  void let_go();

 private:
  struct Kept {
    Ref<Storage> storage;
    Ref<Storage> copy;  ///< once written
  };

  bool needs(const Storage& storage) const override;
  void take(const Storage& storage, const Ref<Storage>& copy) override;

  std::vector<Kept> kept_;
};

/// The first of all keepers. Use before_write.
inline constinit std::atomic<BytesKeeper*> first_keeper = nullptr;
/// Begins when there are none: what was marked before is marked no more.
inline constinit uint32_t keeper_generation = 1;
inline void BytesKeeper::mark(Storage& storage) { storage.keep_in(keeper_generation); }
inline bool may_be_kept(const Storage& storage) {
  return first_keeper.load(std::memory_order_relaxed) && storage.kept_in() == keeper_generation;
}
void leave_copies(const Storage& storage);
/// Whether a write would have to leave a copy.
bool is_kept(const Storage& storage);

/// To be called by whoever is about to write the bytes. What is done beside the host program was put off before they
/// were kept.
inline void before_write(const Storage& storage) {
  storage.settle();  // those that read them now may keep them
  if (may_be_kept(storage) && !beside_host) [[unlikely]]
    leave_copies(storage);
}

}  // namespace terra
