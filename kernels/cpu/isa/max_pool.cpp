// Max pooling of one plane. Any window: a row of outputs at a time, one pass along the row for each tap. Windows of 2x2
// without padding: the plane's neighbours first, in one run without row ends, then pairs of rows; of 1x2: the first
// half.
#include "kernels/cpu/isa/rows.h"
#include "kernels/cpu/isa/vec.h"

namespace terra::cpu::TERRA_ISA {

namespace {

/// Outputs that are kept in registers or the first-level cache while the window's taps pass.
constexpr int64_t kBlock = 64;
/// Window widths up to this have the outputs of each tap worked out once per plane.
constexpr int64_t kMostTaps = 32;

/// Outputs, or taps, [begin, end).
struct Range {
  int64_t begin, end;
};

/// The outputs x of [0, n) whose tap x * stride + shift lies in [0, size).
Range inside(int64_t n, int64_t stride, int64_t shift, int64_t size) {
  const int64_t begin = shift >= 0 ? 0 : (-shift - 1) / stride + 1;
  const int64_t end = size <= shift ? 0 : (size - shift - 1) / stride + 1;
  return {begin < n ? begin : n, end < n ? end : n};
}

/// The taps of `kernel` that don't lie before the image, of a window that starts at `start`, and don't lie behind it,
/// of one that starts at `first`.
Range taps(int64_t kernel, int64_t dilation, int64_t first, int64_t start, int64_t size) {
  const int64_t begin = start >= 0 ? 0 : (-start - 1) / dilation + 1;
  const int64_t end = first >= size ? 0 : (size - 1 - first) / dilation + 1;
  return {begin, end < kernel ? end : kernel};
}

/// Where the first tap of a window that starts at `start` falls on the image; -1 if none does.
int64_t first_tap(int64_t kernel, int64_t dilation, int64_t start, int64_t size) {
  if (start >= 0) return start < size ? start : -1;
  const Range on_image = taps(kernel, dilation, start, start, size);
  return on_image.begin < on_image.end ? start + on_image.begin * dilation : -1;
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

/// Columns [begin, begin + count) of all rows of outputs.
template <class T, int kStride>
void pool_columns(const PoolShape& s, T* out, int64_t* indices, const T* in, int64_t begin, int64_t count) {
  const int64_t left = begin * s.stride[1] - s.padding[1];
  int32_t first_column[kBlock];
  for (int64_t x = 0; x < count; ++x) {
    first_column[x] = static_cast<int32_t>(first_tap(s.kernel[1], s.dilation[1], left + x * s.stride[1], s.iw));
  }
  const Range columns = taps(s.kernel[1], s.dilation[1], left, left + (count - 1) * s.stride[1], s.iw);
  Range ranges[kMostTaps];
  for (int64_t kx = 0; kx < columns.end && kx < kMostTaps; ++kx) {
    ranges[kx] = inside(count, s.stride[1], left + kx * s.dilation[1], s.iw);
  }
  for (int64_t y = 0; y < s.oh; ++y) {
    const int64_t top = y * s.stride[0] - s.padding[0];
    const Range rows = taps(s.kernel[0], s.dilation[0], top, top, s.ih);
    const bool on_image = rows.begin < rows.end;
    const int32_t first_row = static_cast<int32_t>((top + rows.begin * s.dilation[0]) * s.iw);
    T best[kBlock];
    int32_t index[kBlock];
    for (int64_t x = 0; x < count; ++x) {
      best[x] = -static_cast<T>(__builtin_inff());
      index[x] = on_image && first_column[x] >= 0 ? first_row + first_column[x] : -1;
    }
    for (int64_t ky = rows.begin; ky < rows.end; ++ky) {
      const int64_t row = top + ky * s.dilation[0];
      for (int64_t kx = columns.begin; kx < columns.end; ++kx) {
        const int64_t shift = left + kx * s.dilation[1];
        const Range range = kx < kMostTaps ? ranges[kx] : inside(count, s.stride[1], shift, s.iw);
        if (range.begin >= range.end) continue;
        const int64_t at = row * s.iw + shift + range.begin * s.stride[1];
        take_tap<T, kStride>(best + range.begin, index + range.begin, in + at, s.stride[1], static_cast<int32_t>(at),
                             range.end - range.begin);
      }
    }
    const int64_t to = y * s.ow + begin;
    for (int64_t x = 0; x < count; ++x) out[to + x] = best[x];
    for (int64_t x = 0; x < count; ++x) indices[to + x] = index[x];
  }
}

template <class T, int kStride>
void pool_plane(const PoolShape& s, T* out, int64_t* indices, const T* in) {
  for (int64_t begin = 0; begin < s.ow; begin += kBlock) {
    pool_columns<T, kStride>(s, out, indices, in, begin, s.ow - begin < kBlock ? s.ow - begin : kBlock);
  }
}

// ---- 2x2 -------------------------------------------------------------------------------------------------------

/// Integers as wide as T: an index beside each value.
template <class T>
struct IndexOf;
template <>
struct IndexOf<float> {
  using type = int32_t;
};
template <>
struct IndexOf<double> {
  using type = int64_t;
};
template <class T>
using Index = typename IndexOf<T>::type;

/// The larger of neighbours, for pairs [at, at + count) of a plane.
template <class T>
void pairs(const T* in, T* best, Index<T>* index, int64_t at, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    const T a = in[2 * (at + i)], b = in[2 * (at + i) + 1];
    const bool second = (b > a) | (b != b);
    best[i] = second ? b : a;
    index[i] = static_cast<Index<T>>(2 * (at + i)) + (second ? 1 : 0);
  }
}

/// Outputs whose pairs are found together.
constexpr int64_t kPairBlock = 256;

/// Rows of outputs are taken in groups whose pairs form one long run, which vectors cross row ends in.
template <class T>
void pool_plane_2x2(const PoolShape& s, T* out, int64_t* indices, const T* in) {
  constexpr int64_t kSlack = kLanes<T>;
  T best[2 * kPairBlock + kSlack];
  Index<T> index[2 * kPairBlock + kSlack];
  T chosen[kPairBlock + kSlack];
  Index<T> place[kPairBlock + kSlack];
  const int64_t group = kPairBlock / s.ow;  // rows of outputs
  for (int64_t y0 = 0; y0 < s.oh; y0 += group) {
    const int64_t rows = s.oh - y0 < group ? s.oh - y0 : group;
    pairs(in, best, index, 2 * y0 * s.ow, 2 * rows * s.ow);
    for (int64_t y = 0; y < rows; ++y) {
      // Whole vectors: what is written past a row's end is written again by the next row.
      for (int64_t x = 0; x < s.ow; x += kLanes<T>) {
        const int64_t above = 2 * y * s.ow + x, below = above + s.ow, to = y * s.ow + x;
        const Vec<T> a = load(best + above), b = load(best + below);
        const auto second = (b > a) | (b != b);
        store<T>(chosen + to, second ? b : a);
        store<Index<T>>(place + to, second ? load(index + below) : load(index + above));
      }
    }
    T* to = out + y0 * s.ow;
    int64_t* to_index = indices + y0 * s.ow;
    for (int64_t i = 0; i < rows * s.ow; ++i) to[i] = chosen[i];
    for (int64_t i = 0; i < rows * s.ow; ++i) to_index[i] = place[i];
  }
}

bool is_plain_2x2(const PoolShape& s) {
  for (int axis = 0; axis < 2; ++axis) {
    if (s.kernel[axis] != 2 || s.stride[axis] != 2 || s.padding[axis] != 0 || s.dilation[axis] != 1) return false;
  }
  return s.iw == 2 * s.ow && 2 * s.oh <= s.ih && s.ow <= kPairBlock;
}

/// Windows of two neighbours in a row.
template <class T>
void pool_plane_1x2(const PoolShape& s, T* out, int64_t* indices, const T* in) {
  Index<T> index[kPairBlock];
  const int64_t n = s.oh * s.ow;
  for (int64_t begin = 0; begin < n; begin += kPairBlock) {
    const int64_t count = n - begin < kPairBlock ? n - begin : kPairBlock;
    pairs(in, out + begin, index, begin, count);
    for (int64_t i = 0; i < count; ++i) indices[begin + i] = index[i];
  }
}

bool is_plain_1x2(const PoolShape& s) {
  return s.kernel[0] == 1 && s.stride[0] == 1 && s.kernel[1] == 2 && s.stride[1] == 2 && s.dilation[1] == 1 &&
         s.padding[0] == 0 && s.padding[1] == 0 && s.oh == s.ih && s.iw == 2 * s.ow;
}

template <class T>
void max_plane(const PoolShape& s, T* out, int64_t* indices, const T* in) {
  if (is_plain_2x2(s)) return pool_plane_2x2(s, out, indices, in);
  if (is_plain_1x2(s)) return pool_plane_1x2(s, out, indices, in);
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
