#include "interpreter_hooks/frame_hook/entry_table.h"

#include "interpreter_hooks/guards/scalars.h"
#include "interpreter_hooks/guards/tensors.h"

#include <algorithm>

namespace terra::capture {

namespace {

constexpr uint64_t factor = 0x9E3779B97F4A7C15;

uint64_t mix(uint64_t hash, uint64_t word) { return ((hash << 23 | hash >> 41) ^ word) * factor; }

uint64_t look_of(PyObject* object, bool identity) {
  if (is_tensor(object)) {
    const TensorImpl& tensor = *tensor_of(object);
    uint64_t hash = mix(static_cast<uint64_t>(tensor.dtype) * 2 + tensor.requires_grad(), word_of(Py_TYPE(object)));
    for (int64_t size : tensor.sizes) hash = mix(hash, static_cast<uint64_t>(size));
    return hash;
  }
  const bool constant = object == Py_None || PyBool_Check(object);
  return constant || (identity && !is_atom(object)) ? word_of(object) : word_of(Py_TYPE(object));
}

}  // namespace

uint64_t call_key(PyObject* const* arguments, PyFunctionObject* function) {
  auto* code = reinterpret_cast<PyCodeObject*>(function->func_code);
  const int count = code->co_argcount + code->co_kwonlyargcount;
  uint64_t hash = mix(0, word_of(function->func_closure));
  for (int i = 0; i < count; i++) {
    if (arguments[i]) hash = mix(hash, look_of(arguments[i], i == 0));
  }
  return hash;
}

const std::shared_ptr<Entry>& EntryTable::likely(uint64_t key) const {
  if (!served_) return entries_.front();
  const Served& slot = (*served_)[key >> 58];
  const bool there = slot.key == key && slot.index < entries_.size() && entries_[slot.index].get() == slot.entry;
  return there ? entries_[slot.index] : entries_.front();
}

void EntryTable::served(uint64_t key, const std::shared_ptr<Entry>& entry) {
  if (entries_.size() < 2) return;
  const auto place = std::find(entries_.begin(), entries_.end(), entry);
  if (place == entries_.end()) return;
  if (!served_) served_ = std::make_unique<std::array<Served, slots>>();
  (*served_)[key >> 58] = {key, entry.get(), static_cast<size_t>(place - entries_.begin())};
}

EntryTable::Entries::const_iterator EntryTable::longest_waiting() const {
  const auto last =
      std::find_if(entries_.rbegin(), entries_.rend(), [](const auto& entry) { return entry->hits == 0; });
  return last == entries_.rend() ? entries_.end() : std::prev(last.base());
}

bool EntryTable::has_room() const { return entries_.size() < most_entries || longest_waiting() != entries_.end(); }

bool EntryTable::make_room() {
  if (entries_.size() < most_entries) return true;
  const auto unused = longest_waiting();
  if (unused == entries_.end()) return false;
  forget_keys();
  const std::shared_ptr<Entry> gone = *unused;
  entries_.erase(unused);
  return true;
}

void EntryTable::add(std::shared_ptr<Entry> entry) {
  forget_keys();
  entries_.insert(entries_.begin(), std::move(entry));
}

void EntryTable::clear() {
  forget_keys();
  Entries dropped = std::move(entries_);
  entries_.clear();
}

}  // namespace terra::capture
