// Paths that meet again, run as segments (graph/trace/join.h).
#include <sstream>
#include <utility>

#include "engine/errors/errors.h"
#include "graph/cache/recorded_paths.h"
#include "graph/ir/print.h"
#include "graph/trace/join.h"

namespace terra::graph {
namespace {

struct Stretch {
  explicit Stretch(Segment segment)
      : runner(compile_shared(std::move(segment.program), "joined from several paths")),
        path(segment.path),
        last(segment.last),
        next{segment.next[0], segment.next[1]} {}

  std::unique_ptr<Runner> runner;
  uint32_t path;
  bool last;
  int next[2];
};

class Joined final : public Switched {
 public:
  Joined(std::vector<Segment> segments, std::vector<PathLayout> layouts) : layouts_(std::move(layouts)) {
    for (Segment& s : segments) stretches_.emplace_back(std::move(s));
  }

  RunResult run(uint32_t, const Caller& caller, std::vector<RunOutput>& outputs, uint32_t& path) override {
    Walk walk(caller, outputs, path, layouts_.size());
    return run(stretches_[0], walk);
  }

  std::string text() const override {
    std::string out;
    for (size_t i = 0; i < stretches_.size(); ++i) {
      const Stretch& s = stretches_[i];
      std::ostringstream head;
      head << "segment " << i << ":\n";
      out += head.str() + print(s.runner->graph(), false);
      if (s.last) continue;
      std::ostringstream tail;
      for (int truth : {1, 0})
        tail << (truth ? "if true: " : "if false: ")
             << (s.next[truth] < 0 ? "unknown" : "segment " + std::to_string(s.next[truth])) << "\n";
      out += tail.str();
    }
    return out;
  }
  size_t node_count() const override {
    size_t sum = 0;
    for (const Stretch& s : stretches_) sum += count_nodes(s.runner->graph()) + !s.last;
    return sum;
  }

 private:
  /// With what was handed on at the last place.
  struct Walk : PathWalk {
    using PathWalk::PathWalk;
    uint32_t places = 0;  ///< that it has come to
    uint32_t from = 0;    ///< the path that it came along to the last one
  };

  /// What follows runs where a segment would commit, so that everything is undone when anything fails behind it.
  RunResult run(Stretch& stretch, Walk& walk) {
    walk.path = stretch.path;
    const PathInputs* inputs = walk.inputs_of(stretch.path, layouts_);
    if (!inputs) return {RunStatus::Refused, 0};
    const auto& arrives = walk.caller.arrives;
    if (walk.places > 0 && arrives && !arrives(walk.from, stretch.path, walk.places - 1))
      return {RunStatus::Refused, 0};
    std::vector<TensorImpl*> tensors = inputs->tensors;
    std::vector<Scalar> scalars = inputs->scalars;
    walk.add_made(tensors, scalars);
    const std::vector<Tensor> held = std::exchange(walk.tensors, {});
    walk.scalars.clear();
    Runner::Made made;
    RunResult behind;
    bool went_on = false;
    const auto go_on = [&] {
      if (stretch.last) {
        stretch.runner->collect(made, walk.outputs);
        return !walk.caller.before_commit || walk.caller.before_commit(walk.path);
      }
      went_on = true;
      ++walk.places;
      walk.from = stretch.path;
      const int next = stretch.next[walk.take(*stretch.runner, made)];
      behind =
          next < 0 ? RunResult{RunStatus::AssertFailed, kUnnumbered} : run(stretches_[static_cast<size_t>(next)], walk);
      return behind.status == RunStatus::Done;
    };
    const RunResult result = stretch.runner->run(tensors, scalars, {}, interrupt_poll(), go_on, made);
    if (stretch.last && result.status == RunStatus::Done) stretch.runner->publish(tensors, made);
    return went_on ? behind : result;
  }

  std::vector<Stretch> stretches_;
  std::vector<PathLayout> layouts_;  // by path
};

}  // namespace

std::shared_ptr<Switched> compile_joined(const std::vector<const Trace*>& traces) {
  RecordedPaths recorded = read_paths(traces, true);
  std::vector<Segment> segments = join_paths(traces, recorded.paths);
  if (segments.empty()) return nullptr;
  return std::make_shared<Joined>(std::move(segments), std::move(recorded.layouts));
}

}  // namespace terra::graph
