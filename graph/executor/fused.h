// Elementwise chains as groups that a backend fuses.
#pragma once
#include <memory>
#include <vector>

#include "graph/executor/plan.h"
#include "kernels/abi/fused.h"

namespace terra::graph {

/// One elementwise op or chain, bound to memory once its operands have addresses. Not movable.
class FusedBlock {
 public:
  FusedBlock(const Plan& plan, const Node& node);
  FusedBlock(const FusedBlock&) = delete;

  /// What needs an address: a slot's data, at buffer and byte offset.
  struct Address {
    void** data;
    int32_t buffer;
    int64_t offset;
  };
  std::vector<Address> addresses;
  /// Scalar values that steps read as attributes or operands.
  struct Number {
    KernelArg* arg;
    ValueId scalar;
  };
  std::vector<Number> numbers;

  void run() const { kernel_->launch(); }

 private:
  struct Constant {
    alignas(8) char bytes[kMaxElementSize];
  };

  uint32_t add_external(const Plan& plan, const Place& place, const Dims& space, bool output);
  void add_step(const Graph& g, const Node& n, Device device, const std::vector<uint32_t>& slot_of_value, uint32_t out);
  uint32_t constant_slot(const Scalar& s, DType dtype);
  void collapse(const Dims& space);

  FusedGroup group_;
  std::unique_ptr<FusedKernel> kernel_;
  std::vector<std::unique_ptr<Constant>> constants_;
  std::vector<std::pair<uint32_t, Place>> strided_;  ///< slots and their places, until collapsed
};

}  // namespace terra::graph
