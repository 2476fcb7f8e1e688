// Chooses the updates of program state that may run after the commit point, on the state's own memory.
#pragma once
#include <vector>

#include "graph/executor/plan.h"

namespace terra::graph {

/// Which nodes form the tail, and for each graph output that is a write whether a tail node makes it in place.
///
/// A node is chosen iff it makes the final value of an input elementwise from the input's old value (an update, an
/// elementwise op, a fused chain, a write to a view), it can't fail, all its results are such final values, nothing
/// else uses them, and every other reader of the old value runs in the body or earlier in the tail.
struct CommitChoice {
  std::vector<bool> in_tail;           ///< by node
  std::vector<bool> written_in_place;  ///< by graph output
};
CommitChoice choose_commits(const Graph& graph, const std::vector<OutputRole>& roles,
                            const std::vector<Dims>& input_strides);

/// The argument whose value result `r` of a node replaces (op.writes, the first operand of an in-place elementwise op
/// that equals `old`, the base of a write_view), or kNoId.
ValueId replaced_operand(const Graph& graph, const Node& node, size_t r);

/// True iff the node can't fail whatever the values are.
bool cannot_fail(const Node& node);

/// True iff the node reads its argument `arg` for the last time no later than it makes result `r`, so that the two may
/// share memory as far as order is concerned.
bool read_before_made(const Node& node, size_t arg, size_t r);

/// True iff the node is one elementwise op or a fused chain, run by the tiled interpreter.
bool is_elementwise_node(const Node& node);

}  // namespace terra::graph
