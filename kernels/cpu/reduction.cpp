// Kernels that fold elements along dimensions: sum, prod, amax, amin, any, all, and sums of some function.
#include <memory>
#include <string>

#include "kernels/abi/exact_mode.h"
#include "kernels/abi/kernel_error.h"
#include "kernels/cpu/copy.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/halves.h"
#include "kernels/cpu/iteration.h"
#include "kernels/cpu/reducer.h"
#include "kernels/cpu/subview.h"

namespace terra::cpu {

namespace {

/// The dimensions named by an argument that is absent, a number, or a list; absent and empty mean all of them.
uint64_t dims_mask(const KernelCall& call, int arg, int rank) {
  uint64_t mask = 0;
  if (call.args.size() > static_cast<size_t>(arg)) {
    if (call.args[arg].kind == KernelArg::Kind::Scalar) mask |= uint64_t{1} << wrapped(call.integer(arg), rank);
    if (call.args[arg].kind == KernelArg::Kind::IntList) {
      for (int64_t dim : call.ints(arg)) mask |= uint64_t{1} << wrapped(dim, rank);
    }
  }
  return mask != 0 ? mask : ~uint64_t{0};
}

/// The elements of a view side by side, in some dtype.
class Converted {
 public:
  Converted(const View& in, DType dtype)
      : bytes_(std::make_unique_for_overwrite<char[]>(static_cast<size_t>(in.numel()) * size_of(dtype))),
        view_{bytes_.get(), in.sizes, strides_, in.rank, dtype} {
    for (int64_t d = in.rank - 1, step = 1; d >= 0; step *= in.sizes[d--]) strides_[d] = step;
    convert_elements(view_, in);
  }
  const View& view() const { return view_; }

 private:
  std::unique_ptr<char[]> bytes_;
  int64_t strides_[kMaxViewRank];
  View view_;
};

/// In exact mode elements are added in an order that doesn't follow from how they lie in memory: a graph may have laid
/// them out otherwise.
bool folds_as_it_lies(const View& in) { return in.is_contiguous() || !exact_mode(); }

/// Floats of 16 bits are folded as f32, and the results rounded.
void fold_halves(Fold fold, const View& out, const View& in, uint64_t dims) {
  const auto floats = std::make_unique_for_overwrite<float[]>(static_cast<size_t>(out.numel()));
  const View between{floats.get(), out.sizes, out.strides, out.rank, DType::F32};
  const Reducer& reducer = *reducer_of(fold, DType::F32);
  if (folds_as_it_lies(in))
    reduce(reducer, between, in, dims);
  else
    reduce(reducer, between, Converted(in, DType::F32).view(), dims);
  convert_elements(out, between);
}

/// fold(self, dim, ...). Where the result's dtype is not the fold's own, elements are converted to it first.
template <Fold kFold>
void fold(const KernelCall& call) {
  View out = call.out[0];
  if ((kFold == Fold::Any || kFold == Fold::All) && out.dtype == DType::U8) out.dtype = DType::Bool;
  const View& in = call.view(0);
  const uint64_t dims = dims_mask(call, 1, in.rank);
  if (in.dtype == out.dtype && half_loops_of(in.dtype) != nullptr) return fold_halves(kFold, out, in, dims);
  const Reducer* reducer = reducer_of(kFold, in.dtype);
  DType dtype = in.dtype;
  if (reducer == nullptr || reducer->result != out.dtype) reducer = reducer_of(kFold, dtype = out.dtype);
  if (reducer == nullptr || reducer->result != out.dtype) {
    throw KernelError(KernelError::Kind::Runtime, "reduction from " + std::string(name_of(in.dtype)) + " to " +
                                                      std::string(name_of(out.dtype)) + " is not supported");
  }
  if (dtype == in.dtype && folds_as_it_lies(in)) return reduce(*reducer, out, in, dims);
  reduce(*reducer, out, Converted(in, dtype).view(), dims);
}

constexpr Kernel kKernels[] = {
    {.op = "sum", .run = fold<Fold::Sum>},
    {.op = "prod", .run = fold<Fold::Prod>},
    {.op = "amax", .run = fold<Fold::Max>},
    {.op = "amin", .run = fold<Fold::Min>},
    {.op = "any", .run = fold<Fold::Any>},
    {.op = "all", .run = fold<Fold::All>},
    {.op = "sum_of_squares", .run = fold<Fold::Squares>},
    {.op = "sum_of_numbers", .run = fold<Fold::Numbers>},
};

}  // namespace

std::span<const Kernel> reduction_kernels() { return kKernels; }

}  // namespace terra::cpu
