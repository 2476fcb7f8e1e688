#include "kernels/cpu/indirect.h"

#include <functional>
#include <type_traits>

#include "kernels/abi/dtype_dispatch.h"
#include "kernels/abi/parallel.h"
#include "kernels/cpu/copy.h"
#include "kernels/cpu/element_bits.h"
#include "kernels/cpu/iteration.h"
#include "kernels/cpu/row_copy.h"

namespace terra::cpu {

namespace {

template <class T>
constexpr bool is_ordered = std::is_arithmetic_v<T>;

/// Operands of the common walk: dense, base, offsets. Row-major order is kept where writes may meet.
void walk_space(const View& dense, const View& base, const View& offsets, bool keep_order, Iteration& it) {
  const View* views[] = {&dense, &base, &offsets};
  it.operands = 3;
  it.rank = 0;
  it.numel = dense.numel();
  for (int p = 0; p < 3; ++p) it.data[p] = views[p]->bytes();
  for (int d = 0; d < dense.rank; ++d) {
    if (dense.sizes[d] == 1) continue;
    it.sizes[it.rank] = dense.sizes[d];
    for (int p = 0; p < 3; ++p) {
      it.strides[p][it.rank] = views[p]->strides[d] * static_cast<int64_t>(size_of(views[p]->dtype));
    }
    ++it.rank;
  }
  simplify(it, keep_order);
}

constexpr int64_t kOffsetSize = sizeof(int64_t);

/// From an entry of the offsets to bytes.
struct Bytes {
  int64_t step;
  int64_t operator()(int64_t offset) const { return offset * step; }
  int64_t operator()(const char* at) const { return (*this)(*reinterpret_cast<const int64_t*>(at)); }
};

/// Calls piece(dense, base, n) for pieces within which the offset is constant (it has been added to `base`), else
/// row(dense, base, offsets, n) for rows in which each element has its own.
template <class Piece, class Row>
void for_pieces(const Iteration& it, Bytes bytes, int64_t begin, int64_t end, Piece piece, Row row) {
  const bool is_constant = it.strides[2][it.rank - 1] == 0;
  for_rows(it, begin, end, [&](char* const* at, int64_t n) {
    is_constant ? piece(at[0], at[1] + bytes(at[2]), n) : row(at[0], at[1], at[2], n);
  });
}

/// Whether rows are dense elements of that size on one side, and one base plus dense offsets on the other.
bool walks_offsets(const Iteration& it, int64_t size) {
  const int last = it.rank - 1;
  return it.strides[0][last] == size && it.strides[1][last] == 0 && it.strides[2][last] == kOffsetSize;
}

/// Such a row: dense = base[offsets].
template <class Bits>
void gather_row(Bits* dense, const char* base, const int64_t* offsets, Bytes bytes, int64_t n) {
#pragma GCC unroll 4
  for (int64_t i = 0; i < n; ++i) dense[i] = *reinterpret_cast<const Bits*>(base + bytes(offsets[i]));
}

/// Whether rows are short, dense on both sides, and each has one offset.
bool has_short_rows(const Iteration& it, int64_t size) {
  const int last = it.rank - 1;
  return last > 0 && it.strides[0][last] == size && it.strides[1][last] == size && it.strides[2][last] == 0 &&
         it.sizes[last] * size <= kShortRowBytes;
}

/// Calls copy(dense, base) for such rows, those of [begin, end) of the space of rows.
template <class Copy>
void for_short_rows(const Iteration& rows, Bytes bytes, int64_t begin, int64_t end, Copy copy) {
  const int last = rows.rank - 1;
  const int64_t dense = rows.strides[0][last], base = rows.strides[1][last], offset = rows.strides[2][last];
  for_rows(rows, begin, end, [&](char* const* at, int64_t n) {
    for (int64_t k = 0; k < n; ++k) copy(at[0] + k * dense, at[1] + k * base + bytes(at[2] + k * offset));
  });
}

}  // namespace

std::string out_of_bounds(int64_t index, int64_t dim, int64_t size) {
  return "index " + std::to_string(index) + " is out of bounds for dimension " + std::to_string(dim) + " with size " +
         std::to_string(size);
}

std::string out_of_range_in_self(int64_t, int64_t, int64_t) { return "index out of range in self"; }

std::unique_ptr<int64_t[]> read_indices(const View& indices) {
  const int64_t n = indices.numel();
  auto result = std::make_unique_for_overwrite<int64_t[]>(static_cast<size_t>(n));
  int64_t strides[kMaxViewRank];
  for (int64_t d = indices.rank - 1, step = 1; d >= 0; --d) {
    strides[d] = step;
    step *= indices.sizes[d];
  }
  convert_elements(View{result.get(), indices.sizes, strides, indices.rank, DType::I64}, indices);
  return result;
}

bool are_within(const int64_t* indices, int64_t n, int64_t size) {
  uint64_t signs = 0;  // of an index, and of what is left behind it: wrong ones make one of them negative
  for (int64_t i = 0; i < n; ++i)
    signs |= static_cast<uint64_t>(indices[i]) | (static_cast<uint64_t>(size) - 1 - static_cast<uint64_t>(indices[i]));
  return signs >> 63 == 0;
}

void check_indices(int64_t* indices, int64_t n, const IndexRule& rule) {
  if (are_within(indices, n, rule.size)) return;
  const int64_t lowest = rule.wraps ? -rule.size : 0;
  bool wrong = false, negative = false;
  for (int64_t i = 0; i < n; ++i) {
    wrong |= (indices[i] < lowest) | (indices[i] >= rule.size);
    negative |= indices[i] < 0;
  }
  for (int64_t i = 0; wrong && i < n; ++i)
    if (indices[i] < lowest || indices[i] >= rule.size)
      throw KernelError(rule.kind, rule.message(indices[i], rule.dim, rule.size));
  for (int64_t i = 0; negative && i < n; ++i) indices[i] += indices[i] < 0 ? rule.size : 0;
}

void gather_elements(const View& dense, const View& base, const View& offsets, int64_t step) {
  if (dense.numel() == 0) return;
  constexpr int64_t kGrainBytes = 64 << 10;
  Iteration it;
  walk_space(dense, base, offsets, false, it);
  const auto size = static_cast<int64_t>(size_of(dense.dtype));
  const Bytes bytes{step};
  const int last = it.rank - 1;
  if (has_short_rows(it, size)) {
    Iteration rows;
    rows_of(it, rows);
    const int64_t width = it.sizes[last] * size;
    return parallel_for(rows.numel, kGrainBytes / width, [&](int64_t begin, int64_t end) {
      for_short_rows(rows, bytes, begin, end, [width](char* to, const char* from) { copy_short(to, from, width); });
    });
  }
  const RowCopy copy = row_copy(static_cast<size_t>(size));
  const int64_t to_stride = it.strides[0][last], from_stride = it.strides[1][last], apart = it.strides[2][last];
  const bool by_offsets = walks_offsets(it, size);
  with_bits(static_cast<size_t>(size), [&]<class Bits>(Bits) {
    parallel_for(it.numel, kGrainBytes / size, [&](int64_t begin, int64_t end) {
      for_pieces(
          it, bytes, begin, end,
          [&](char* to, const char* from, int64_t n) { copy(to, to_stride, from, from_stride, n); },
          [&](char* to, const char* from, const char* offset, int64_t n) {
            if (by_offsets)
              return gather_row(reinterpret_cast<Bits*>(to), from, reinterpret_cast<const int64_t*>(offset), bytes, n);
            for (int64_t i = 0; i < n; ++i)
              *reinterpret_cast<Bits*>(to + i * to_stride) =
                  *reinterpret_cast<const Bits*>(from + i * from_stride + bytes(offset + i * apart));
          });
    });
  });
}

void scatter_elements(const View& base, const View& dense, const View& offsets, int64_t step) {
  if (dense.numel() == 0) return;
  Iteration it;
  walk_space(dense, base, offsets, true, it);
  const Bytes bytes{step};
  const int last = it.rank - 1;
  if (const auto size = static_cast<int64_t>(size_of(dense.dtype)); has_short_rows(it, size)) {
    Iteration rows;
    rows_of(it, rows);
    const int64_t width = it.sizes[last] * size;
    return for_short_rows(rows, bytes, 0, rows.numel,
                          [width](const char* from, char* to) { copy_short(to, from, width); });
  }
  const RowCopy copy = row_copy(size_of(dense.dtype));
  const int64_t from_stride = it.strides[0][last], to_stride = it.strides[1][last], apart = it.strides[2][last];
  with_bits(size_of(dense.dtype), [&]<class Bits>(Bits) {
    for_pieces(
        it, bytes, 0, it.numel,
        [&](const char* from, char* to, int64_t n) { copy(to, to_stride, from, from_stride, n); },
        [&](const char* from, char* to, const char* offset, int64_t n) {
          for (int64_t i = 0; i < n; ++i)
            *reinterpret_cast<Bits*>(to + i * to_stride + bytes(offset + i * apart)) =
                *reinterpret_cast<const Bits*>(from + i * from_stride);
        });
  });
}

namespace {

/// base[offsets] = combine(base[offsets], dense) in the elements' type, in row-major order.
template <class Combine>
void combine_elements(const View& base, const View& dense, const View& offsets, int64_t step, Combine combine) {
  if (dense.numel() == 0) return;
  Iteration it;
  walk_space(dense, base, offsets, true, it);
  const int last = it.rank - 1;
  const int64_t from_stride = it.strides[0][last], to_stride = it.strides[1][last], apart = it.strides[2][last];
  const Bytes bytes{step};
  const auto walk = [&]<class T>(T) {
    constexpr int64_t size = sizeof(T);
    const bool by_offsets = walks_offsets(it, size), dense_pieces = from_stride == size && to_stride == size;
    const auto meet = [&](char* to, const char* from) {
      T& element = *reinterpret_cast<T*>(to);
      element = combine(element, *reinterpret_cast<const T*>(from));
    };
    for_pieces(
        it, bytes, 0, it.numel,
        [&](const char* from, char* to, int64_t n) {
          if (dense_pieces)
            for (int64_t i = 0; i < n; ++i) meet(to + i * size, from + i * size);
          else
            for (int64_t i = 0; i < n; ++i) meet(to + i * to_stride, from + i * from_stride);
        },
        [&](const char* from, char* to, const char* offset, int64_t n) {
          if (by_offsets)
            for (int64_t i = 0; i < n; ++i) meet(to + bytes(offset + i * kOffsetSize), from + i * size);
          else
            for (int64_t i = 0; i < n; ++i)
              meet(to + i * to_stride + bytes(offset + i * apart), from + i * from_stride);
        });
  };
  if (dense.dtype == DType::Bool)
    walk(bool{});
  else if (is_complex(dense.dtype))
    with_inexact(dense.dtype, walk);
  else
    with_any_real(dense.dtype, walk);
}

/// Whole numbers wrap around.
template <class T, class Operation>
T wrapping(T a, T b, Operation operation) {
  if constexpr (std::is_integral_v<T> && sizeof(T) == sizeof(uint64_t))
    return static_cast<T>(operation(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  else if constexpr (std::is_integral_v<T> && sizeof(T) > 1)
    return static_cast<T>(operation(static_cast<uint32_t>(a), static_cast<uint32_t>(b)));
  else
    return static_cast<T>(operation(a, b));
}

/// A NaN wins.
template <bool kLargest>
void combine_extremes(const View& base, const View& dense, const View& offsets, int64_t step) {
  combine_elements(base, dense, offsets, step, []<class T>(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      const T best = (kLargest ? a < b : b < a) ? b : a;
      return (a != a) | (b != b) ? a + b : best;
    } else if constexpr (is_ordered<T>) {
      return (kLargest ? a < b : b < a) ? b : a;
    } else {
      return a;
    }
  });
}

}  // namespace

void scatter_add_elements(const View& base, const View& dense, const View& offsets, int64_t step) {
  combine_elements(base, dense, offsets, step, []<class T>(T a, T b) { return wrapping(a, b, std::plus<>()); });
}

void scatter_combined_elements(const View& base, const View& dense, const View& offsets, int64_t step,
                               Combination how) {
  if (how == Combination::Product)
    return combine_elements(base, dense, offsets, step,
                            []<class T>(T a, T b) { return wrapping(a, b, std::multiplies<>()); });
  how == Combination::Largest ? combine_extremes<true>(base, dense, offsets, step)
                              : combine_extremes<false>(base, dense, offsets, step);
}

}  // namespace terra::cpu
