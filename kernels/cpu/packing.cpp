#include "kernels/cpu/packing.h"

#include <algorithm>
#include <complex>
#include <cstring>

#include "kernels/abi/parallel.h"

namespace terra::cpu {
namespace {

constexpr int kMaxRank = 64;
/// Side of the blocks in which a transposition goes through the cache.
constexpr int64_t kTile = 32;

/// The view with axes of size 1 dropped and neighbours that lie as one merged.
struct Axes {
  int rank = 0;
  int64_t sizes[kMaxRank];
  int64_t strides[kMaxRank];

  explicit Axes(const View& view) {
    for (int i = 0; i < view.rank; ++i) {
      if (view.sizes[i] == 1) continue;
      if (rank > 0 && strides[rank - 1] == view.sizes[i] * view.strides[i]) {
        sizes[rank - 1] *= view.sizes[i];
        strides[rank - 1] = view.strides[i];
      } else {
        sizes[rank] = view.sizes[i];
        strides[rank] = view.strides[i];
        ++rank;
      }
    }
    while (rank < 2) {  // at least a matrix
      std::copy_backward(sizes, sizes + rank, sizes + rank + 1);
      std::copy_backward(strides, strides + rank, strides + rank + 1);
      sizes[0] = 1;
      strides[0] = 0;
      ++rank;
    }
  }
};

template <class T>
void copy_matrix(const T* in, T* out, int64_t rows, int64_t cols, int64_t row_stride, int64_t col_stride) {
  if (col_stride == 1) {
    for (int64_t i = 0; i < rows; ++i) std::memcpy(out + i * cols, in + i * row_stride, cols * sizeof(T));
    return;
  }
  for (int64_t i0 = 0; i0 < rows; i0 += kTile) {
    const int64_t i1 = std::min(i0 + kTile, rows);
    for (int64_t j0 = 0; j0 < cols; j0 += kTile) {
      const int64_t j1 = std::min(j0 + kTile, cols);
      for (int64_t i = i0; i < i1; ++i) {
        for (int64_t j = j0; j < j1; ++j) out[i * cols + j] = in[i * row_stride + j * col_stride];
      }
    }
  }
}

/// Matrices of the last two axes, from matrix `begin` to `end` of the outer axes' product.
template <class T>
void copy_matrices(const Axes& a, const T* in, T* out, int64_t begin, int64_t end) {
  const int outer = a.rank - 2;
  const int64_t rows = a.sizes[outer], cols = a.sizes[outer + 1];
  for (int64_t matrix = begin; matrix < end; ++matrix) {
    int64_t offset = 0, rest = matrix;
    for (int axis = outer - 1; axis >= 0; --axis) {
      offset += rest % a.sizes[axis] * a.strides[axis];
      rest /= a.sizes[axis];
    }
    copy_matrix(in + offset, out + matrix * rows * cols, rows, cols, a.strides[outer], a.strides[outer + 1]);
  }
}

template <class T>
void pack_as(const View& view, T* out) {
  const Axes a(view);
  const T* in = static_cast<const T*>(view.data);
  const int outer = a.rank - 2;
  const int64_t rows = a.sizes[outer], cols = a.sizes[outer + 1];
  int64_t matrices = 1;
  for (int i = 0; i < outer; ++i) matrices *= a.sizes[i];
  const int64_t grain = grain_for_cost(4);
  if (matrices > 1) {
    parallel_for(matrices, std::max<int64_t>(1, grain / (rows * cols)),
                 [&](int64_t begin, int64_t end) { copy_matrices(a, in, out, begin, end); });
  } else {
    parallel_for(rows, std::max<int64_t>(kTile, grain / cols / kTile * kTile), [&](int64_t begin, int64_t end) {
      copy_matrix(in + begin * a.strides[outer], out + begin * cols, end - begin, cols, a.strides[outer],
                  a.strides[outer + 1]);
    });
  }
}

}  // namespace

void pack(const View& view, void* out) {
  if (view.numel() == 0) return;
  switch (size_of(view.dtype)) {
    case 1: return pack_as(view, static_cast<uint8_t*>(out));
    case 2: return pack_as(view, static_cast<uint16_t*>(out));
    case 4: return pack_as(view, static_cast<uint32_t*>(out));
    case 8: return pack_as(view, static_cast<uint64_t*>(out));
    default: return pack_as(view, static_cast<std::complex<double>*>(out));
  }
}

}  // namespace terra::cpu
