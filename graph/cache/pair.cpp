#include "graph/cache/pair.h"

#include <algorithm>

#include "engine/autograd/autograd.h"
#include "engine/errors/errors.h"
#include "graph/cache/pair_node.h"
#include "graph/cache/run.h"
#include "graph/ir/print.h"

namespace terra::graph {
namespace {

/// The history of what a function of the program made, until the program makes the function's node.
class AwaitedNode final : public autograd::Node {
 public:
  explicit AwaitedNode(uint64_t place) : place_(place) {}
  std::vector<Tensor> apply(const std::vector<Tensor>& grads) override {
    ensure(!edges.empty(), "the node of an autograd.Function has been made before its gradient is asked for");
    return grads;
  }
  std::string name() const override { return "AwaitedNode"; }
  autograd::Edge unfolded(uint32_t) override { return edges.empty() ? autograd::Edge() : edges[0]; }
  void superseded(const autograd::Edge& edge) override {
    edges = {edge};
    edge.node->sequence = place_;
  }

 private:
  const uint64_t place_;  ///< the number of the function's node
};

class Pair final : public Compiled {
 public:
  explicit Pair(std::shared_ptr<PairPrograms> shared) : shared_(std::move(shared)) {}

  RunResult run(LentTensors lent, std::span<const Scalar> scalars, const std::function<bool()>& before_commit,
                std::vector<RunOutput>& outputs, Release* release, const SameTensors& same) override {
    Choice choice;
    Halves& halves = shared_->halves(choice);
    Runner& forward = halves.forward;
    std::vector<Tensor> inputs;
    for (TensorImpl* t : lent) inputs.push_back(kept(t));
    const auto past = std::make_shared<RunPast>(scalars, forward.program(), shared_->saved_inputs);
    Runner::Made made;
    Nodes nodes;
    const RunResult result = forward.run(
        lent, scalars, {}, interrupt_poll(),
        [&] {
          past->keep_written(inputs, forward.program());
          nodes = make_nodes(halves, choice, inputs, past);
          forward.collect(made, outputs);
          return !before_commit || before_commit();
        },
        made, release, same);
    if (result.status != RunStatus::Done) return result;
    forward.publish(lent, made);
    past->keep_inputs(inputs);
    for (const Ref<PairNode>& node : nodes.parts) node->save(inputs, made);
    give_histories(nodes, made);
    forward.retain_gradients(made);
    return result;
  }

  bool reads(uint32_t tensor) const override {
    const Halves& halves = shared_->whole();
    const Runner& forward = halves.forward;
    return forward.reads(tensor) || std::any_of(halves.saved.begin(), halves.saved.end(), [&](const SavedValue& s) {
             return s.kind == SavedValue::Kind::Input && forward.program().inputs[s.index].index == tensor;
           });
  }

  std::string text() const override {
    std::string all;
    for (const Runner* runner : shared_->whole().runners()) all += print(runner->graph());
    return all;
  }
  size_t node_count() const override {
    size_t count = 0;
    for (const Runner* runner : shared_->whole().runners()) count += count_nodes(runner->graph());
    return count;
  }
  size_t call_count() const override { return shared_->whole().forward.program().calls; }
  bool has_backward() const override { return true; }
  const std::vector<Generator*>& generators() const override { return shared_->whole().forward.program().generators; }
  Footprint footprint() const override { return shared_->footprint(); }
  double first_run_ms() const override { return shared_->first_run_ms(); }

 private:
  struct Nodes {
    std::vector<Ref<PairNode>> parts;
    std::vector<autograd::Edge> roots;           ///< where gradients for them go
    std::vector<Ref<autograd::Node>> functions;  ///< by result of a function
  };

  /// In the order of the program, the nodes of its functions, which it makes later, included.
  Nodes make_nodes(Halves& halves, const Choice& choice, const std::vector<Tensor>& inputs,
                   const std::shared_ptr<RunPast>& past) const {
    Nodes nodes;
    nodes.roots.resize(shared_->parts.roots.size());
    if (shared_->folds_next()) {
      add_node(PairParts::kAll, halves, choice, inputs, past, nodes);
      return nodes;
    }
    for (uint32_t p = 0; p < shared_->parts.each.size(); ++p) {
      add_node(p, halves, choice, inputs, past, nodes);
      uint64_t place = 0;
      for (const Program::FunctionResult& f : shared_->functions) {
        if (f.part != p) continue;
        if (place == 0) place = autograd::reserve_sequence();
        nodes.functions.emplace_back(new AwaitedNode(place));
      }
    }
    return nodes;
  }

  void add_node(uint32_t p, Halves& halves, const Choice& choice, const std::vector<Tensor>& inputs,
                const std::shared_ptr<RunPast>& past, Nodes& nodes) const {
    Ref<PairNode>& node = nodes.parts.emplace_back(new PairNode(shared_, halves, p, choice, past));
    const ProgramPart& part = shared_->parts[p];
    node->lead([&](const GradientTarget& target) { return edge_to(target, nodes, inputs); });
    for (uint32_t i = 0; i < part.roots.size(); ++i) {
      const ProgramRoot& root = shared_->parts.roots[part.roots[i]];
      const bool named = root.spec != ProgramRoot::kInside && part.roots.size() > 1;
      nodes.roots[part.roots[i]] = named ? autograd::Edge{Ref<autograd::Node>(new ResultNode(node, i)), 0}
                                         : autograd::Edge{Ref<autograd::Node>(node.get()), i};
    }
  }

  autograd::Edge edge_to(const GradientTarget& target, const Nodes& nodes, const std::vector<Tensor>& inputs) const {
    switch (target.kind) {
      case GradientTarget::Kind::Input: return autograd::gradient_edge(inputs[target.index]);
      case GradientTarget::Kind::Root: return nodes.roots[target.index];
      case GradientTarget::Kind::Function: {
        size_t f = 0;
        while (shared_->functions[f].spec != target.index) ++f;
        return {nodes.functions[f], 0};
      }
    }
    return {};
  }

  void give_histories(const Nodes& nodes, const Runner::Made& made) const {
    for (size_t k = 0; k < nodes.roots.size(); ++k) {
      const uint32_t spec = shared_->parts.roots[k].spec;
      if (spec != ProgramRoot::kInside)
        autograd::set_history(made.tensors[spec], nodes.roots[k].node, nodes.roots[k].index);
    }
    for (size_t f = 0; f < nodes.functions.size(); ++f)
      autograd::set_history(made.tensors[shared_->functions[f].spec], nodes.functions[f], 0);
  }

  std::shared_ptr<PairPrograms> shared_;
};

}  // namespace

bool is_half_of_pair(const autograd::Node& node) {
  return dynamic_cast<const PairNode*>(&node) || dynamic_cast<const ResultNode*>(&node);
}

bool is_prepared_for(const autograd::Edge& edge) {
  const auto* result = dynamic_cast<const ResultNode*>(edge.node.get());
  const autograd::Edge& inner = result ? result->edges[0] : edge;
  const auto* pair = dynamic_cast<const PairNode*>(inner.node.get());
  return pair && pair->expects(inner.index);
}

bool& spoils_gradients() {
  static bool spoils = false;
  return spoils;
}

std::shared_ptr<Compiled> make_pair(Program joint, std::shared_ptr<const Trace> trace, const BuildRequest& request) {
  return std::make_shared<Pair>(std::make_shared<PairPrograms>(std::move(joint), std::move(trace), request));
}

}  // namespace terra::graph
