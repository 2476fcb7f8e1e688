// Paths that meet again, run as segments (graph/trace/join.h).
#include <sstream>

#include "engine/errors/errors.h"
#include "graph/cache/recorded_paths.h"
#include "graph/cache/run.h"
#include "graph/cache/switched.h"
#include "graph/ir/print.h"
#include "graph/ir/verify.h"
#include "graph/passes/pipeline.h"
#include "graph/trace/join.h"

namespace terra::graph {
namespace {

struct Stretch {
  explicit Stretch(Segment segment) : path(segment.path), last(segment.last), next{segment.next[0], segment.next[1]} {
    verify(segment.program.graph, Stage::Captured, "joined from several paths");
    optimize(segment.program.graph, Phase::Whole);
    optimize(segment.program.graph, Phase::Part);
    runner = std::make_unique<Runner>(std::move(segment.program));
  }

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
    Walk walk{caller, outputs, path, {}, {}, {}, 0, 0};
    walk.inputs.resize(layouts_.size(), nullptr);
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
  struct Walk {
    const Caller& caller;
    std::vector<RunOutput>& outputs;
    uint32_t& path;
    std::vector<const PathInputs*> inputs;  ///< by path, where asked for
    std::vector<Tensor> tensors;            ///< handed on at the last place
    std::vector<Scalar> scalars;
    uint32_t places;  ///< that it has come to
    uint32_t from;    ///< the path that it came along to the last one
  };

  const PathInputs* inputs_of(uint32_t path, Walk& walk) const {
    if (!walk.inputs[path]) {
      walk.inputs[path] = walk.caller.inputs(path);
      if (walk.inputs[path] && !fit(layouts_[path], walk.inputs[path]->tensors)) return nullptr;
    }
    return walk.inputs[path];
  }

  /// What follows runs where a segment would commit, so that everything is undone when anything fails behind it.
  RunResult run(Stretch& stretch, Walk& walk) {
    walk.path = stretch.path;
    const PathInputs* inputs = inputs_of(stretch.path, walk);
    if (!inputs) return {RunStatus::Refused, 0};
    const auto& arrives = walk.caller.arrives;
    if (walk.places > 0 && arrives && !arrives(walk.from, stretch.path, walk.places - 1))
      return {RunStatus::Refused, 0};
    std::vector<TensorImpl*> tensors = inputs->tensors;
    std::vector<Scalar> scalars = inputs->scalars;
    const std::vector<Tensor> held = std::move(walk.tensors);
    for (const Tensor& t : held) tensors.push_back(t.get());
    scalars.insert(scalars.end(), walk.scalars.begin(), walk.scalars.end());
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
      const int next = stretch.next[hand_on(*stretch.runner, made, walk)];
      behind =
          next < 0 ? RunResult{RunStatus::AssertFailed, kUnnumbered} : run(stretches_[static_cast<size_t>(next)], walk);
      return behind.status == RunStatus::Done;
    };
    const RunResult result = stretch.runner->run(tensors, scalars, {}, interrupt_poll(), go_on, made);
    if (stretch.last && result.status == RunStatus::Done) stretch.runner->publish(tensors, made);
    return went_on ? behind : result;
  }

  /// Returns the truth that decides which segment is next.
  static bool hand_on(const Runner& runner, Runner::Made& made, Walk& walk) {
    std::vector<RunOutput> results;
    runner.collect(made, results);
    const bool truth = std::get<Scalar>(results.back()).to_bool();
    results.pop_back();
    walk.tensors.clear();
    walk.scalars.clear();
    for (RunOutput& result : results) {
      if (auto* tensor = std::get_if<Tensor>(&result))
        walk.tensors.push_back(std::move(*tensor));
      else
        walk.scalars.push_back(std::get<Scalar>(result));
    }
    return truth;
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
