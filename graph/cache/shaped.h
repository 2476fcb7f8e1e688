// One trace, several instances: a graph, a plan and memory for each set of sizes and structural numbers that comes.
#pragma once
#include <memory>

#include "graph/cache/compiled.h"

namespace terra::graph {

/// Whether another run of the trace may come with other sizes, or with other numbers where a size or an index stands.
bool has_free_shapes(const Trace& trace);

/// `recorded` is the instance for the sizes of the recorded run.
std::shared_ptr<Compiled> make_shaped(std::shared_ptr<const Trace> trace, std::shared_ptr<Compiled> recorded);

}  // namespace terra::graph
