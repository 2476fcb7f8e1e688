#include "kernels/cpu/short_rows.h"

#include <algorithm>

#include "kernels/cpu/element_bits.h"
#include "kernels/cpu/row_copy.h"

namespace terra::cpu {
namespace {

/// Rows of fewer elements cost more to begin than to copy column by column.
constexpr int64_t kFewElements = 4;

/// Equal rows at equal distances: a matrix.
struct Rows {
  int64_t count, width;
  int64_t row_stride, stride;  ///< bytes
};

template <class Bits>
void pack_row(char* to, const char* from, int64_t stride, int64_t n) {
  if (stride == sizeof(Bits))
    copy_short(to, from, n * static_cast<int64_t>(sizeof(Bits)));
  else
    copy_row<Bits>(to, sizeof(Bits), from, stride, n);
}

template <class Bits>
void pack_rows(char* to, const char* from, const Rows& rows) {
  constexpr int64_t size = sizeof(Bits);
  const int64_t bytes = rows.width * size;
  if (rows.row_stride == rows.width * rows.stride)
    return copy_row<Bits>(to, size, from, rows.stride, rows.count * rows.width);
  if (rows.row_stride == 0) {
    pack_row<Bits>(to, from, rows.stride, rows.width);
    return repeat(to, bytes, rows.count * bytes);
  }
  if (rows.width < kFewElements) {
    for (int64_t i = 0; i < rows.width; ++i)
      copy_row<Bits>(to + i * size, bytes, from + i * rows.stride, rows.row_stride, rows.count);
    return;
  }
  if (rows.stride == 0) {
    for (int64_t r = 0; r < rows.count; ++r)
      fill_short(to + r * bytes, *reinterpret_cast<const Bits*>(from + r * rows.row_stride), rows.width);
    return;
  }
  for (int64_t r = 0; r < rows.count; ++r)
    pack_row<Bits>(to + r * bytes, from + r * rows.row_stride, rows.stride, rows.width);
}

template <class Bits>
void pack_elements(const StridedElements& e, int64_t begin, int64_t n, char* to) {
  const size_t last = e.sizes.size() - 1;
  const int64_t width = e.sizes[last], stride = e.strides[last];
  const int64_t height = last > 0 ? e.sizes[last - 1] : 1, row_stride = last > 0 ? e.strides[last - 1] : 0;
  int64_t matrix = begin / width / height, row = begin / width % height, column = begin % width;
  for (; n > 0; ++matrix, row = 0) {
    const char* from = e.data;
    int64_t rest = matrix;
    for (size_t d = last; d-- > 1;) {
      from += rest % e.sizes[d - 1] * e.strides[d - 1];
      rest /= e.sizes[d - 1];
    }
    while (n > 0 && row < height) {
      const char* const at = from + row * row_stride + column * stride;
      int64_t packed = 0;
      if (column == 0 && n >= width) {
        const Rows whole{std::min(height - row, n / width), width, row_stride, stride};
        pack_rows<Bits>(to, at, whole);
        packed = whole.count * width;
        row += whole.count;
      } else {
        packed = std::min(n, width - column);
        pack_row<Bits>(to, at, stride, packed);
        column = (column + packed) % width;
        row += column == 0;
      }
      to += packed * static_cast<int64_t>(sizeof(Bits));
      n -= packed;
    }
  }
}

/// Rows of so many bytes, in all operands that are packed, cost more to pack than to begin a loop for, if each lies
/// dense or is one element.
constexpr int64_t kPackedBytes = 192;

/// After so many elements an operand of the space begins anew; 0: it is dense, 1: it is one element.
int64_t period_of(const Iteration& it, int operand, int64_t size) {
  const int64_t* const strides = it.strides[operand];
  int64_t dense = size, repeats = it.numel;
  bool is_dense = true;
  int d = 0;
  for (; d < it.rank && strides[d] == 0; ++d) repeats /= it.sizes[d];
  for (d = it.rank; d-- > 0; dense *= it.sizes[d]) is_dense &= strides[d] == dense;
  return is_dense ? 0 : repeats;
}

}  // namespace

void pack(const StridedElements& from, int64_t begin, int64_t n, char* to) {
  with_bits(from.size, [&]<class Bits>(Bits) { pack_elements<Bits>(from, begin, n, to); });
}

PackedPieces::PackedPieces(const Iteration& it, std::span<const int64_t> sizes) : it_(it) {
  bool repeated = true;  // all that is packed
  bool simple = true;    // all rows that are packed piece by piece
  int64_t longest = 1, row_bytes = 0;
  const int64_t width = it.sizes[it.rank - 1];
  for (int p = 0; p < it.operands; ++p) {
    sizes_[p] = sizes[static_cast<size_t>(p)];
    period_[p] = period_of(it, p, sizes_[p]);
    if (is_dense(p)) continue;
    if (p == 0) return;
    const bool often = period_[p] <= kMostElements / 2;
    repeated &= often;
    if (often) {
      longest = std::max(longest, period_[p]);
      continue;
    }
    const int64_t stride = it.strides[p][it.rank - 1];
    simple &= stride == sizes_[p] || stride == 0;
    row_bytes += width * sizes_[p];
  }
  const bool short_rows = width < kShortRow && (!simple || row_bytes < kPackedBytes);
  if (!repeated && longest > kElements / 2) longest = 1;
  piece_ = std::max(kElements, 2 * longest) / longest * longest;
  pays_ = it.numel >= 2 * kElements && it.rank > 1 && (repeated || short_rows);
}

void PackedPieces::place(int64_t begin, int64_t n, Buffers& buffers, char** at) const {
  for (int p = 0; p < it_.operands; ++p) {
    at[p] = it_.data[p];
    if (is_one(p)) continue;
    if (is_dense(p)) {
      at[p] += begin * sizes_[p];
      continue;
    }
    const int64_t first = begin % piece_;
    const bool again = piece_ % period_[p] == 0;  // in each piece
    if (!buffers.memory[p])
      buffers.memory[p] = std::make_unique_for_overwrite<char[]>(static_cast<size_t>(piece_ * sizes_[p]));
    at[p] = buffers.memory[p].get() + first * sizes_[p];
    if (again && buffers.from[p] <= first && first + n <= buffers.to[p]) continue;
    pack({it_.data[p],
          {it_.sizes, static_cast<size_t>(it_.rank)},
          {it_.strides[p], static_cast<size_t>(it_.rank)},
          static_cast<size_t>(sizes_[p])},
         begin, n, at[p]);
    buffers.from[p] = first;
    buffers.to[p] = first + n;
  }
}

}  // namespace terra::cpu
