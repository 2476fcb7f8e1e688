#include "kernels/reference/elementwise.h"

#include "kernels/abi/kernel_error.h"
#include "kernels/reference/index.h"

namespace terra::reference {

namespace {

/// Address of the element of `v` that broadcasts to place `index` of a shape of rank `rank`.
char* address(const View& v, const int64_t* index, int rank) {
  int64_t offset = 0;
  for (int d = 0; d < v.rank; ++d) {
    if (v.sizes[d] != 1) offset += index[d + rank - v.rank] * v.strides[d];
  }
  return v.bytes() + offset * static_cast<int64_t>(size_of(v.dtype));
}

}  // namespace

void run_elementwise(const Kernel& kernel, const View& out, std::span<const View> inputs, const KernelArg* params) {
  const ElementwiseLoop loop = kernel.loops[static_cast<int>(inputs.back().dtype)];
  if (loop == nullptr) throw_not_implemented(inputs.back().dtype);
  const int64_t no_strides[8] = {};
  for_each_index(out, [&](const int64_t* index) {
    char* data[8] = {address(out, index, out.rank)};
    for (size_t p = 0; p < inputs.size(); ++p) data[p + 1] = address(inputs[p], index, out.rank);
    loop(data, no_strides, 1, params);
  });
}

}  // namespace terra::reference
