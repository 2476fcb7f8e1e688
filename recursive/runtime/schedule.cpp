#include "recursive/runtime/schedule.h"

#include <algorithm>

namespace terra::recursive {
namespace {

/// Goes through the calls in the order of the program, and gives each stage of each its level.
class Levels {
 public:
  Levels(const Forest& forest, const Schedule& schedule) : forest_(forest), schedule_(schedule), first_(forest.size()) {
    size_t stages = 0;
    for (CallId id = 0; id < forest.size(); ++id) {
      first_[id] = static_cast<uint32_t>(stages);
      stages += staged(id).stages;
    }
    levels_.resize(stages);
    done_.resize(forest.size());
  }

  void run() {
    for (CallId root : forest_.roots()) {
      begin(root, 0);
      while (!stack_.empty()) advance();
    }
  }

  uint32_t level(CallId id, uint32_t stage) const { return levels_[first_[id] + stage]; }
  uint32_t most() const { return most_; }

 private:
  struct Frame {
    CallId call;
    uint32_t stage;  ///< the next one to get its level
    uint32_t waits;  ///< the level of what that waits for
    uint32_t site;   ///< the next call that may be made before it
  };

  const StagedPath& staged(CallId id) const { return *schedule_.path_of(forest_[id]).staged; }

  void begin(CallId id, uint32_t level) { stack_.push_back({id, 0, level, 0}); }

  /// The frame makes its next call, goes on to its next stage, or ends.
  void advance() {
    Frame& f = stack_.back();
    const StagedPath& path = staged(f.call);
    if (f.stage > 0) {
      for (; f.site < path.called_at.size(); ++f.site) {
        if (path.called_at[f.site] != f.stage - 1) continue;
        const CallId callee = forest_.called(forest_[f.call], f.site++);
        return begin(callee, staged(callee).has_arguments ? level(f.call, f.stage - 1) : 0);
      }
    }
    if (f.stage == path.stages) return end();
    const bool runs = f.stage > 0 || path.begins;
    levels_[first_[f.call] + f.stage] = f.waits + (runs ? 1 : 0);
    f.waits = level(f.call, f.stage);
    most_ = std::max(most_, f.waits);
    ++f.stage;
    f.site = 0;
  }

  void end() {
    const Frame f = stack_.back();
    stack_.pop_back();
    done_[f.call] = f.waits;
    if (!stack_.empty()) stack_.back().waits = std::max(stack_.back().waits, f.waits);
  }

  const Forest& forest_;
  const Schedule& schedule_;
  std::vector<uint32_t> first_, levels_, done_;
  std::vector<Frame> stack_;
  uint32_t most_ = 0;
};

}  // namespace

Schedule::Schedule(const SubGraphs& graphs, const Forest& forest,
                   const std::function<StagedPath&(const SubGraph&, uint32_t)>& staged)
    : number(graphs.size()) {
  std::vector<uint32_t> first_stage;  // by path: the number of its first stage among all
  uint32_t stages = 0;
  for (GraphId id = 0; id < graphs.size(); ++id) {
    if (!graphs.has(id)) continue;
    const SubGraph& of = graphs.of(id);
    number[id].resize(of.paths.size());
    for (uint32_t p = 0; p < of.paths.size(); ++p) {
      const auto& calls = forest.of_path(id, p);
      if (calls.empty()) continue;
      number[id][p] = static_cast<uint32_t>(paths.size());
      ScheduledPath& made = paths.emplace_back();
      made.of = &of;
      made.number = p;
      made.staged = &staged(of, p);
      made.calls = &calls;
      const size_t orders = std::max<size_t>(made.staged->stages, 1);
      made.place.resize(orders, std::vector<uint32_t>(calls.size()));
      made.order.resize(orders);
      for (auto& order : made.order) order.reserve(calls.size());
      first_stage.push_back(stages);
      stages += static_cast<uint32_t>(orders);
    }
  }
  Levels levels(forest, *this);
  levels.run();

  // Counting sort by (level, path, stage); within one of these, calls stay in the order of the program.
  std::vector<uint32_t> counts(static_cast<size_t>(levels.most() + 1) * stages + 1);
  const auto key = [&](const Call& call, uint32_t stage, uint32_t level) {
    return static_cast<size_t>(level) * stages + first_stage[number[call.callee][call.path]] + stage;
  };
  const auto for_each_stage = [&](auto&& f) {
    for (CallId id = 0; id < forest.size(); ++id) {
      const uint32_t count = path_of(forest[id]).staged->stages;
      for (uint32_t s = 0; s < std::max(count, 1u); ++s) f(id, s, key(forest[id], s, count ? levels.level(id, s) : 0));
    }
  };
  for_each_stage([&](CallId, uint32_t, size_t k) { ++counts[k + 1]; });
  for (size_t k = 1; k < counts.size(); ++k) counts[k] += counts[k - 1];
  struct Task {
    CallId call;
    uint32_t stage;
  };
  std::vector<Task> tasks(counts.back());
  for_each_stage([&](CallId id, uint32_t s, size_t k) { tasks[counts[k]++] = {id, s}; });
  size_t before = ~size_t{0};
  for (const Task& t : tasks) {
    const Call& call = forest[t.call];
    const uint32_t path = number[call.callee][call.path];
    ScheduledPath& p = paths[path];
    p.place[t.stage][call.row] = static_cast<uint32_t>(p.order[t.stage].size());
    p.order[t.stage].push_back(t.call);
    if (t.stage == 0 && !p.staged->begins) continue;  // nothing runs before the first calls
    const size_t k = key(call, t.stage, levels.level(t.call, t.stage));
    if (k != before) batches.push_back({path, t.stage, p.place[t.stage][call.row], 0});
    before = k;
    ++batches.back().count;
  }
}

}  // namespace terra::recursive
