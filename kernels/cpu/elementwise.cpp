#include "kernels/cpu/elementwise.h"

#include <algorithm>

#include "kernels/abi/kernel_error.h"
#include "kernels/abi/parallel.h"
#include "kernels/cpu/halves.h"
#include "kernels/cpu/iteration.h"
#include "kernels/cpu/short_rows.h"

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

/// The loop of a kernel with operands of 16 bits that it has none for: block by block they are widened to f32 before,
/// and rounded behind. An element's value is that of three loops over whole tensors.
class WidenedLoop {
 public:
  WidenedLoop(const Kernel& kernel, const View& out, std::span<const View> inputs)
      : loop_(loop_of(kernel, DType::F32)), operands_(inputs.size() + 1), out_(half_loops_of(out.dtype)) {
    for (size_t p = 0; p < inputs.size(); ++p) inputs_[p] = half_loops_of(inputs[p].dtype);
  }

  void operator()(char* const* data, const int64_t* strides, int64_t n, const KernelArg* params) const {
    constexpr int64_t kElements = 512;
    constexpr int64_t kSize = sizeof(float);
    alignas(64) float buffers[kMaxOperands][kElements];
    for (int64_t i = 0; i < n; i += kElements) {
      const int64_t count = std::min(kElements, n - i);
      char* at[kMaxOperands];
      int64_t steps[kMaxOperands];
      for (size_t p = 0; p < operands_; ++p) {
        at[p] = data[p] + i * strides[p];
        steps[p] = strides[p];
        const HalfLoops* const half = p == 0 ? out_ : inputs_[p - 1];
        if (half == nullptr) continue;
        char* const buffer = reinterpret_cast<char*>(buffers[p]);
        char* const widening[] = {buffer, at[p]};
        const int64_t widening_steps[] = {kSize, strides[p]};
        if (p > 0) half->widen(widening, widening_steps, strides[p] == 0 ? 1 : count, nullptr);
        at[p] = buffer;
        steps[p] = p > 0 && strides[p] == 0 ? 0 : kSize;
      }
      loop_(at, steps, count, params);
      if (out_ == nullptr) continue;
      char* const narrowing[] = {data[0] + i * strides[0], at[0]};
      const int64_t narrowing_steps[] = {strides[0], kSize};
      out_->narrow(narrowing, narrowing_steps, count, nullptr);
    }
  }

 private:
  ElementwiseLoop loop_;
  size_t operands_;
  const HalfLoops* out_;
  const HalfLoops* inputs_[kMaxOperands] = {};
};

bool needs_widening(const Kernel& kernel, const View& out, std::span<const View> inputs) {
  const auto needs = [&kernel](const View& view) {
    return half_loops_of(view.dtype) != nullptr && kernel.loops[static_cast<int>(view.dtype)] == nullptr;
  };
  return std::any_of(inputs.begin(), inputs.end(), needs) && (!is_half(out.dtype) || needs(out));
}

/// Changes an innermost dimension of few elements, which cost less than to begin a loop, for a much longer one.
void lengthen_loops(Iteration& it) {
  constexpr int64_t kFew = 8;
  const int last = it.rank - 1;
  int longest = last;
  for (int d = 0; d < last; ++d)
    if (it.sizes[d] > it.sizes[longest]) longest = d;
  if (it.sizes[last] >= kFew || it.sizes[longest] < 4 * it.sizes[last]) return;
  std::swap(it.sizes[last], it.sizes[longest]);
  for (int p = 0; p < it.operands; ++p) std::swap(it.strides[p][last], it.strides[p][longest]);
}

/// Runs `loop`, an ElementwiseLoop or the like.
void run_loop(const auto& loop, int64_t grain, const View& out, std::span<const View> inputs, const KernelArg* params) {
  const int64_t numel = out.numel();
  if (numel == 0) return;

  char* data[kMaxOperands];
  int64_t strides[kMaxOperands];
  if (is_one_loop(out, numel, inputs, data, strides)) {
    parallel_for(numel, grain, [&](int64_t begin, int64_t end) {
      char* at[kMaxOperands];
      for (size_t p = 0; p <= inputs.size(); ++p) at[p] = data[p] + begin * strides[p];
      loop(at, strides, end - begin, params);
    });
    return;
  }

  Iteration it;
  collapse(out, inputs, it);
  for (int p = 0; p < it.operands; ++p)
    strides[p] = static_cast<int64_t>(size_of(p == 0 ? out.dtype : inputs[static_cast<size_t>(p) - 1].dtype));
  if (const PackedPieces pieces(it, {strides, static_cast<size_t>(it.operands)}); pieces.pays()) {
    for (int p = 0; p < it.operands; ++p) strides[p] = pieces.stride(p);
    return parallel_for(numel, grain, [&](int64_t begin, int64_t end) {
      pieces.for_pieces(begin, end, [&](char* const* at, int64_t n) { loop(at, strides, n, params); });
    });
  }
  lengthen_loops(it);
  for (int p = 0; p < it.operands; ++p) strides[p] = it.strides[p][it.rank - 1];
  parallel_for(numel, grain, [&](int64_t begin, int64_t end) {
    for_rows(it, begin, end, [&](char* const* at, int64_t n) { loop(at, strides, n, params); });
  });
}

}  // namespace

ElementwiseLoop loop_of(const Kernel& kernel, DType dtype) {
  const ElementwiseLoop loop = kernel.loops[static_cast<int>(dtype)];
  if (loop == nullptr) throw_not_implemented(dtype);
  return loop;
}

void run_elementwise(const Kernel& kernel, const View& out, std::span<const View> inputs, const KernelArg* params) {
  if (needs_widening(kernel, out, inputs)) {
    return run_loop(WidenedLoop(kernel, out, inputs), grain_of(kernel), out, inputs, params);
  }
  run_loop(loop_of(kernel, loop_dtype(inputs)), grain_of(kernel), out, inputs, params);
}

}  // namespace terra::cpu
