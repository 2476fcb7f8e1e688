// The entries of one code object, found by what a call looks like.
#pragma once
#include "interpreter_hooks/entry/entry.h"

#include <array>
#include <memory>
#include <vector>

namespace terra::capture {

/// At most this many entries of one code object.
constexpr size_t most_entries = 64;

/// What a call looks like, cheaply: types, dtypes and shapes of tensors, identity of `self`, of the closure, of None
/// and booleans. Numbers and strings count by type only. Calls with the same key are likely, but not sure, to be served
/// by the same entry.
uint64_t call_key(PyObject* const* arguments, PyFunctionObject* function);

/// Owns entries, most recently added or found by search first. A small direct-mapped cache remembers which entry served
/// a key last, so that a hit costs the guards of one entry. The cache is a hint: an entry that it doesn't name is found
/// by trying all.
class EntryTable {
 public:
  using Entries = std::vector<std::shared_ptr<Entry>>;

  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  Entries::const_iterator begin() const { return entries_.begin(); }
  Entries::const_iterator end() const { return entries_.end(); }
  const std::shared_ptr<Entry>& operator[](size_t i) const { return entries_[i]; }

  /// The entry to try first; the table is not empty.
  const std::shared_ptr<Entry>& likely(uint64_t key) const;
  /// `entry` served a call with this key.
  void served(uint64_t key, const std::shared_ptr<Entry>& entry);

  /// Room for one more, at need by dropping the one that has waited longest for its first hit. False: all have served.
  bool make_room();
  bool has_room() const;
  void add(std::shared_ptr<Entry> entry);
  // Entries that go are destroyed when nobody runs them and the table is whole again: destructors of the program may
  // run then, and come back to it.
  template <class F>
  size_t remove_if(F unwanted) {
    forget_keys();
    Entries gone;
    std::erase_if(entries_, [&](const std::shared_ptr<Entry>& entry) {
      if (!unwanted(*entry)) return false;
      gone.push_back(entry);
      return true;
    });
    return gone.size();
  }
  void clear();

 private:
  struct Served {
    uint64_t key = 0;
    const Entry* entry = nullptr;
    size_t index = 0;  ///< where it was; checked before use
  };
  static constexpr size_t slots = 64;

  void forget_keys() { served_.reset(); }
  Entries::const_iterator longest_waiting() const;

  Entries entries_;
  std::unique_ptr<std::array<Served, slots>> served_;  // made when there is more than one entry
};

}  // namespace terra::capture
