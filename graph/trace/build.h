// From a trace to a graph.
#pragma once
#include "graph/trace/program.h"
#include "graph/trace/trace.h"

namespace terra::graph {

/// Replays the trace on symbolic tensors. `joint`: results that have a history leading to inputs get tangent inputs,
/// and the gradients of those inputs become outputs (empty `differentiable` if there are none). Throws InternalError
/// with a sentence for what can't be expressed, and Error for what the ops refuse.
Program build(const Trace& trace, bool joint);

}  // namespace terra::graph
