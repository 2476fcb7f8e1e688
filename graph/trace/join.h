// Paths of one region that come to the same places: what they do between two places is there once for each way.
#pragma once
#include <vector>

#include "graph/trace/merge.h"
#include "graph/trace/trace.h"

namespace terra::graph {

/// What one path does from a place to the next one, or to its end. An inner segment publishes nothing; its results are
/// what the program holds at the place that it comes to, as far as anybody needs it, the truth (a scalar) last.
/// Segments behind take these, in order, as further inputs behind those of the path's runs.
struct Segment {
  Program program;
  uint32_t path = 0;          ///< whose inputs it has, and whose end where it is the last
  uint32_t assert_index = 0;  ///< in that path's trace: what decides behind it
  bool last = false;
  int next[2] = {-1, -1};  ///< segments by truth; -1: no path went that way
};

/// The first segment begins the region. Unlike a tree of paths (merge.h), segments that come to the same place go on
/// with the same segments: `k` branches one after the other have 2k segments, and runs may go ways that no path went as
/// a whole.
///
/// `traces` are what the programs were built of, with cuts. Empty where no two paths meet again, where one does
/// anything but to make results (writes, gradients: what has been done at a place would have to be the same), or where
/// what is held at a place shares memory with something else.
std::vector<Segment> join_paths(const std::vector<const Trace*>& traces, const std::vector<Path>& paths);

}  // namespace terra::graph
