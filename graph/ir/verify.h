// Checks that a graph is what its stage promises.
#pragma once
#include <string>

#include "graph/ir/graph.h"

namespace terra::graph {

/// Stages of a graph's life; what each allows is a table in verify.cpp.
enum class Stage : uint8_t {
  Captured,   ///< as built from a trace
  Optimized,  ///< after the pipeline: fused nodes as well
  Portable,   ///< as Optimized, without handles, host calls and generators of the program's own: serialises, needs no
              ///< host
};

/// The first violation as a sentence, or empty: of the graph, then of its table's.
std::string find_violation(const Graph& graph, Stage stage);
/// Throws InternalError naming `when` ("after pass fuse") and the violation.
void verify(const Graph& graph, Stage stage, const char* when);

}  // namespace terra::graph
