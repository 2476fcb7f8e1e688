// Max pooling of one plane, a row of outputs at a time: each tap of the window is one pass along the row.
#include "kernels/cpu/isa/rows.h"

namespace terra::cpu::TERRA_ISA {

namespace {

/// Outputs that are kept in registers or the first-level cache while the window's taps pass.
constexpr int64_t kBlock = 64;

/// The outputs x of [0, n) whose tap x * stride + shift lies in [0, size).
struct Range {
  int64_t begin, end;
};
Range inside(int64_t n, int64_t stride, int64_t shift, int64_t size) {
  const int64_t begin = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  const int64_t end = size <= shift ? 0 : (size - shift + stride - 1) / stride;
  return {begin < n ? begin : n, end < n ? end : n};
}

/// A later NaN wins over an earlier one, as the window is scanned in row-major order.
template <class T, int kStride>
void take_tap(T* best, int32_t* index, const T* in, int64_t stride, int32_t first, int64_t n) {
  const int64_t step = kStride > 0 ? kStride : stride;
  for (int64_t x = 0; x < n; ++x) {
    const T value = in[x * step];
    const bool wins = (value > best[x]) | (value != value);
    best[x] = wins ? value : best[x];
    index[x] = wins ? first + static_cast<int32_t>(x * step) : index[x];
  }
}

template <class T, int kStride>
void pool_row(const PoolShape& s, T* out, int64_t* indices, const T* in, int64_t y, int64_t begin, int64_t count) {
  T best[kBlock];
  int32_t index[kBlock];
  const int64_t top = y * s.stride[0] - s.padding[0];
  const int64_t first_row = top >= 0 ? top : top + (-top + s.dilation[0] - 1) / s.dilation[0] * s.dilation[0];
  for (int64_t x = 0; x < count; ++x) {
    const int64_t left = (begin + x) * s.stride[1] - s.padding[1];
    const int64_t first = left >= 0 ? left : left + (-left + s.dilation[1] - 1) / s.dilation[1] * s.dilation[1];
    best[x] = -static_cast<T>(__builtin_inff());
    index[x] = static_cast<int32_t>(first_row * s.iw + first);
  }
  for (int64_t ky = 0; ky < s.kernel[0]; ++ky) {
    const int64_t row = top + ky * s.dilation[0];
    if (row < 0 || row >= s.ih) continue;
    for (int64_t kx = 0; kx < s.kernel[1]; ++kx) {
      const int64_t shift = begin * s.stride[1] - s.padding[1] + kx * s.dilation[1];
      const Range range = inside(count, s.stride[1], shift, s.iw);
      if (range.begin >= range.end) continue;
      const int64_t at = row * s.iw + shift + range.begin * s.stride[1];
      take_tap<T, kStride>(best + range.begin, index + range.begin, in + at, s.stride[1], static_cast<int32_t>(at),
                           range.end - range.begin);
    }
  }
  for (int64_t x = 0; x < count; ++x) out[x] = best[x];
  for (int64_t x = 0; x < count; ++x) indices[x] = index[x];
}

template <class T, int kStride>
void pool_plane(const PoolShape& s, T* out, int64_t* indices, const T* in) {
  for (int64_t y = 0; y < s.oh; ++y) {
    for (int64_t begin = 0; begin < s.ow; begin += kBlock) {
      const int64_t count = s.ow - begin < kBlock ? s.ow - begin : kBlock;
      pool_row<T, kStride>(s, out + y * s.ow + begin, indices + y * s.ow + begin, in, y, begin, count);
    }
  }
}

template <class T>
void max_plane(const PoolShape& s, T* out, int64_t* indices, const T* in) {
  switch (s.stride[1]) {
    case 1: return pool_plane<T, 1>(s, out, indices, in);
    case 2: return pool_plane<T, 2>(s, out, indices, in);
    default: return pool_plane<T, 0>(s, out, indices, in);
  }
}

}  // namespace

PoolPlanes<float> pool_planes(float) { return {max_plane<float>}; }
PoolPlanes<double> pool_planes(double) { return {max_plane<double>}; }

}  // namespace terra::cpu::TERRA_ISA
