// Lines: the one-dimensional parts of views along a dimension, for kernels that treat each on its own.
#pragma once
#include <cstdint>
#include <span>

#include "kernels/abi/parallel.h"
#include "kernels/cpu/iteration.h"
#include "kernels/cpu/subview.h"

namespace terra::cpu {

/// The lines of several views of one shape but for dimension `dim`. Operand p of `starts` walks the beginnings of the
/// lines of views[p]; strides[p] is the step along a line in bytes.
struct Lines {
  Iteration starts;
  int64_t strides[kMaxOperands];
  int64_t lengths[kMaxOperands];
};

/// A 0-d view is one line of length 1.
inline void lines_along(std::span<const View> views, int dim, Lines& lines) {
  Iteration& it = lines.starts;
  it.operands = static_cast<int>(views.size());
  it.rank = 0;
  it.numel = 1;
  for (size_t p = 0; p < views.size(); ++p) {
    it.data[p] = views[p].bytes();
    lines.strides[p] = views[p].rank == 0 ? 0 : views[p].strides[dim] * static_cast<int64_t>(size_of(views[p].dtype));
    lines.lengths[p] = views[p].rank == 0 ? 1 : views[p].sizes[dim];
  }
  for (int d = 0; d < views[0].rank; ++d) {
    if (d == dim) continue;
    it.numel *= views[0].sizes[d];
    if (views[0].sizes[d] == 1) continue;
    it.sizes[it.rank] = views[0].sizes[d];
    for (size_t p = 0; p < views.size(); ++p) {
      it.strides[p][it.rank] = views[p].strides[d] * static_cast<int64_t>(size_of(views[p].dtype));
    }
    ++it.rank;
  }
  simplify(it);
}

/// Calls body(pointers, n) for every n lines that begin lines.starts.strides[p][rank - 1] bytes apart, in parallel; an
/// element of a line costs `quarter_ns` quarter nanoseconds.
template <class Body>
void for_neighbours(const Lines& lines, int64_t quarter_ns, Body body) {
  const Iteration& it = lines.starts;
  int64_t longest = 1;
  for (int p = 0; p < it.operands; ++p) longest = lines.lengths[p] > longest ? lines.lengths[p] : longest;
  const int64_t grain = grain_for_cost(quarter_ns) / longest;
  parallel_for(it.numel, grain > 0 ? grain : 1, [&](int64_t begin, int64_t end) { for_rows(it, begin, end, body); });
}

/// Calls body(pointers) for every line, in parallel.
template <class Body>
void for_lines(const Lines& lines, int64_t quarter_ns, Body body) {
  const Iteration& it = lines.starts;
  for_neighbours(lines, quarter_ns, [&](char* const* at, int64_t n) {
    char* line[kMaxOperands];
    for (int64_t i = 0; i < n; ++i) {
      for (int p = 0; p < it.operands; ++p) line[p] = at[p] + i * it.strides[p][it.rank - 1];
      body(static_cast<char* const*>(line));
    }
  });
}

}  // namespace terra::cpu
