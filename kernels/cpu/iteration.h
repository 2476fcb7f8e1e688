// The common iteration space of several strided operands, with as few dimensions as possible.
#pragma once
#include <cstdint>
#include <span>

#include "kernels/abi/view.h"

namespace terra::cpu {

/// Operands of one kernel: the output first, then the inputs.
inline constexpr int kMaxOperands = 8;
inline constexpr int kMaxViewRank = 64;

/// Element (i0, ..., ik) of operand p lies at data[p] + i0 * strides[p][0] + ... (bytes). The innermost dimension is
/// the last one; there is at least one.
struct Iteration {
  int operands = 0;
  int rank = 0;
  int64_t numel = 0;
  int64_t sizes[kMaxViewRank];
  char* data[kMaxOperands];
  int64_t strides[kMaxOperands][kMaxViewRank];
};

/// Broadcasts `inputs` to the shape of `out`, drops dimensions of size 1, orders the others by the strides of `out` and
/// merges those that step alike in all operands. Only the fields named by the result's rank are set.
void collapse(const View& out, std::span<const View> inputs, Iteration& it);

/// The second half of that for a space whose fields are all set, without dimensions of size 1: orders dimensions by the
/// strides of operand 0 (or keeps the order), then merges. A space of rank 0 becomes one dimension of size 1.
void simplify(Iteration& it, bool keep_order = false);

/// The space of the rows of `it`, which has several: its dimensions but for the innermost one.
void rows_of(const Iteration& it, Iteration& rows);

/// Walks the elements [begin, end) of the space in pieces of the innermost dimension: body(pointers, n) with one
/// pointer per operand. Strides within a piece are it.strides[p][it.rank - 1]. An empty range is no piece, whatever the
/// space.
template <class Body>
void for_rows(const Iteration& it, int64_t begin, int64_t end, Body body) {
  if (begin >= end) return;
  const int last = it.rank - 1, outer = last > 0 ? last - 1 : last;
  int64_t index[kMaxViewRank];
  char* at[kMaxOperands] = {};
  int64_t step[kMaxOperands] = {};  // to the next row
  for (int p = 0; p < it.operands; ++p) {
    at[p] = it.data[p];
    step[p] = it.strides[p][outer];
  }
  int64_t rest = begin;
  for (int d = last; d >= 0; --d) {
    index[d] = rest % it.sizes[d];
    rest /= it.sizes[d];
    for (int p = 0; p < it.operands; ++p) at[p] += index[d] * it.strides[p][d];
  }
  const int64_t width = it.sizes[last];
  int64_t left = end - begin;
  if (index[last] > 0 || left < width) {  // a part of a row
    const int64_t n = width - index[last] < left ? width - index[last] : left;
    body(static_cast<char* const*>(at), n);
    left -= n;
    if (left == 0) return;
    for (int p = 0; p < it.operands; ++p) at[p] += step[p] - index[last] * it.strides[p][last];
    ++index[outer];
  }
  while (true) {
    for (; index[outer] < it.sizes[outer]; ++index[outer]) {
      body(static_cast<char* const*>(at), width < left ? width : left);
      left -= width;
      if (left <= 0) return;
      for (int p = 0; p < kMaxOperands; ++p) at[p] += step[p];
    }
    for (int d = outer;; --d) {
      for (int p = 0; p < it.operands; ++p) at[p] -= index[d] * it.strides[p][d];
      index[d] = 0;
      ++index[d - 1];
      for (int p = 0; p < it.operands; ++p) at[p] += it.strides[p][d - 1];
      if (index[d - 1] < it.sizes[d - 1]) break;
    }
  }
}

}  // namespace terra::cpu
