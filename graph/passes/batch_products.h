// Products with one matrix, none of which waits for another.
#pragma once
#include "graph/ir/graph.h"

namespace terra::graph {

/// A loop over time multiplies a row, or a few, by the same matrix in each round, and each time the whole matrix is
/// read for them. Those rows that are known without the results of the other rounds are multiplied together:
///
///     a1 @ w, a2 @ w, ...                    ->  cat(a1, a2, ...) @ w, and its rows
///     cat(a1, h1; columns) @ w,              ->  p = cat(a1, a2, ...) @ w[upper rows],
///     cat(a2, h2; columns) @ w, ...              p[rows] + h1 @ w[lower rows], ...     where only the h wait
///     (g1 @ w)[:, columns], (g2 @ w)[...     ->  cat(g1, g2, ...) @ w[:, columns], and its rows
///
/// and the same for addmm and linear. Which rows wait for which results is asked of the whole graph: a product stands
/// at the level of how many of its kind lie on the longest way to its rows, and a level is one product for each part of
/// the run that its rows wait for (Graph::late_inputs). Libraries add up in another order for other numbers of rows:
/// exact mode does without.
bool batch_products(Graph& graph);

}  // namespace terra::graph
