// Terms of long sums that one op computes together.
#pragma once
#include "graph/ir/graph.h"

namespace terra::graph {

/// A parameter that a program uses many times gets its gradient as a long sum of small terms. Terms of one kind become
/// one:
///
///     t(a1) @ b1 + t(a2) @ b2 + ...        ->  t(cat(a1, a2, ...)) @ cat(b1, b2, ...)      one product per weight
///     a1 @ b1 + a2 @ b2 + ...              ->  cat(a1, a2, ...; columns) @ cat(b1, b2, ...)
///     sum(b1; rows) + sum(b2; rows) + ...  ->  sum(cat(b1, b2, ...); rows)                 one sum per bias
///     slices of zeros that tile the whole  ->  cat(slices)                                 chunk, split, unbind
///     backward
///
/// Additions are reordered, and -0 + 0 becomes -0: exact mode does without. The nodes of the terms stay for
/// drop_dead_code.
bool merge_sums(Graph& graph);

}  // namespace terra::graph
