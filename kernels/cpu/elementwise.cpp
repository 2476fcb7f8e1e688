#include "kernels/cpu/elementwise.h"

#include "kernels/abi/kernel_error.h"
#include "kernels/abi/parallel.h"
#include "kernels/cpu/iteration.h"

namespace terra::cpu {

namespace {

/// Ranges of a split loop begin at multiples of this many elements, so that threads don't share output cache lines.
constexpr int64_t kSplitUnit = 64;

bool same_sizes(const View& a, const View& b) {
  if (a.rank != b.rank) return false;
  for (int d = 0; d < a.rank; ++d) {
    if (a.sizes[d] != b.sizes[d]) return false;
  }
  return true;
}

/// Fills data and strides and returns true iff the whole call is one loop: a contiguous output, and inputs that are
/// contiguous in the same shape or have one element.
bool is_one_loop(const View& out, int64_t numel, std::span<const View> inputs, char** data, int64_t* strides) {
  if (!out.is_contiguous()) return false;
  data[0] = out.bytes();
  strides[0] = static_cast<int64_t>(size_of(out.dtype));
  for (size_t p = 0; p < inputs.size(); ++p) {
    const View& input = inputs[p];
    data[p + 1] = input.bytes();
    if (same_sizes(input, out) && input.is_contiguous()) {
      strides[p + 1] = static_cast<int64_t>(size_of(input.dtype));
    } else if (input.numel() == 1) {
      strides[p + 1] = 0;
    } else {
      return false;
    }
  }
  return numel > 0;
}

int64_t grain_of(const Kernel& kernel) {
  return (grain_for_cost(kernel.cost) + kSplitUnit - 1) / kSplitUnit * kSplitUnit;
}

}  // namespace

ElementwiseLoop loop_of(const Kernel& kernel, DType dtype) {
  const ElementwiseLoop loop = kernel.loops[static_cast<int>(dtype)];
  if (loop == nullptr) throw_not_implemented(dtype);
  return loop;
}

void run_elementwise(const Kernel& kernel, const View& out, std::span<const View> inputs, const KernelArg* params) {
  const ElementwiseLoop loop = loop_of(kernel, loop_dtype(inputs));
  const int64_t numel = out.numel();
  if (numel == 0) return;

  char* data[kMaxOperands];
  int64_t strides[kMaxOperands];
  if (is_one_loop(out, numel, inputs, data, strides)) {
    parallel_for(numel, grain_of(kernel), [&](int64_t begin, int64_t end) {
      char* at[kMaxOperands];
      for (size_t p = 0; p <= inputs.size(); ++p) at[p] = data[p] + begin * strides[p];
      loop(at, strides, end - begin, params);
    });
    return;
  }

  Iteration it;
  collapse(out, inputs, it);
  for (int p = 0; p < it.operands; ++p) strides[p] = it.strides[p][it.rank - 1];
  parallel_for(numel, grain_of(kernel), [&](int64_t begin, int64_t end) {
    for_rows(it, begin, end, [&](char* const* at, int64_t n) { loop(at, strides, n, params); });
  });
}

}  // namespace terra::cpu
