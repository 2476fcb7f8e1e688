#include "kernels/cpu/iteration.h"

#include <algorithm>
#include <utility>

namespace terra::cpu {

namespace {

int64_t magnitude(int64_t stride) { return stride < 0 ? -stride : stride; }

void swap_dims(Iteration& it, int a, int b) {
  std::swap(it.sizes[a], it.sizes[b]);
  for (int p = 0; p < it.operands; ++p) std::swap(it.strides[p][a], it.strides[p][b]);
}

/// Insertion sort: outer dimensions first have the larger steps in operand 0, then in operand 1. Stable, and one
/// comparison per dimension in the usual case of a contiguous output.
void order_by_first(Iteration& it) {
  const auto steps_more = [&](int a, int b) {
    const int64_t x = magnitude(it.strides[0][a]), y = magnitude(it.strides[0][b]);
    if (x != y || it.operands < 2) return x > y;
    return magnitude(it.strides[1][a]) > magnitude(it.strides[1][b]);
  };
  for (int i = 1; i < it.rank; ++i) {
    for (int j = i; j > 0 && steps_more(j, j - 1); --j) swap_dims(it, j, j - 1);
  }
}

/// Merges dimension d into the last kept one where every operand steps over both alike.
void merge_dims(Iteration& it) {
  int kept = 0;
  for (int d = 1; d < it.rank; ++d) {
    bool alike = true;
    for (int p = 0; p < it.operands; ++p) alike &= it.strides[p][kept] == it.strides[p][d] * it.sizes[d];
    if (alike) {
      it.sizes[kept] *= it.sizes[d];
    } else {
      it.sizes[++kept] = it.sizes[d];
    }
    for (int p = 0; p < it.operands; ++p) it.strides[p][kept] = it.strides[p][d];
  }
  it.rank = kept + 1;
}

}  // namespace

void collapse(const View& out, std::span<const View> inputs, Iteration& it) {
  it.operands = 1 + static_cast<int>(inputs.size());
  it.rank = 0;
  it.numel = 1;
  it.data[0] = out.bytes();
  for (size_t p = 0; p < inputs.size(); ++p) it.data[p + 1] = inputs[p].bytes();
  for (int d = 0; d < out.rank; ++d) {
    it.numel *= out.sizes[d];
    if (out.sizes[d] == 1) continue;
    it.sizes[it.rank] = out.sizes[d];
    it.strides[0][it.rank] = out.strides[d] * static_cast<int64_t>(size_of(out.dtype));
    for (size_t p = 0; p < inputs.size(); ++p) {
      const View& input = inputs[p];
      const int own = d - (out.rank - input.rank);
      const bool repeats = own < 0 || input.sizes[own] == 1;
      it.strides[p + 1][it.rank] = repeats ? 0 : input.strides[own] * static_cast<int64_t>(size_of(input.dtype));
    }
    ++it.rank;
  }
  simplify(it);
}

void rows_of(const Iteration& it, Iteration& rows) {
  rows.operands = it.operands;
  rows.rank = it.rank - 1;
  rows.numel = it.numel / it.sizes[rows.rank];
  std::copy_n(it.sizes, rows.rank, rows.sizes);
  for (int p = 0; p < it.operands; ++p) {
    rows.data[p] = it.data[p];
    std::copy_n(it.strides[p], rows.rank, rows.strides[p]);
  }
}

void simplify(Iteration& it, bool keep_order) {
  if (it.rank == 0) {
    it.rank = 1;
    it.sizes[0] = 1;
    for (int p = 0; p < it.operands; ++p) it.strides[p][0] = 0;
    return;
  }
  if (!keep_order) order_by_first(it);
  merge_dims(it);
}

}  // namespace terra::cpu
