// What a product with a matrix means that is given by its entries.
#include "kernels/reference/access.h"
#include "kernels/reference/families.h"

namespace terra::reference {
namespace {

/// An entry's place, or the failure that it lies outside.
int64_t place(const View& places, int64_t entry, int64_t dim, int64_t size) {
  const int64_t i = nth<int64_t>(places, entry);
  if (i < 0 || i >= size)
    throw KernelError(KernelError::Kind::Index, "index " + std::to_string(i) + " is out of bounds for dimension " +
                                                    std::to_string(dim) + " with size " + std::to_string(size));
  return i;
}

/// (rows, columns, values, dense, size)
void coo_mm(const KernelCall& call) {
  const View &values = call.view(2), &dense = call.view(3), &out = call.out[0];
  with_real_or_complex(out.dtype, [&]<class T>(T) {
    for (int64_t i = 0; i < out.numel(); ++i) nth<T>(out, i) = T{};
    for (int64_t e = 0; e < values.numel(); ++e) {
      const int64_t row = place(call.view(0), e, 0, out.sizes[0]), column = place(call.view(1), e, 1, dense.sizes[0]);
      for (int64_t k = 0; k < out.sizes[1]; ++k)
        at<T>(out, {row, k}) = static_cast<T>(at<T>(out, {row, k}) + nth<T>(values, e) * at<T>(dense, {column, k}));
    }
  });
}

constexpr Kernel kKernels[] = {{.op = "coo_mm", .run = coo_mm}};

}  // namespace

std::span<const Kernel> sparse_kernels() { return kKernels; }

}  // namespace terra::reference
