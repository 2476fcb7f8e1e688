// What a profile shows of a graph's run: the run, and each of its steps.
#pragma once
#include "engine/profile/scope.h"
#include "graph/executor/instance.h"

namespace terra::graph {

/// "terra::graph train_step" and, of its tail, "terra::commit train_step"; from the program's line that its first node
/// comes from.
profile::Subject subject_of(const Graph& graph, bool tail);
/// The op as eager execution calls it, "terra::fused(mul, add)" for ops that one loop computes. None where memory comes
/// or goes.
profile::Subject subject_of(const Instruction& instruction, const Graph& graph);

}  // namespace terra::graph
