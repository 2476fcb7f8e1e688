// Products with matrices that are given by their entries.
#include <algorithm>
#include <type_traits>

#include "kernels/abi/dtype_dispatch.h"
#include "kernels/abi/parallel.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/indirect.h"
#include "kernels/cpu/isa/rows.h"
#include "kernels/cpu/scratch.h"

namespace terra::cpu {

namespace {

/// Entries of a matrix, in any order.
template <class T>
struct Entries {
  const int64_t *rows, *columns;
  const T* values;
};

/// out[row, begin..end) += value * dense[column, begin..end) for each of the entries first..last, in their order.
template <class T>
void add_entries(const Entries<T>& entries, int64_t first, int64_t last, const T* dense, T* out, int64_t width,
                 int64_t begin, int64_t end) {
  for (int64_t e = first; e < last; ++e) {
    const T value = entries.values[e];
    const T* x = dense + entries.columns[e] * width;
    T* sum = out + entries.rows[e] * width;
    for (int64_t k = begin; k < end; ++k) sum[k] = static_cast<T>(sum[k] + value * x[k]);
  }
}

/// The same for whole rows, of entries in the order of their rows: the entries of a row four at a time, or in one sum.
template <class T>
void add_rows(const Entries<T>& entries, int64_t first, int64_t last, const T* dense, T* out, int64_t width) {
  if constexpr (std::is_arithmetic_v<T>) {
    const ScaledRows<T> loops = TERRA_ROWS(scaled_rows, ScaledRows, T);
    while (first < last) {
      const int64_t row = entries.rows[first];
      int64_t end = first + 1;
      while (end < last && entries.rows[end] == row) ++end;
      if (width == 1) {
        T sum{};
        for (int64_t e = first; e < end; ++e) sum = static_cast<T>(sum + entries.values[e] * dense[entries.columns[e]]);
        out[row] = sum;
        first = end;
        continue;
      }
      for (; first + 4 <= end; first += 4) {
        const T* lines[4];
        for (int64_t q = 0; q < 4; ++q) lines[q] = dense + entries.columns[first + q] * width;
        loops.add_four(out + row * width, lines, entries.values + first, width);
      }
      add_entries(entries, first, end, dense, out, width, 0, width);
      first = end;
    }
  } else {
    add_entries(entries, first, last, dense, out, width, 0, width);
  }
}

/// coo_mm(rows, columns, values, dense, size). Entries in the order of their rows are split where a row ends. Of others
/// each thread reads all and owns some columns of the result. Sums are the same for any number of threads.
void coo_mm_in(const KernelCall& call, Scratch& scratch) {
  const View& out = call.out[0];
  with_real_or_complex(out.dtype, [&]<class T>(T) {
    Entries<T> entries{nullptr, nullptr, scratch.contiguous<T>(call.view(2))};
    const T* dense = scratch.contiguous<T>(call.view(3));
    if (scratch.counting()) return;
    const int64_t n = call.view(0).numel(), width = out.sizes[1];
    const auto rows = read_indices(call.view(0)), columns = read_indices(call.view(1));
    check_indices(rows.get(), n, {0, out.sizes[0], false, KernelError::Kind::Index, out_of_bounds});
    check_indices(columns.get(), n, {1, call.view(3).sizes[0], false, KernelError::Kind::Index, out_of_bounds});
    entries.rows = rows.get();
    entries.columns = columns.get();
    T* sums = out.as<T>();
    std::fill_n(sums, out.numel(), T{});
    const int64_t products = grain_for_cost(2);
    if (std::is_sorted(entries.rows, entries.rows + n)) {
      const auto start_of_row = [&](int64_t e) {
        return e == 0 || e == n ? e : std::lower_bound(entries.rows, entries.rows + n, entries.rows[e]) - entries.rows;
      };
      parallel_for(n, std::max<int64_t>(1, products / std::max<int64_t>(1, width)), [&](int64_t begin, int64_t end) {
        add_rows(entries, start_of_row(begin), start_of_row(end), dense, sums, width);
      });
    } else {
      parallel_for(width, std::max<int64_t>(8, products / std::max<int64_t>(1, n)),
                   [&](int64_t begin, int64_t end) { add_entries(entries, 0, n, dense, sums, width, begin, end); });
    }
  });
}

constexpr Kernel kKernels[] = {scratch_kernel<coo_mm_in>("coo_mm")};

}  // namespace

std::span<const Kernel> sparse_kernels() { return kKernels; }

}  // namespace terra::cpu
