// The arguments of one kernel call, resolved once: views and attributes in memory of their own.
#pragma once
#include <memory>
#include <vector>

#include "graph/executor/plan.h"
#include "kernels/abi/kernel.h"

namespace terra::graph {

/// A kernel call ready to run once its views have addresses. Not movable: views point into it.
struct KernelBlock {
  const Kernel* kernel = nullptr;
  KernelCall call;
  std::vector<View> outs;
  std::vector<KernelArg> args;
  std::vector<View> views;  ///< of the tensors among the arguments

  /// One per view that needs an address, or scalar attribute that is read at run time.
  struct Address {
    View* view;
    int32_t buffer;
    int64_t offset;
  };
  struct Number {
    KernelArg* arg;
    ValueId scalar;
  };
  std::vector<Address> addresses;
  std::vector<Number> numbers;
};

/// For an op node that isn't elementwise. Sizes, strides and lists point into the plan, which must stay where it is.
std::unique_ptr<KernelBlock> make_kernel_block(const Plan& plan, const Node& node);
/// For a copy step: `clone` to a contiguous place, `copy` to a strided one.
std::unique_ptr<KernelBlock> make_copy_block(const Plan& plan, const Step& step);

/// Throws InternalError if there is no kernel.
const Kernel& kernel_for(std::string_view op, Device device);

/// The kernel argument of an attribute; lists and strings are borrowed from it.
KernelArg kernel_argument(const NodeArg& attribute);

}  // namespace terra::graph
