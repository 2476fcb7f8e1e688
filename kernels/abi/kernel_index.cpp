#include "kernels/abi/kernel_index.h"

#include <stdexcept>
#include <string>

namespace terra {

namespace {

template <class F>
void fill_slot(F& slot, F value, std::string_view op) {
  if (value == nullptr) return;
  if (slot != nullptr) throw std::logic_error("kernel of " + std::string(op) + " defined twice");
  slot = value;
}

}  // namespace

KernelIndex::KernelIndex(std::span<const KernelFamily> families) {
  for (KernelFamily family : families) {
    for (const Kernel& entry : family()) {
      auto [at, fresh] = kernels_.try_emplace(entry.op, entry);
      if (fresh) continue;
      Kernel& merged = at->second;
      fill_slot(merged.run, entry.run, entry.op);
      fill_slot(merged.workspace, entry.workspace, entry.op);
      merged.any_strides |= entry.any_strides;
      for (int t = 0; t < kDTypeCount; ++t) fill_slot(merged.loops[t], entry.loops[t], entry.op);
    }
  }
}

const Kernel* KernelIndex::find(std::string_view op) const {
  const auto at = kernels_.find(op);
  return at == kernels_.end() ? nullptr : &at->second;
}

}  // namespace terra
