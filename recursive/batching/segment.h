// What runs at one moment, for some rows of a path.
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "recursive/batching/row_graph.h"
#include "recursive/batching/sub_graphs.h"

namespace terra::recursive {

/// A stretch of a joint graph. Values are those of the joint graph.
struct SegmentParts {
  graph::Graph first;
  std::shared_ptr<const graph::Graph> second;  ///< for another number of rows; null: one row at a time
  int64_t rows = 0, more_rows = 0;
  std::vector<bool> flows;  ///< by value: a function of tangents
};

struct Segment {
  explicit Segment(SegmentParts parts);

  /// The same where gradients that it reads are undefined, by input: it has fewer outputs. Itself where zeros in their
  /// place do.
  Segment& where_undefined(const std::vector<bool>& inputs_undefined);

  RowGraph graph;
  std::vector<ValueId> inputs, outputs;
  std::vector<ValueId> undefined;  ///< what would be outputs, were all inputs defined

 private:
  SegmentParts parts_;
  std::map<std::vector<bool>, std::unique_ptr<Segment>> others_;  // null: itself
};

}  // namespace terra::recursive
