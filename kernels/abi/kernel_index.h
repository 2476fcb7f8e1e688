// A table of kernels, searched by op name.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>
#include <unordered_map>

#include "kernels/abi/kernel.h"

namespace terra {

/// Families are listed rather than registered by static initialisers, which a linker drops from static libraries.
using KernelFamily = std::span<const Kernel> (*)();

/// Kernels of several families under one roof. Entries of one op from different families are merged: each fills the
/// slots it has (say, the loops of some dtypes); a slot filled twice is a bug and throws std::logic_error.
class KernelIndex {
 public:
  explicit KernelIndex(std::span<const KernelFamily> families);
  const Kernel* find(std::string_view op) const;
  /// Every op of the index, in no particular order.
  const std::unordered_map<std::string_view, Kernel>& all() const { return kernels_; }

 private:
  std::unordered_map<std::string_view, Kernel> kernels_;  // nodes: addresses of kernels stay
};

/// The indices behind find_kernel and find_reference_kernel.
const KernelIndex& cpu_kernels();
const KernelIndex& reference_kernels();

}  // namespace terra
