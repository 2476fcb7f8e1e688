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
  /// By order and by row of the path: where the call comes in it. There is one order for each stage.
  std::vector<std::vector<uint32_t>> place;
  /// By order and by that place: the call.
  std::vector<std::vector<CallId>> order;
  uint32_t outer_order = 0;  ///< of what belongs to no stage (before, after)

  uint32_t order_of(Moment m) const {
    const bool staged_moment = m.phase == Moment::Phase::Forward || m.phase == Moment::Phase::Backward;
    return staged_moment ? m.stage : outer_order;
  }
};

/// Levels as in a topological order: a stage of a call comes one level behind all that it waits for. Within a level the
/// calls of a path are one batch. Backward the batches run in reverse.
class Schedule {
 public:
  using Staged = std::function<StagedPath&(const SubGraph&, uint32_t path)>;

  explicit Schedule(const SubGraphs& graphs);

  /// Gives levels, behind all those there are, to whatever waits only for calls of the forest, and the new batches
  /// their places. `staged` compiles a path that is met. Where tensors choose ways, stages behind which a call makes no
  /// more calls wait until `all`: then they run for all calls at once, and not whenever some structure ends.
  void extend(const Forest& forest, const Staged& staged, bool all);
  /// The stage has got its level.
  bool has_level(CallId id, uint32_t stage) const { return calls_[id].stage > stage; }

  std::vector<ScheduledPath> paths;
  std::vector<std::vector<uint32_t>> number;  ///< by graph and path: in `paths`; kNone: no call takes it
  std::vector<Batch> batches;                 ///< in the order in which they run

  static constexpr uint32_t kNone = ~0u;
  const ScheduledPath& path_of(const Call& call) const { return paths[number[call.callee][call.path]]; }

 private:
  /// How far a call has got.
  struct Progress {
    bool begun = false;
    uint32_t stage = 0;    ///< the next one to get its level
    uint32_t waits = 0;    ///< the level of what that waits for
    uint32_t pending = 0;  ///< calls without levels that it waits for
    uint32_t levels = 0;   ///< in levels_: where those of its stages begin
  };
  /// A stage of a call that has got its level.
  struct Task {
    CallId call;
    uint32_t stage, level;
  };

  void add_path(const SubGraph& of, uint32_t path, const Forest& forest, const Staged& staged);
  void put(CallId id, const Call& call, uint32_t order);
  void begin(CallId id, uint32_t level);
  void advance(const Forest& forest, CallId id, bool all);
  void place_tasks(const Forest& forest);
  uint32_t level(CallId id, uint32_t stage) const { return levels_[calls_[id].levels + stage]; }

  const bool grows_;                   // by what tensors hold
  std::vector<uint32_t> first_stage_;  // by path: the number of its first stage among all
  std::vector<Progress> calls_;
  std::vector<uint32_t> levels_;
  std::vector<CallId> ready_;  // the last one goes on first
  std::vector<CallId> late_;   // those that wait until everything runs
  std::vector<Task> tasks_;    // new ones
  uint32_t stages_ = 0;
  uint32_t done_ = 0;  // the last level of earlier extensions
};

}  // namespace terra::recursive
