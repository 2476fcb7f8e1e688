// Order along a dimension: sort, topk. Both are stable and take NaN for the greatest value.
#include <algorithm>
#include <vector>

#include "kernels/cpu/along.h"
#include "kernels/cpu/dtype_dispatch.h"
#include "kernels/cpu/families.h"

namespace terra::cpu {

namespace {

/// The total order of values: by number, NaN last.
template <class T>
bool before(T a, T b) {
  return a < b || (b != b && a == a);
}

template <class T>
struct Entry {
  T value;
  int64_t index;
};

/// Sorts the first `kept` entries into place; equal values stay in the order of their indices.
template <class T>
void order(std::vector<Entry<T>>& entries, int64_t kept, bool descending) {
  const auto precedes = [descending](const Entry<T>& a, const Entry<T>& b) {
    const bool less = descending ? before(b.value, a.value) : before(a.value, b.value);
    const bool more = descending ? before(a.value, b.value) : before(b.value, a.value);
    return less || (!more && a.index < b.index);
  };
  const auto end = entries.begin() + kept;
  if (kept * 8 < static_cast<int64_t>(entries.size()))
    std::partial_sort(entries.begin(), end, entries.end(), precedes);
  else
    std::sort(entries.begin(), entries.end(), precedes);
}

void sort_lines(const KernelCall& call, int64_t dim, bool descending) {
  const View& in = call.view(0);
  const View operands[] = {in, call.out[0], call.out[1]};
  if (call.out[0].numel() == 0) return;
  Lines lines;
  lines_along(operands, in.rank == 0 ? 0 : wrapped(dim, in.rank), lines);
  const auto sort_all = [&]<class T>(T) {
    for_lines(lines, 200, [&](char* const* at) {
      const int64_t n = lines.lengths[0], kept = lines.lengths[1];
      std::vector<Entry<T>> entries(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i) {
        entries[static_cast<size_t>(i)] = {*reinterpret_cast<const T*>(at[0] + i * lines.strides[0]), i};
      }
      order(entries, kept, descending);
      for (int64_t i = 0; i < kept; ++i) {
        *reinterpret_cast<T*>(at[1] + i * lines.strides[1]) = entries[static_cast<size_t>(i)].value;
        *reinterpret_cast<int64_t*>(at[2] + i * lines.strides[2]) = entries[static_cast<size_t>(i)].index;
      }
    });
  };
  if (in.dtype == DType::Bool)
    sort_all(bool{});
  else
    with_number(in.dtype, sort_all);
}

/// sort(self, dim, descending) -> (values, indices).
void sort(const KernelCall& call) { sort_lines(call, call.integer(1), call.flag(2)); }

/// topk(self, k, dim, largest, sorted) -> (values, indices), always sorted.
void topk(const KernelCall& call) { sort_lines(call, call.integer(2), call.flag(3)); }

constexpr Kernel kKernels[] = {{.op = "sort", .run = sort}, {.op = "topk", .run = topk}};

}  // namespace

std::span<const Kernel> sort_kernels() { return kKernels; }

}  // namespace terra::cpu
