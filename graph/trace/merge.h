// Programs of paths that one region took, merged where they agree.
#pragma once
#include <memory>
#include <vector>

#include "graph/trace/program.h"

namespace terra::graph {

/// A tree of programs: an inner node computes what the paths below it share, up to a truth on which they part; a leaf
/// is the rest of one path.
///
/// An inner node publishes nothing and has the results that the programs below it take over, the truth (a scalar) last.
/// Programs below take them as further inputs: behind the tensors (scalars) of their own run come those of the results
/// of all nodes above, outermost first, without the truths. Views are not taken over but derived again.
struct MergedPaths {
  Program program;
  std::vector<uint32_t> leaves;  ///< numbers of the paths that go through here; one at a leaf

  // Inner nodes.
  std::unique_ptr<MergedPaths> cases[2];  ///< by truth
  uint32_t assert_index = 0;              ///< number in the traces of the assert on which they part
  /// For each leaf of `leaves`: which of its run's tensors (scalars) are this program's, in order.
  std::vector<std::vector<uint32_t>> tensors_of, scalars_of;
};

/// One path: its program, and how many tensors and scalars its runs come with (not all of them need be graph inputs).
struct Path {
  Program program;
  uint32_t tensors = 0, scalars = 0;
};

/// Costs nothing where its operand is there: rather made again than handed on.
bool is_derived_again(const Node& node);
/// Makes a value a result of the program: a tensor with memory of its own, or a scalar.
void hand_out(Program& program, ValueId value);

/// Replaying is deterministic, so that paths of one region agree node by node up to an assert that expects different
/// truths. The programs are as `build` makes them, without differentiable results. Throws InternalError when they are
/// not paths of one region, or two are the same path.
MergedPaths merge_paths(std::vector<Path> paths);

}  // namespace terra::graph
