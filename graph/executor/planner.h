// Decides where every value lies and in which order things happen.
#pragma once
#include <optional>

#include "graph/executor/plan.h"

namespace terra::graph {

struct PlanRequest {
  std::vector<OutputRole> roles;    ///< one per graph output
  std::vector<Dims> input_strides;  ///< one per graph input; empty: contiguous
  std::optional<Device> device;     ///< of the graph around this one; none: that of the tensors
  std::vector<bool> consumable;     ///< by graph input, where there are any: its memory may go behind its last reader
};

/// The graph must be verified. Throws InternalError for a node that can't be executed.
Plan make_plan(Graph graph, PlanRequest request);

}  // namespace terra::graph
