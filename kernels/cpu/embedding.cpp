// The gradient of an embedding: rows of the incoming gradient are summed by index.
#include <algorithm>

#include "kernels/abi/dtype_dispatch.h"
#include "kernels/abi/parallel.h"
#include "kernels/cpu/copy.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/indirect.h"
#include "kernels/cpu/iteration.h"

namespace terra::cpu {

namespace {

/// Rows of the result that one thread owns.
constexpr int64_t kRowsPerGrain = 256;

/// embedding_backward(grad, indices, num_weights, padding_idx): out[w] = sum of grad rows whose index is w, in their
/// order; the row padding_idx stays zero. Each thread owns a range of rows of the result and reads all the indices, so
/// sums are the same for any number of threads.
void embedding_backward(const KernelCall& call) {
  const View& out = call.out[0];
  const View& grad = call.view(0);
  const int64_t n = call.view(1).numel(), rows = out.sizes[0], width = out.sizes[1];
  const int64_t padding = call.integer(3);
  fill_elements(out, Scalar(0));
  if (n == 0 || out.numel() == 0) return;
  const auto indices = read_indices(call.view(1));
  check_indices(indices.get(), n, {0, rows, false, KernelError::Kind::Index, out_of_range_in_self});

  std::unique_ptr<char[]> packed;
  const char* source = grad.bytes();
  if (!grad.is_contiguous()) {
    packed = std::make_unique_for_overwrite<char[]>(static_cast<size_t>(grad.numel()) * size_of(grad.dtype));
    source = packed.get();
    int64_t strides[kMaxViewRank];
    for (int64_t d = grad.rank - 1, step = 1; d >= 0; --d) {
      strides[d] = step;
      step *= grad.sizes[d];
    }
    copy_elements(View{packed.get(), grad.sizes, strides, grad.rank, grad.dtype}, grad);
  }
  const int64_t small = 32 << 10;
  with_real_or_complex(out.dtype, [&]<class T>(T) {
    const T* from = reinterpret_cast<const T*>(source);
    T* const to = out.as<T>();
    parallel_for(rows, n * width < small ? rows : std::max(kRowsPerGrain, rows / 16), [&](int64_t begin, int64_t end) {
      for (int64_t i = 0; i < n; ++i) {
        const int64_t row = indices[i];
        if (row < begin || row >= end || row == padding) continue;
        T* sum = to + row * width;
        const T* x = from + i * width;
        for (int64_t k = 0; k < width; ++k) sum[k] = static_cast<T>(sum[k] + x[k]);
      }
    });
  });
}

constexpr Kernel kKernels[] = {{.op = "embedding_backward", .run = embedding_backward}};

}  // namespace

std::span<const Kernel> embedding_kernels() { return kKernels; }

}  // namespace terra::cpu
