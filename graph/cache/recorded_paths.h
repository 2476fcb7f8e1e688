// Paths of a region as programs, for runs whose tensors are laid out as when they were recorded.
#pragma once
#include <vector>

#include "graph/trace/merge.h"
#include "graph/trace/trace.h"

namespace terra::graph {

struct TensorLayout {
  DType dtype;
  Dims sizes, strides;
  int64_t offset;
};
using PathLayout = std::vector<TensorLayout>;  ///< by tensor of the path's runs

bool fit(const PathLayout& layout, const std::vector<TensorImpl*>& tensors);

struct RecordedPaths {
  std::vector<Path> paths;
  std::vector<PathLayout> layouts;
};
/// `cuts`: with the values of the traces' marks. Throws InternalError for traces that have instances of their own.
RecordedPaths read_paths(const std::vector<const Trace*>& traces, bool cuts);

}  // namespace terra::graph
