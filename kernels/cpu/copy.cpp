#include "kernels/cpu/copy.h"

#include <xmmintrin.h>

#include <algorithm>
#include <cstring>

#include "kernels/abi/element.h"
#include "kernels/abi/parallel.h"
#include "kernels/cpu/element_bits.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/cpu/iteration.h"
#include "kernels/cpu/row_copy.h"

namespace terra::cpu {

namespace {

/// Bytes one thread moves at least: about kGrainNanoseconds from memory.
constexpr int64_t kGrainBytes = 128 << 10;
/// What a transposing copy keeps in the first-level cache at a time: its rows are dense in the input, its columns in
/// the output.
struct Tile {
  int64_t rows, columns;
};
constexpr Tile kDirect = {16, 64};    ///< a cache line of each of 64 columns
constexpr Tile kBuffered = {32, 32};  ///< through a buffer

/// The dimension along which the input is dense, when it isn't the innermost one; -1 if there is none worth a tile.
int transposed_dim(const Iteration& it, int64_t size) {
  const int last = it.rank - 1;
  if (it.strides[0][last] != size || it.strides[1][last] == size || it.strides[1][last] == 0) return -1;
  for (int d = 0; d < last; ++d) {
    if (it.strides[1][d] == size && it.sizes[d] >= 8 && it.sizes[last] >= 8) return d;
  }
  return -1;
}

/// to[r][c] = from[c][r] for 4 by 4 words; a row of either is so many bytes after the one before.
inline void transpose_four(char* to, int64_t to_row, const char* from, int64_t from_row) {
  const auto load = [&](int c) { return _mm_loadu_ps(reinterpret_cast<const float*>(from + c * from_row)); };
  __m128 a = load(0), b = load(1), c = load(2), d = load(3);
  _MM_TRANSPOSE4_PS(a, b, c, d);
  const __m128 rows[] = {a, b, c, d};
  for (int r = 0; r < 4; ++r) _mm_storeu_ps(reinterpret_cast<float*>(to + r * to_row), rows[r]);
}

template <class Bits>
void transpose_tile(char* out, int64_t out_row, const char* in, int64_t in_column, Tile tile) {
  constexpr int64_t size = sizeof(Bits);
  Tile whole = {0, 0};
  if constexpr (size == 4) {
    whole = {tile.rows / 4 * 4, tile.columns / 4 * 4};
    for (int64_t r = 0; r < whole.rows; r += 4) {
      for (int64_t c = 0; c < whole.columns; c += 4) {
        transpose_four(out + r * out_row + c * size, out_row, in + c * in_column + r * size, in_column);
      }
    }
  }
  for (int64_t r = 0; r < tile.rows; ++r) {
    for (int64_t c = r < whole.rows ? whole.columns : 0; c < tile.columns; ++c) {
      std::memcpy(out + r * out_row + c * size, in + c * in_column + r * size, size);
    }
  }
}

/// The same with the input's lines gathered in one place first, where they don't evict each other.
template <class Bits>
void transpose_buffered(char* out, int64_t out_row, const char* in, int64_t in_column, Tile tile) {
  Bits buffer[kBuffered.columns][kBuffered.rows];
  for (int64_t c = 0; c < tile.columns; ++c) {
    std::memcpy(buffer[c], in + c * in_column, static_cast<size_t>(tile.rows) * sizeof(Bits));
  }
  transpose_tile<Bits>(out, out_row, reinterpret_cast<const char*>(buffer), sizeof(buffer[0]), tile);
}

/// Lines a multiple of 1024 bytes apart share so few sets of a first-level cache (of 4096 bytes a way, 8 ways) that 64
/// of them don't fit. Tiles of narrow elements are faster through the buffer as well.
template <class Bits>
bool is_direct(int64_t in_column) {
  return sizeof(Bits) >= 4 && in_column % 1024 != 0;
}

/// Copies tiles of (dense, innermost) elements, so that the cache lines of either side are used whole.
template <class Bits>
void copy_transposed(const Iteration& it, int dense) {
  const int last = it.rank - 1;
  const int64_t rows = it.sizes[dense], columns = it.sizes[last];
  const bool direct = is_direct<Bits>(it.strides[1][last]);
  const Tile most = direct ? kDirect : kBuffered;
  const auto transpose = direct ? transpose_tile<Bits> : transpose_buffered<Bits>;
  const int64_t row_tiles = (rows + most.rows - 1) / most.rows;
  const int64_t column_tiles = (columns + most.columns - 1) / most.columns;
  Iteration outer;
  outer.operands = 2;
  outer.rank = 0;
  for (int p = 0; p < 2; ++p) outer.data[p] = it.data[p];
  for (int d = 0; d < last; ++d) {
    if (d == dense) continue;
    outer.sizes[outer.rank] = it.sizes[d];
    for (int p = 0; p < 2; ++p) outer.strides[p][outer.rank] = it.strides[p][d];
    ++outer.rank;
  }
  // The innermost outer dimension counts the tiles of one matrix.
  outer.sizes[outer.rank] = row_tiles * column_tiles;
  for (int p = 0; p < 2; ++p) outer.strides[p][outer.rank] = 0;
  ++outer.rank;
  const int64_t tiles = it.numel / (rows * columns) * row_tiles * column_tiles;
  const int64_t grain =
      std::max<int64_t>(1, kGrainBytes / (most.rows * most.columns * static_cast<int64_t>(sizeof(Bits))));
  parallel_for(tiles, grain, [&](int64_t begin, int64_t end) {
    int64_t tile = begin % (row_tiles * column_tiles);
    for_rows(outer, begin, end, [&](char* const* at, int64_t n) {
      for (int64_t k = 0; k < n; ++k, tile = (tile + 1) % (row_tiles * column_tiles)) {
        const int64_t r = tile % row_tiles * most.rows, c = tile / row_tiles * most.columns;
        transpose(at[0] + r * it.strides[0][dense] + c * it.strides[0][last], it.strides[0][dense],
                  at[1] + r * it.strides[1][dense] + c * it.strides[1][last], it.strides[1][last],
                  {std::min(most.rows, rows - r), std::min(most.columns, columns - c)});
      }
    });
  });
}

/// The innermost dimension is short and lies dense in the output.
bool has_short_rows(const Iteration& it, int64_t size) {
  const int last = it.rank - 1;
  return last > 0 && it.strides[0][last] == size && it.sizes[last] * size <= kShortRowBytes;
}

/// Calls copy(out, in) for each row.
void copy_short_rows(const Iteration& it, int64_t bytes, const auto& copy) {
  Iteration rows;
  rows_of(it, rows);
  const int64_t out_step = rows.strides[0][rows.rank - 1], in_step = rows.strides[1][rows.rank - 1];
  parallel_for(rows.numel, kGrainBytes / bytes, [&](int64_t begin, int64_t end) {
    for_rows(rows, begin, end, [&](char* const* at, int64_t n) {
      for (int64_t k = 0; k < n; ++k) copy(at[0] + k * out_step, at[1] + k * in_step);
    });
  });
}

/// Walks outer dimensions along which the input is dense backwards from their other end.
void face_forwards(Iteration& it, int64_t size) {
  for (int d = 0; d + 1 < it.rank; ++d) {
    if (it.strides[1][d] != -size) continue;
    for (int p = 0; p < 2; ++p) {
      it.data[p] += (it.sizes[d] - 1) * it.strides[p][d];
      it.strides[p][d] = -it.strides[p][d];
    }
  }
}

/// Rows of fewer elements cost more to find than to copy.
constexpr int64_t kFewElements = 8;

/// Changes an innermost dimension of few elements for a longer one: that along which the input is dense, or the
/// longest.
void lengthen_rows(Iteration& it, int64_t size) {
  const int last = it.rank - 1;
  if (it.sizes[last] >= kFewElements) return;
  int longest = last;
  for (int d = 0; d < last && it.strides[1][longest] != size; ++d)
    if (it.sizes[d] > it.sizes[longest] || (it.strides[1][d] == size && it.sizes[d] >= kFewElements)) longest = d;
  std::swap(it.sizes[last], it.sizes[longest]);
  for (int p = 0; p < 2; ++p) std::swap(it.strides[p][last], it.strides[p][longest]);
}

template <class Bits>
void copy_bits(Iteration& it) {
  constexpr int64_t size = sizeof(Bits);
  if (has_short_rows(it, size)) {
    const int64_t n = it.sizes[it.rank - 1], bytes = n * size, step = it.strides[1][it.rank - 1];
    if (step == size) return copy_short_rows(it, bytes, [=](char* out, const char* in) { copy_short(out, in, bytes); });
    if (step == 0 && bytes >= kMove)
      return copy_short_rows(
          it, bytes, [=](char* out, const char* in) { fill_short(out, *reinterpret_cast<const Bits*>(in), n); });
    if (step == -size && n >= kFewElements)
      return copy_short_rows(it, bytes, [=](char* out, const char* in) { copy_row<Bits>(out, size, in, -size, n); });
  }
  face_forwards(it, size);
  lengthen_rows(it, size);
  if (const int dense = transposed_dim(it, size); dense >= 0) return copy_transposed<Bits>(it, dense);
  const int last = it.rank - 1;
  parallel_for(it.numel, kGrainBytes / size, [&](int64_t begin, int64_t end) {
    for_rows(it, begin, end, [&](char* const* at, int64_t n) {
      copy_row<Bits>(at[0], it.strides[0][last], at[1], it.strides[1][last], n);
    });
  });
}

}  // namespace

void copy_elements(const View& out, const View& in) {
  const int64_t n = out.numel();
  if (n == 0) return;
  const auto size = static_cast<int64_t>(size_of(out.dtype));
  if (n * size <= kGrainBytes && out.is_contiguous() && in.is_contiguous() && in.numel() == n) {
    copy_bytes(out.data, in.data, n * size);
    return;
  }
  Iteration it;
  collapse(out, {&in, 1}, it);
  with_bits(size, [&]<class Bits>(Bits) { copy_bits<Bits>(it); });
}

void convert_elements(const View& out, const View& in) {
  if (out.dtype == in.dtype) return copy_elements(out, in);
  static const Kernel* const to_dtype = find_kernel("to_dtype");
  KernelArg params[2];
  params[1].kind = KernelArg::Kind::DType;
  params[1].dtype = out.dtype;
  run_elementwise(*to_dtype, out, {&in, 1}, params);
}

RowCopy row_copy(size_t size) {
  return size == 1   ? copy_row<uint8_t>
         : size == 2 ? copy_row<uint16_t>
         : size == 4 ? copy_row<uint32_t>
         : size == 8 ? copy_row<uint64_t>
                     : copy_row<Bits128>;
}

void fill_elements(const View& out, const Scalar& value) {
  alignas(kMaxElementSize) char element[kMaxElementSize];
  store_element(element, out.dtype, value);
  copy_elements(out, View{element, nullptr, nullptr, 0, out.dtype});
}

}  // namespace terra::cpu
