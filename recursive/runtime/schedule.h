// Which calls run together: those that are at the same stage of the same path and wait for nothing but what has run.
#pragma once
#include <functional>
#include <vector>

#include "recursive/batching/stages.h"
#include "recursive/runtime/forest.h"

namespace terra::recursive {

/// Rows [first, first + count) of the order in which a stage's calls run.
struct Batch {
  uint32_t path = 0;  ///< in Schedule::paths
  uint32_t stage = 0;
  uint32_t first = 0, count = 0;
};

/// A path that some call of the forest takes.
struct ScheduledPath {
  const SubGraph* of = nullptr;
  uint32_t number = 0;  ///< which path of the SubGraph
  StagedPath* staged = nullptr;
  const std::vector<CallId>* calls = nullptr;
  /// By stage and by row of the path: where the call comes in the order of that stage.
  std::vector<std::vector<uint32_t>> place;
  /// By stage and by that place: the call.
  std::vector<std::vector<CallId>> order;

  /// Rows of what belongs to no stage (before, after) are ordered like those of the last one.
  uint32_t order_of(Moment m) const {
    const bool staged_moment = m.phase == Moment::Phase::Forward || m.phase == Moment::Phase::Backward;
    return staged_moment ? m.stage : static_cast<uint32_t>(order.size()) - 1;
  }
};

/// Levels as in a topological order: a stage of a call comes one level behind all that it waits for. Within a level the
/// calls of a path are one batch. Backward the batches run in reverse.
struct Schedule {
  /// `staged` compiles a path that is met.
  Schedule(const SubGraphs& graphs, const Forest& forest,
           const std::function<StagedPath&(const SubGraph&, uint32_t path)>& staged);

  std::vector<ScheduledPath> paths;
  std::vector<std::vector<uint32_t>> number;  ///< by graph and path: in `paths`
  std::vector<Batch> batches;                 ///< in the order in which they run

  const ScheduledPath& path_of(const Call& call) const { return paths[number[call.callee][call.path]]; }
};

}  // namespace terra::recursive
