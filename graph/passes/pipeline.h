// The passes, in order.
#pragma once
#include <string>
#include <vector>

#include "graph/ir/graph.h"

namespace terra::graph {

/// A pass rewrites a graph into one that means the same; returns whether it changed anything.
using PassFunction = bool (*)(Graph& graph);

/// When a pass runs: on the whole graph, or on what is run at once (the halves of a pair, after the cut).
enum class Phase : uint8_t { Whole, Part };

struct Pass {
  const char* name;
  const char* why;
  PassFunction run;
  Phase phase;
  bool reassociates = false;  ///< may change the last bits of a result: not in exact mode
};

const std::vector<Pass>& pipeline();

/// Runs the passes of a phase, in the bodies of nodes first, then in the graphs that are called; those that aren't go.
/// TERRA_PASSES=-fuse,-simplify switches passes off by name; in debug builds the verifier stands behind each pass.
void optimize(Graph& graph, Phase phase);

}  // namespace terra::graph
