// Kernels that fold elements along dimensions: sum, prod, amax, amin, any, all, and sums of some function.
#include <memory>
#include <string>

#include "kernels/abi/exact_mode.h"
#include "kernels/abi/kernel_error.h"
#include "kernels/cpu/copy.h"
#include "kernels/cpu/families.h"
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

/// fold(self, dim, ...). Where the result's dtype is not the fold's own, elements are converted to it first. In exact
/// mode they are added in an order that doesn't follow from how they lie in memory: a graph may have laid them out
/// otherwise.
template <Fold kFold>
void fold(const KernelCall& call) {
  View out = call.out[0];
  if ((kFold == Fold::Any || kFold == Fold::All) && out.dtype == DType::U8) out.dtype = DType::Bool;
  const View& in = call.view(0);
  const uint64_t dims = dims_mask(call, 1, in.rank);
  const Reducer* reducer = reducer_of(kFold, in.dtype);
  DType dtype = in.dtype;
  if (reducer == nullptr || reducer->result != out.dtype) reducer = reducer_of(kFold, dtype = out.dtype);
  if (reducer == nullptr || reducer->result != out.dtype) {
    throw KernelError(KernelError::Kind::Runtime, "reduction from " + std::string(name_of(in.dtype)) + " to " +
                                                      std::string(name_of(out.dtype)) + " is not supported");
  }
  const bool as_it_is = dtype == in.dtype && (in.is_contiguous() || !exact_mode());
  if (as_it_is) return reduce(*reducer, out, in, dims);
  const auto bytes = std::make_unique<char[]>(static_cast<size_t>(in.numel()) * size_of(dtype));
  int64_t strides[kMaxViewRank];
  int64_t step = 1;
  for (int d = in.rank - 1; d >= 0; --d) {
    strides[d] = step;
    step *= in.sizes[d];
  }
  const View converted{bytes.get(), in.sizes, strides, in.rank, dtype};
  convert_elements(converted, in);
  reduce(*reducer, out, converted, dims);
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
