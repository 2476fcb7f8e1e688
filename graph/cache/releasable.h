// What about a program's body allows other threads to go on while it runs.
#pragma once
#include <cstddef>
#include <vector>

#include "graph/trace/program.h"

namespace terra::graph {

struct Releasable {
  Releasable(const Program& program, const Graph& graph);

  /// False: code runs in it that relies on the host's lock.
  bool at_all = false;
  /// Graph inputs that a released body reads copies of. Kernels that look elements up rely on indices that they, or
  /// other kernels, have checked before, and would leave their memory if another thread wrote there in between. What
  /// such a write does to other numbers shows in the version, after the run.
  std::vector<size_t> copied;
  /// How long it takes depends on the values of the run.
  bool varies = false;
};

}  // namespace terra::graph
