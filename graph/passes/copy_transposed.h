// Matrices that many small products take the other way round.
#pragma once
#include "graph/ir/graph.h"

namespace terra::graph {

/// A product of few rows reads its second operand once, and a library does so at 2/3 of its speed where that is
/// transposed. t(w) or a part of it, the second operand of many products of few rows (the gradients of a recurrent
/// net's steps), is copied once into the order that they read. A library may add up in another order then: exact mode
/// does without.
bool copy_transposed(Graph& graph);

}  // namespace terra::graph
