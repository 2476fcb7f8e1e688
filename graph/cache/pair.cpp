#include "graph/cache/pair.h"

#include <fmt/format.h>

#include "engine/autograd/autograd.h"
#include "engine/autograd/spent_node.h"
#include "engine/autograd/saved.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "graph/cache/run.h"
#include "graph/ir/print.h"
#include "graph/passes/pipeline.h"
#include "graph/trace/copy.h"
#include "graph/trace/replay.h"

namespace terra::graph {
namespace {

/// What all runs of one pair share. Kept alive by the tape nodes of runs that haven't been differentiated yet.
struct Shared {
  Shared(Partition p, const Trace& t)
      : trace(copy_of(t)),
        saved(std::move(p.saved)),
        gradient_inputs(p.forward.gradient_inputs),
        forward(std::move(p.forward)),
        backward(std::move(p.backward)) {
    for (uint32_t spec : forward.program().differentiable) {
      const TensorSpec& s = forward.program().tensors[spec];
      metas.push_back({s.dtype, s.sizes});
      names.push_back(s.grad_fn);
    }
  }

  Trace trace;
  std::vector<SavedValue> saved;
  std::vector<uint32_t> gradient_inputs;
  Runner forward, backward;
  std::vector<TensorMeta> metas;   ///< of the differentiable results
  std::vector<std::string> names;  ///< of their own ops' nodes
};

Tensor contiguous(const Tensor& t) {
  static const Op* clone = find_op("clone");
  return t.is_contiguous() ? t : (*clone)(t);
}

Tensor zeros(const TensorMeta& m) {
  static const Op* full = find_op("full");
  return (*full)(m.sizes, 0.0, m.dtype);
}

/// The gradient of one run: from the gradients of its differentiable results to those of its inputs.
class PairNode final : public autograd::Node {
 public:
  PairNode(std::shared_ptr<Shared> shared, const std::vector<Tensor>& inputs) : shared_(std::move(shared)) {
    results = static_cast<uint32_t>(shared_->metas.size());
    for (uint32_t i : shared_->gradient_inputs) edges.push_back(autograd::gradient_edge(inputs[i]));
  }

  /// After the commit: keeps what the backward half reads, and the inputs for derivatives of the gradient.
  void save(const std::vector<Tensor>& inputs, const std::vector<Scalar>& scalars, const Runner::Made& made) {
    const Runner& forward = shared_->forward;
    for (const SavedValue& s : shared_->saved) {
      switch (s.kind) {
        case SavedValue::Kind::Input:
          saved_.emplace_back(inputs[forward.program().inputs[s.index].index], false);
          break;
        case SavedValue::Kind::Fresh: {
          const ValueMeta& m = forward.graph().meta(forward.graph().outputs[s.index]);
          saved_.emplace_back(Tensor::view_of(made.storages[s.index], m.dtype, m.sizes, contiguous_strides(m.sizes), 0),
                              false);
          break;
        }
        case SavedValue::Kind::ScalarInput: saved_scalars_.push_back(forward.scalar_input(s.index)); break;
        case SavedValue::Kind::ScalarOutput: saved_scalars_.push_back(forward.scalar_output(s.index)); break;
      }
    }
    for (const Tensor& t : inputs) inputs_.emplace_back(t, false);
    input_scalars_ = scalars;
  }

  std::vector<Tensor> apply(const std::vector<Tensor>& grads) override {
    if (released_) autograd::fail_spent();
    if (grad_enabled()) return apply_differentiably(grads);
    const Ref<Node> self(this);
    std::vector<Tensor> tensors, tangents;
    for (const autograd::SavedTensor& s : saved_) tensors.push_back(s.unpack(self));
    for (size_t k = 0; k < shared_->metas.size(); ++k)
      tangents.push_back(grads[k].defined() ? contiguous(grads[k]) : zeros(shared_->metas[k]));
    Runner::Made made;
    shared_->backward.run(tensors, saved_scalars_, tangents, nullptr, nullptr, made);
    return std::move(made.tensors);
  }

  std::string name() const override { return shared_->names.front(); }
  const TensorMeta* result_meta(uint32_t i) const override { return &shared_->metas[i]; }
  void release_saved() override {
    released_ = !saved_.empty();
    saved_.clear();
    inputs_.clear();
  }

 private:
  /// create_graph: the region runs again, eagerly and with its tape, and that tape is differentiated.
  std::vector<Tensor> apply_differentiably(const std::vector<Tensor>& grads) {
    const Program& p = shared_->forward.program();
    if (!p.generators.empty())
      throw Error(
          ErrorKind::NotImplementedError,
          fmt::format("'{}' drew random numbers inside a captured region: its gradient can't be differentiated again. "
                      "Run it under terra.capture.off() to do so.",
                      shared_->trace.name));
    static const Op* clone = find_op("clone");
    const Ref<Node> self(this);
    std::vector<Tensor> tensors;
    for (const autograd::SavedTensor& s : inputs_) tensors.push_back(s.unpack(self));
    std::vector<Tensor> sources = tensors;
    for (const StorageWrite& w : p.writes) {  // what the region writes is written to a copy this time
      Tensor& t = tensors[p.inputs[w.input].index];
      GradMode off(false);
      t = (*clone)(t);
    }
    Replay replay(shared_->trace);
    size_t next_tensor = 0, next_scalar = 0;
    for (TraceId i = 0; i < shared_->trace.inputs.size(); ++i) {
      if (shared_->trace.inputs[i].kind == TraceInput::Kind::Tensor)
        replay.set(i, tensors[next_tensor++]);
      else
        replay.set(i, input_scalars_[next_scalar++]);
    }
    for (const auto& [id, t] : shared_->trace.constants) replay.set(id, t);
    replay.run();

    std::vector<Tensor> roots, root_grads, wanted;
    for (size_t r = 0; r < p.results.size(); ++r) {
      if (p.results[r].is_scalar) continue;
      const int32_t k = p.tensors[p.results[r].index].differentiable;
      if (k < 0 || !grads[static_cast<size_t>(k)].defined()) continue;
      roots.push_back(replay.tensor(shared_->trace.outputs[r]));
      root_grads.push_back(grads[static_cast<size_t>(k)]);
    }
    for (uint32_t i : shared_->gradient_inputs) wanted.push_back(sources[i]);
    return autograd::gradients(roots, root_grads, wanted, true, true, true);
  }

  std::shared_ptr<Shared> shared_;
  std::vector<autograd::SavedTensor> saved_, inputs_;
  std::vector<Scalar> saved_scalars_, input_scalars_;
  bool released_ = false;
};

/// Gives a result the name of its own op's node where a pair has several results.
class ResultNode final : public autograd::Node {
 public:
  ResultNode(const Ref<autograd::Node>& pair, uint32_t index, std::string name) : name_(std::move(name)) {
    edges.push_back({pair, index});
  }
  std::vector<Tensor> apply(const std::vector<Tensor>& grads) override { return grads; }
  std::string name() const override { return name_; }
  const TensorMeta* result_meta(uint32_t) const override { return edges[0].node->result_meta(edges[0].index); }

 private:
  std::string name_;
};

class Pair final : public Compiled {
 public:
  Pair(Partition p, const Trace& trace) : shared_(std::make_shared<Shared>(std::move(p), trace)) {}

  RunResult run(const std::vector<Tensor>& inputs, const std::vector<Scalar>& scalars,
                const std::function<bool()>& before_commit, std::vector<RunOutput>& outputs) override {
    Runner& forward = shared_->forward;
    Runner::Made made;
    Ref<PairNode> node;
    const RunResult result = forward.run(
        inputs, scalars, {}, interrupt_poll(),
        [&] {
          node = Ref<PairNode>(new PairNode(shared_, inputs));
          forward.collect(made, outputs);
          return !before_commit || before_commit();
        },
        made);
    if (result.status != RunStatus::Done) return result;
    forward.publish(inputs, made);
    node->save(inputs, scalars, made);
    const Ref<autograd::Node> pair(node.get());
    const std::vector<uint32_t>& specs = forward.program().differentiable;
    for (uint32_t k = 0; k < specs.size(); ++k) {
      if (specs.size() == 1)
        autograd::set_history(made.tensors[specs[k]], pair, k);
      else
        autograd::set_history(made.tensors[specs[k]], Ref<autograd::Node>(new ResultNode(pair, k, shared_->names[k])),
                              0);
    }
    return result;
  }

  std::string text() const override { return print(shared_->forward.graph()) + print(shared_->backward.graph()); }
  size_t node_count() const override {
    return count_nodes(shared_->forward.graph()) + count_nodes(shared_->backward.graph());
  }
  size_t call_count() const override { return shared_->forward.program().calls; }

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace

std::shared_ptr<Compiled> make_pair(Partition p, const Trace& trace) {
  optimize(p.forward.graph, Phase::Part);
  optimize(p.backward.graph, Phase::Part);
  return std::make_shared<Pair>(std::move(p), trace);
}

}  // namespace terra::graph
