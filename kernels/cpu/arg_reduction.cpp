// Where the largest or smallest element is: argmax, argmin, max_with_index, min_with_index.
//
// The first of equals wins, a NaN wins over all numbers.
#include <algorithm>
#include <limits>
#include <memory>
#include <type_traits>

#include "kernels/abi/dtype_dispatch.h"
#include "kernels/cpu/along.h"
#include "kernels/cpu/copy.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/isa/rows.h"
#include "kernels/cpu/reducer.h"

namespace terra::cpu {

namespace {

template <class F>
void with_number_or_bool(DType dtype, F&& fn) {
  if (dtype == DType::Bool) return fn(bool{});
  with_number(dtype, fn);
}

template <bool kMax, class T>
bool beats(T x, T best) {
  return (kMax ? best < x : x < best) || (x != x && best == best);
}

/// Elements that are compared with the best one before anybody asks which of them it was.
constexpr int64_t kSearchBlock = 16;

/// The first element of a contiguous line that equals `best`, or is NaN if `best` is. There is one.
template <class T>
int64_t find(const T* x, int64_t n, T best) {
  const bool nan = best != best;
  int64_t i = 0;
  for (; i + kSearchBlock <= n; i += kSearchBlock) {
    int found = 0;
    for (int64_t k = 0; k < kSearchBlock; ++k) found |= nan ? x[i + k] != x[i + k] : x[i + k] == best;
    if (found) break;
  }
  while (!(nan ? x[i] != x[i] : x[i] == best)) ++i;
  return i;
}

template <bool kMax, class T>
int64_t index_of_best(const char* line, int64_t stride, int64_t n, const Reducer& extreme) {
  if (stride == sizeof(T) && n >= kSearchBlock) {
    T best;
    extreme.start(&best, 1);
    extreme.row(&best, line, n);
    return find(reinterpret_cast<const T*>(line), n, best);
  }
  int64_t index = 0;
  T best = *reinterpret_cast<const T*>(line);
  for (int64_t i = 1; i < n; ++i) {
    const T x = *reinterpret_cast<const T*>(line + i * stride);
    if (beats<kMax>(x, best)) {
      best = x;
      index = i;
    }
  }
  return index;
}

/// Rows of at most so many words are searched in vectors, many at a time.
constexpr int64_t kShortRow = 256;
template <class T>
constexpr bool kIsWord = std::is_floating_point_v<T> || std::is_same_v<T, int32_t> || std::is_same_v<T, int64_t>;

/// Lines that lie side by side: element k of line j is x[j] at `x + k * stride`. Finds in each the first element that
/// equals best[j], and puts it there. At most kColumns lines.
template <class T>
void find_in_columns(const char* x, int64_t stride, int64_t n, int64_t columns, T* best, int64_t* indices) {
  using Index = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;  // vectors of as many elements
  Index index[kColumns] = {};
  T value[kColumns];
  std::copy_n(best, columns, value);
  for (int64_t k = n - 1; k >= 0; --k) {
    const T* row = reinterpret_cast<const T*>(x + k * stride);
    for (int64_t j = 0; j < columns; ++j) {
      const bool found = (row[j] == best[j]) | ((row[j] != row[j]) & (best[j] != best[j]));
      index[j] = found ? static_cast<Index>(k) : index[j];
      value[j] = found ? row[j] : value[j];
    }
  }
  std::copy_n(value, columns, best);
  std::copy_n(index, columns, indices);
}

/// A view of a contiguous result as if the reduced dimension were still there with size 1 (and stride 0).
SubView& with_dim(SubView& v, const View& in, int dim) {
  int64_t step = 1;
  for (int d = in.rank - 1; d >= 0; --d) {
    v.resize(d, d == dim ? 1 : in.sizes[d]).set_stride(d, d == dim ? 0 : step);
    if (d != dim) step *= in.sizes[d];
  }
  return v;
}

/// `values` may be absent.
template <bool kMax>
void search(const View& in, int dim, const View& values, const View& indices) {
  const View index_shape{indices.data, in.sizes, in.strides, in.rank, DType::I64};
  const View value_shape{values.defined() ? values.data : indices.data, in.sizes, in.strides, in.rank, in.dtype};
  SubView index_lines(index_shape), value_lines(value_shape);
  const View operands[] = {in, with_dim(index_lines, in, dim).view(), with_dim(value_lines, in, dim).view()};
  Lines lines;
  lines_along(operands, dim, lines);
  const Reducer& extreme = *reducer_of(kMax ? Fold::Max : Fold::Min, in.dtype);
  const int64_t n = lines.lengths[0], stride = lines.strides[0];
  with_number_or_bool(in.dtype, [&]<class T>(T) {
    const Iteration& it = lines.starts;
    const int last = it.rank - 1;
    const bool side_by_side = it.strides[0][last] == sizeof(T) && stride != sizeof(T) &&
                              it.strides[1][last] == sizeof(int64_t) && n <= std::numeric_limits<int32_t>::max();
    for_neighbours(lines, 4, [&](char* const* at, int64_t count) {
      if constexpr (kIsWord<T>) {
        if (stride == sizeof(T) && n <= kShortRow) {
          const ExtremeRows<T> loops = TERRA_ROWS(extreme_rows, ExtremeRows, T);
          const int64_t apart = it.strides[0][last], to_next = it.strides[1][last];
          (kMax ? loops.largest : loops.smallest)(at[0], apart, count, n, at[1], to_next);
          for (int64_t i = 0; values.defined() && i < count; ++i) {
            const int64_t place = *reinterpret_cast<const int64_t*>(at[1] + i * to_next);
            *reinterpret_cast<T*>(at[2] + i * it.strides[2][last]) =
                reinterpret_cast<const T*>(at[0] + i * apart)[place];
          }
          return;
        }
      }
      for (int64_t i = 0; i < count;) {
        const char* line = at[0] + i * it.strides[0][last];
        auto* index = reinterpret_cast<int64_t*>(at[1] + i * it.strides[1][last]);
        auto* value = reinterpret_cast<T*>(at[2] + i * it.strides[2][last]);
        if (side_by_side && count - i > 1) {
          const int64_t columns = std::min(count - i, kColumns);
          T best[kColumns];
          extreme.start(best, columns);
          extreme.columns(best, line, stride, n, columns);
          find_in_columns(line, stride, n, columns, best, index);
          if (values.defined()) std::copy_n(best, columns, value);
          i += columns;
        } else {
          *index = index_of_best<kMax, T>(line, stride, n, extreme);
          if (values.defined()) *value = *reinterpret_cast<const T*>(line + *index * stride);
          ++i;
        }
      }
    });
  });
}

/// max_with_index(self, dim, keepdim) -> (values, indices).
template <bool kMax>
void with_index(const KernelCall& call) {
  const View& in = call.view(0);
  search<kMax>(in, wrapped(call.integer(1), in.rank), call.out[0], call.out[1]);
}

/// argmax(self, dim or None, keepdim): without a dimension, the place in row-major order.
template <bool kMax>
void arg(const KernelCall& call) {
  const View& in = call.view(0);
  if (call.has(1)) return search<kMax>(in, wrapped(call.integer(1), in.rank), View{}, call.out[0]);
  const int64_t n = in.numel(), one = 1;
  if (in.is_contiguous()) return search<kMax>(View{in.data, &n, &one, 1, in.dtype}, 0, View{}, call.out[0]);
  const auto bytes = std::make_unique<char[]>(static_cast<size_t>(n) * size_of(in.dtype));
  SubView packed(in);
  for (int64_t d = in.rank - 1, step = 1; d >= 0; --d) {
    packed.set_stride(static_cast<int>(d), step);
    step *= in.sizes[d];
  }
  const View copy = packed.view();
  copy_elements(View{bytes.get(), copy.sizes, copy.strides, copy.rank, in.dtype}, in);
  search<kMax>(View{bytes.get(), &n, &one, 1, in.dtype}, 0, View{}, call.out[0]);
}

constexpr Kernel kKernels[] = {
    {.op = "argmax", .run = arg<true>},
    {.op = "argmin", .run = arg<false>},
    {.op = "max_with_index", .run = with_index<true>},
    {.op = "min_with_index", .run = with_index<false>},
};

}  // namespace

std::span<const Kernel> arg_reduction_kernels() { return kKernels; }

}  // namespace terra::cpu
