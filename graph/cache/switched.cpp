#include "graph/cache/switched.h"

#include <algorithm>
#include <sstream>

#include "engine/errors/errors.h"
#include "graph/cache/recorded_paths.h"
#include "graph/ir/print.h"

namespace terra::graph {
namespace {

struct Branch {
  explicit Branch(MergedPaths merged)
      : leaves(std::move(merged.leaves)),
        tensors_of(std::move(merged.tensors_of)),
        scalars_of(std::move(merged.scalars_of)),
        assert_index(merged.assert_index),
        last(leaves.front()) {
    runner = compile_shared(std::move(merged.program), "merged from several paths");
    for (int truth : {0, 1})
      if (merged.cases[truth]) cases[truth] = std::make_unique<Branch>(std::move(*merged.cases[truth]));
  }

  bool is_leaf() const { return !cases[0]; }
  /// The position of a path among `leaves`, or -1.
  int position(uint32_t path) const {
    const auto found = std::find(leaves.begin(), leaves.end(), path);
    return found == leaves.end() ? -1 : static_cast<int>(found - leaves.begin());
  }

  std::unique_ptr<Runner> runner;
  std::vector<uint32_t> leaves;
  std::vector<std::vector<uint32_t>> tensors_of, scalars_of;
  uint32_t assert_index;
  uint32_t last;  ///< the path that a run took here last
  std::unique_ptr<Branch> cases[2];
};

class Tree final : public Switched {
 public:
  Tree(MergedPaths merged, std::vector<PathLayout> layouts) : root_(std::move(merged)), layouts_(std::move(layouts)) {}

  RunResult run(uint32_t likely, const Caller& caller, std::vector<RunOutput>& outputs, uint32_t& path) override {
    Walk walk(caller, outputs, path, layouts_.size());
    walk.likely = likely;
    return run(root_, walk);
  }

  std::string text() const override { return text(root_, 0); }
  size_t node_count() const override { return count(root_); }

 private:
  /// From the root to a leaf, with the results of all programs above.
  struct Walk : PathWalk {
    using PathWalk::PathWalk;
    uint32_t likely = 0;
  };

  RunResult run(Branch& branch, Walk& walk) {
    walk.path = branch.position(walk.likely) >= 0 ? walk.likely : branch.last;
    const PathInputs* inputs = walk.inputs_of(walk.path, layouts_);
    if (!inputs) return {RunStatus::Refused, 0};
    return branch.is_leaf() ? run_leaf(branch, *inputs, walk) : run_shared(branch, *inputs, walk);
  }

  /// The rest runs where the shared part would commit, so that everything is undone when anything fails below.
  RunResult run_shared(Branch& branch, const PathInputs& inputs, Walk& walk) {
    const auto position = static_cast<size_t>(branch.position(walk.path));
    std::vector<TensorImpl*> tensors;
    std::vector<Scalar> scalars;
    for (uint32_t i : branch.tensors_of[position]) tensors.push_back(inputs.tensors[i]);
    for (uint32_t i : branch.scalars_of[position]) scalars.push_back(inputs.scalars[i]);
    walk.add_made(tensors, scalars);
    Runner::Made made;
    RunResult below;
    bool asked = false;
    const auto go_on = [&] {
      asked = true;
      below = run(*branch.cases[walk.take(*branch.runner, made)], walk);
      if (below.status == RunStatus::Done) branch.last = walk.path;
      return below.status == RunStatus::Done;
    };
    const RunResult shared = branch.runner->run(tensors, scalars, {}, interrupt_poll(), go_on, made);
    return asked ? below : shared;
  }

  RunResult run_leaf(Branch& branch, const PathInputs& inputs, Walk& walk) {
    std::vector<TensorImpl*> tensors = inputs.tensors;
    std::vector<Scalar> scalars = inputs.scalars;
    walk.add_made(tensors, scalars);
    Runner::Made made;
    const auto ready = [&] {
      branch.runner->collect(made, walk.outputs);
      return !walk.caller.before_commit || walk.caller.before_commit(walk.path);
    };
    const RunResult result = branch.runner->run(tensors, scalars, {}, interrupt_poll(), ready, made);
    if (result.status == RunStatus::Done) branch.runner->publish(tensors, made);
    return result;
  }

  static size_t count(const Branch& branch) {
    const size_t own = count_nodes(branch.runner->graph());
    return branch.is_leaf() ? own : own + 1 + count(*branch.cases[0]) + count(*branch.cases[1]);
  }

  static std::string text(const Branch& branch, size_t depth) {
    const std::string pad(2 * depth, ' ');
    std::istringstream lines(print(branch.runner->graph(), false));
    std::string out;
    for (std::string line; std::getline(lines, line);) out += pad + line + "\n";
    if (branch.is_leaf()) return out;
    for (int truth : {1, 0})
      out += pad + (truth ? "if true:\n" : "if false:\n") + text(*branch.cases[truth], depth + 1);
    return out;
  }

  Branch root_;
  std::vector<PathLayout> layouts_;  // by path
};

}  // namespace

std::shared_ptr<Switched> compile_switch(const std::vector<const Trace*>& paths) {
  RecordedPaths recorded = read_paths(paths, false);
  return std::make_shared<Tree>(merge_paths(std::move(recorded.paths)), std::move(recorded.layouts));
}

}  // namespace terra::graph
