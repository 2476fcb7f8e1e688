#include "engine/tensor/kept_bytes.h"

#include <algorithm>

namespace terra {

void BytesKeeper::start_keeping() {
  if (std::exchange(keeps_, true)) return;
  next_ = first_keeper.load(std::memory_order_relaxed);
  if (next_) next_->previous_ = this;
  first_keeper.store(this, std::memory_order_relaxed);
}

void BytesKeeper::stop_keeping() {
  if (!std::exchange(keeps_, false)) return;
  if (next_) next_->previous_ = previous_;
  if (previous_)
    previous_->next_ = next_;
  else
    first_keeper.store(next_, std::memory_order_relaxed);
  next_ = previous_ = nullptr;
  keeper_generation += first_keeper.load(std::memory_order_relaxed) == nullptr;
}

void KeptBytes::keep(const Ref<Storage>& storage) {
  if (!storage->address() || storage->bytes() == 0) return;
  kept_.push_back({storage, {}});
  mark(*storage);
  start_keeping();
}

Ref<Storage> KeptBytes::copy_of(const Storage& storage) const {
  const auto is_it = [&](const Kept& k) { return k.storage->address() == storage.address(); };
  const auto at = std::find_if(kept_.begin(), kept_.end(), is_it);
  return at != kept_.end() ? at->copy : Ref<Storage>();
}

void KeptBytes::let_go() {
  stop_keeping();
  kept_.clear();
}

bool KeptBytes::needs(const Storage& storage) const {
  return std::any_of(kept_.begin(), kept_.end(),
                     [&](const Kept& k) { return !k.copy && k.storage->address() == storage.address(); });
}

void KeptBytes::take(const Storage& storage, const Ref<Storage>& copy) {
  for (Kept& k : kept_)
    if (!k.copy && k.storage->address() == storage.address()) k.copy = copy;
}

bool is_kept(const Storage& storage) {
  if (!may_be_kept(storage)) return false;
  for (const BytesKeeper* k = first_keeper.load(std::memory_order_relaxed); k; k = k->next_)
    if (k->needs(storage)) return true;
  return false;
}

void leave_copies(const Storage& storage) {
  Ref<Storage> copy;
  for (BytesKeeper* k = first_keeper.load(std::memory_order_relaxed); k; k = k->next_) {
    if (!k->needs(storage)) continue;
    if (!copy) copy = Storage::copied(storage);
    k->take(storage, copy);
  }
}

}  // namespace terra
