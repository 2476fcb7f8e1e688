#include "engine/tensor/kept_bytes.h"

#include <algorithm>
#include <unordered_map>

namespace terra {
namespace {

/// Who keeps bytes that nobody has written since, by their address.
std::unordered_map<const void*, std::vector<KeptBytes*>>& keepers() {
  static std::unordered_map<const void*, std::vector<KeptBytes*>> all;
  return all;
}

}  // namespace

void KeptBytes::keep(const Ref<Storage>& storage) {
  if (!storage->address() || storage->bytes() == 0) return;
  std::vector<KeptBytes*>& by = keepers()[storage->address()];
  if (!by.empty() && by.back() == this) return;
  by.push_back(this);
  bytes_kept.fetch_add(1, std::memory_order_relaxed);
  kept_.push_back({storage, {}});
}

Ref<Storage> KeptBytes::copy_of(const Storage& storage) const {
  const auto is_it = [&](const Kept& k) { return k.storage->address() == storage.address(); };
  const auto at = std::find_if(kept_.begin(), kept_.end(), is_it);
  return at != kept_.end() ? at->copy : Ref<Storage>();
}

void KeptBytes::let_go() {
  for (const Kept& k : kept_) {
    if (k.copy) continue;
    const auto at = keepers().find(k.storage->address());
    std::erase(at->second, this);
    if (at->second.empty()) keepers().erase(at);
    bytes_kept.fetch_sub(1, std::memory_order_relaxed);
  }
  kept_.clear();
}

bool is_kept(const Storage& storage) { return keepers().contains(storage.address()); }

void leave_copies(const Storage& storage) {
  const auto at = keepers().find(storage.address());
  if (at == keepers().end()) return;
  const Ref<Storage> copy = Storage::copied(storage);
  for (KeptBytes* keeper : at->second)
    for (KeptBytes::Kept& k : keeper->kept_)
      if (k.storage->address() == storage.address()) k.copy = copy;
  bytes_kept.fetch_sub(at->second.size(), std::memory_order_relaxed);
  keepers().erase(at);
}

}  // namespace terra
