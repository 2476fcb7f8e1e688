#include "recursive/runtime/schedule.h"

#include <algorithm>
#include <utility>

namespace terra::recursive {

Schedule::Schedule(const SubGraphs& graphs) : number(graphs.size()), grows_(graphs.have_items()) {
  for (GraphId id = 0; id < graphs.size(); ++id)
    if (graphs.has(id)) number[id].assign(graphs.of(id).paths.size(), kNone);
}

void Schedule::add_path(const SubGraph& of, uint32_t path, const Forest& forest, const Staged& staged) {
  number[of.id][path] = static_cast<uint32_t>(paths.size());
  ScheduledPath& made = paths.emplace_back();
  made.of = &of;
  made.number = path;
  made.staged = &staged(of, path);
  made.calls = &forest.of_path(of.id, path);
  const uint32_t stages = std::max(made.staged->stages, 1u);
  // In the order of the last stage, where nothing comes later; else as the walk meets calls: last stages may be far
  // away.
  made.outer_order = grows_ ? stages : stages - 1;
  made.place.resize(made.outer_order + 1);
  made.order.resize(made.outer_order + 1);
  first_stage_.push_back(stages_);
  stages_ += stages;
}

void Schedule::extend(const Forest& forest, const Staged& staged, bool all) {
  const auto known = static_cast<CallId>(calls_.size());
  calls_.resize(forest.size());
  for (CallId id = known; id < forest.size(); ++id) {
    const Call& call = forest[id];
    if (number[call.callee][call.path] == kNone) add_path(forest.graph_of(call), call.path, forest, staged);
    const StagedPath& path = *path_of(call).staged;
    calls_[id].levels = static_cast<uint32_t>(levels_.size());
    levels_.resize(levels_.size() + path.stages);
    if (grows_) put(id, call, path_of(call).outer_order);
  }
  const auto advance_ready = [&] {
    while (!ready_.empty()) {
      const CallId next = ready_.back();
      ready_.pop_back();
      advance(forest, next, all);
    }
  };
  if (all) std::swap(ready_, late_);
  advance_ready();
  for (CallId id = known; id < forest.size(); ++id) {
    const Call& call = forest[id];
    if (call.caller == kNoCall) {
      begin(id, 0);
    } else if (call.caller < known && !calls_[id].begun) {
      const uint32_t at = path_of(forest[call.caller]).staged->called_at[call.site];
      if (has_level(call.caller, at)) begin(id, path_of(call).staged->has_arguments ? level(call.caller, at) : 0);
    }
    advance_ready();
  }
  place_tasks(forest);
}

/// The call comes next in an order of its path.
void Schedule::put(CallId id, const Call& call, uint32_t order) {
  ScheduledPath& p = paths[number[call.callee][call.path]];
  p.place[order].resize(p.calls->size(), kNone);
  p.place[order][call.row] = static_cast<uint32_t>(p.order[order].size());
  p.order[order].push_back(id);
}

void Schedule::begin(CallId id, uint32_t level) {
  calls_[id].begun = true;
  calls_[id].waits = level;
  ready_.push_back(id);
}

/// The call's next stage gets its level, and the calls that may be made behind it begin; or all its stages have one.
void Schedule::advance(const Forest& forest, CallId id, bool all) {
  const Call& call = forest[id];
  const StagedPath& path = *path_of(call).staged;
  Progress& p = calls_[id];
  const auto calls_later = [&] {
    return std::any_of(path.called_at.begin(), path.called_at.end(), [&](uint32_t at) { return at >= p.stage; });
  };
  if (grows_ && !all && p.stage < path.stages && !calls_later()) return late_.push_back(id);
  if (p.stage == path.stages) {
    if (path.stages == 0) tasks_.push_back({id, 0, done_});
    if (call.caller == kNoCall) return;
    Progress& caller = calls_[call.caller];
    caller.waits = std::max(caller.waits, p.waits);
    if (--caller.pending == 0) ready_.push_back(call.caller);
    return;
  }
  const uint32_t stage = p.stage++;
  if (stage > 0 || path.begins) p.waits = std::max(p.waits, done_) + 1;
  levels_[p.levels + stage] = p.waits;
  tasks_.push_back({id, stage, std::max(p.waits, done_)});
  for (uint32_t site = 0; site < path.called_at.size(); ++site) {
    if (path.called_at[site] != stage) continue;
    ++p.pending;
    const CallId callee = forest.called(call, site);
    if (callee != kNoCall) begin(callee, path_of(forest[callee]).staged->has_arguments ? p.waits : 0);
  }
  if (p.pending == 0) ready_.push_back(id);
}

/// Counting sort by (level, path, stage); within one of these, calls stay in the order of the forest.
void Schedule::place_tasks(const Forest& forest) {
  std::sort(tasks_.begin(), tasks_.end(),
            [](const Task& a, const Task& b) { return std::pair(a.call, a.stage) < std::pair(b.call, b.stage); });
  uint32_t least = kNone, most = done_;
  for (const Task& t : tasks_) {
    least = std::min(least, t.level);
    most = std::max(most, t.level);
  }
  std::vector<uint32_t> counts(tasks_.empty() ? 1 : size_t{most - least + 1} * stages_ + 1);
  const auto key = [&](const Task& t) {
    const Call& call = forest[t.call];
    return size_t{t.level - least} * stages_ + first_stage_[number[call.callee][call.path]] + t.stage;
  };
  for (const Task& t : tasks_) ++counts[key(t) + 1];
  for (size_t k = 1; k < counts.size(); ++k) counts[k] += counts[k - 1];
  std::vector<Task> sorted(tasks_.size());
  for (const Task& t : tasks_) sorted[counts[key(t)]++] = t;
  size_t before = ~size_t{0};
  for (const Task& t : sorted) {
    const Call& call = forest[t.call];
    const uint32_t path = number[call.callee][call.path];
    const ScheduledPath& p = paths[path];
    put(t.call, call, t.stage);
    if (p.staged->stages == 0 || (t.stage == 0 && !p.staged->begins)) continue;  // nothing runs before the first calls
    if (const size_t k = key(t); k != std::exchange(before, k))
      batches.push_back({path, t.stage, p.place[t.stage][call.row], 0});
    ++batches.back().count;
  }
  done_ = most;
  tasks_.clear();
}

}  // namespace terra::recursive
