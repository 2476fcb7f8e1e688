// A fused group: elementwise ops over one iteration space, whose values in between need no memory of a tensor.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "kernels/abi/kernel.h"

namespace terra {

/// Operands of one elementwise op, the output included.
inline constexpr uint32_t kMaxFusedOperands = 8;

/// What is to be computed, and where. Addresses and numbers may change between launches, nothing else.
struct FusedGroup {
  /// Where a step finds or puts one of its operands.
  struct Slot {
    enum class Kind : uint8_t {
      Contiguous,  ///< an element for each index, behind each other
      One,         ///< a single element
      Number,      ///< a single element in the host's memory, which a launch reads before it returns
      Strided,     ///< anything else
      Between,     ///< made by one step for later ones: memory is the backend's affair
    };
    Kind kind = Kind::Between;
    DType dtype = DType::F32;
    void* data = nullptr;            ///< but for Between
    std::vector<int64_t> strides{};  ///< Strided: in bytes, one for each of `sizes`; an input
  };
  struct Step {
    const Kernel* kernel = nullptr;
    DType dtype = DType::F32;          ///< which of the kernel's loops
    std::vector<uint32_t> operands{};  ///< slots: of the output, then of the inputs
    std::vector<KernelArg> params{};   ///< the op's attributes, aligned with its signature
  };

  int64_t numel = 0;
  std::vector<int64_t> sizes{};  ///< of the iteration space, as few as strided slots allow; empty where there are none
  std::vector<Slot> slots{};
  std::vector<Step> steps{};
};

/// A group as a backend has prepared it. The group has to stay where it is.
class FusedKernel {
 public:
  virtual ~FusedKernel() = default;
  /// Computes with the addresses and numbers that the group has now.
  virtual void launch() const = 0;
};

}  // namespace terra
