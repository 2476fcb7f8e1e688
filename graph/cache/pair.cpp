#include "graph/cache/pair.h"

#include <cstring>
#include <map>

#include <fmt/format.h>

#include "engine/autograd/autograd.h"
#include "engine/autograd/saved.h"
#include "engine/autograd/spent_node.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/random/generator.h"
#include "graph/cache/run.h"
#include "graph/gradient/partition.h"
#include "graph/ir/print.h"
#include "graph/passes/pipeline.h"

namespace terra::graph {
namespace {

/// The two halves for one choice of results that gradients arrive for.
struct Halves {
  explicit Halves(Partition p)
      : saved(std::move(p.saved)), forward(std::move(p.forward)), backward(std::move(p.backward)) {}

  std::vector<SavedValue> saved;
  Runner forward, backward;
};

std::unique_ptr<Halves> cut(Program joint) {
  Partition p = partition(std::move(joint));
  optimize(p.forward.graph, Phase::Part);
  optimize(p.backward.graph, Phase::Part);
  return std::make_unique<Halves>(std::move(p));
}

using Choice = std::vector<bool>;  ///< of differentiable results

/// What all runs of one pair share. Kept alive by the tape nodes of runs that haven't been differentiated yet.
class Shared {
 public:
  Shared(Program joint, std::shared_ptr<const Trace> t, const BuildRequest& r)
      : trace(std::move(t)), request(r), wanted(joint.wanted), conflicts(joint.conflicts) {
    for (uint32_t spec : joint.differentiable) {
      const TensorSpec& s = joint.tensors[spec];
      metas.push_back({s.dtype, s.sizes});
      names.push_back(s.grad_fn);
    }
    expected = Choice(metas.size(), true);
    whole_ = (halves_[expected] = cut(std::move(joint))).get();
  }

  const Halves& whole() const { return *whole_; }
  size_t bytes() const {
    size_t sum = 0;
    for (const auto& [choice, halves] : halves_) sum += halves->forward.bytes() + halves->backward.bytes();
    return sum;
  }

  /// The halves for what is expected of the next backward. `choice` becomes what they are for.
  Halves& halves(Choice& choice) {
    choice = expected;
    auto& made = halves_[choice];
    if (!made) {
      BuildRequest r = request;
      r.tangents = choice;
      Program joint = build(*trace, r);
      optimize(joint.graph, Phase::Whole);
      made = cut(std::move(joint));
    }
    return *made;
  }

  /// The program of the gradients themselves; `joint` when they are to have a history.
  Compiled& derivative(const Tangents& step, bool joint) {
    auto& made = derivatives_[{step, joint}];
    if (!made) {
      BuildRequest r{request.derivatives, joint, {}, request.inputs};
      r.derivatives.push_back(step);
      made = compile_request(trace, r);
    }
    return *made;
  }

  const std::shared_ptr<const Trace> trace;
  const BuildRequest request;
  const std::vector<uint32_t> wanted;
  const std::vector<std::vector<bool>> conflicts;
  std::vector<TensorMeta> metas;   ///< of the differentiable results
  std::vector<std::string> names;  ///< of their own ops' nodes
  Choice expected;                 ///< which results the last backward had gradients for

 private:
  std::map<Choice, std::unique_ptr<Halves>> halves_;
  Halves* whole_ = nullptr;
  std::map<std::pair<Tangents, bool>, std::shared_ptr<Compiled>> derivatives_;
};

/// Starts its storage and has its elements in order.
Tensor compact(const Tensor& t) {
  static const Op* clone = find_op("clone");
  return t.is_contiguous() && t->offset == 0 ? t : (*clone)(t);
}

/// The generators of a program as they were at another time, while this lives.
class RandomPast {
 public:
  RandomPast(const std::vector<Generator*>& generators, const std::vector<RandomState>& states) {
    for (size_t i = 0; i < generators.size(); ++i) {
      Generator& g = generators[i] ? *generators[i] : default_generator();
      present_.emplace_back(&g, g.state());
      g.set_state(states[i]);
    }
  }
  ~RandomPast() {
    for (auto& [generator, state] : present_) generator->set_state(state);
  }
  RandomPast(const RandomPast&) = delete;

 private:
  std::vector<std::pair<Generator*, RandomState>> present_;
};

/// The gradient of one run: from the gradients of its differentiable results to those of its inputs. Where they arrive
/// for the results that were expected, the backward half computes them; for others, and where the gradients are to be
/// differentiated in turn, the region is computed again by a program of its own.
class PairNode final : public autograd::Node {
 public:
  PairNode(std::shared_ptr<Shared> shared, Halves& halves, Choice choice, const std::vector<Tensor>& inputs,
           std::span<const Scalar> scalars, std::vector<RandomState> random)
      : shared_(std::move(shared)),
        halves_(halves),
        choice_(std::move(choice)),
        spent_(choice_.size(), false),
        scalars_(scalars.begin(), scalars.end()),
        random_(std::move(random)) {
    results = static_cast<uint32_t>(shared_->metas.size());
    for (uint32_t i : shared_->wanted) edges.push_back(autograd::gradient_edge(inputs[i]));
    keep_written(inputs, halves_.forward.program());
  }

  /// After the commit: keeps what the backward half reads, and the inputs.
  void save(const std::vector<Tensor>& inputs, const Runner::Made& made) {
    const Runner& forward = halves_.forward;
    for (const SavedValue& s : halves_.saved) {
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
    for (size_t i = 0; i < inputs.size(); ++i)
      inputs_.push_back(old_[i].defined() ? autograd::SavedTensor() : autograd::SavedTensor(inputs[i], false));
  }

  std::vector<Tensor> apply(const std::vector<Tensor>& grads) override {
    Choice given;
    for (const Tensor& g : grads) given.push_back(g.defined());
    require_unspent(given);
    last_ = given;
    if (grad_enabled()) return apply_again(grads, given);
    shared_->expected = given;
    if (given != choice_) return apply_again(grads, given);
    std::vector<Tensor> tangents(grads.size());
    for (size_t k = 0; k < grads.size(); ++k)
      if (given[k]) tangents[k] = compact(grads[k]);
    Runner::Made made;
    if (!run_backward(given, tangents, made)) return apply_again(grads, given);
    std::vector<Tensor> out(edges.size());
    const std::vector<uint32_t>& places = halves_.backward.program().gradients;
    for (size_t j = 0; j < places.size(); ++j) out[places[j]] = std::move(made.tensors[j]);
    return out;
  }

  std::string name() const override { return shared_->names.front(); }
  const TensorMeta* result_meta(uint32_t i) const override { return &shared_->metas[i]; }

  /// Frees for those results that the last backward came from. What others need stays until they can't be used either.
  void release_saved() override {
    for (size_t k = 0; k < last_.size(); ++k) spent_[k] = spent_[k] || last_[k];
    if (!released() || !all_useless()) return;
    saved_.clear();
    inputs_.clear();
    old_.clear();
  }
  bool released() const override {
    for (size_t k = 0; k < spent_.size(); ++k)
      if (spent_[k] && shared_->conflicts[k][k]) return true;
    return false;
  }

 private:
  bool all_useless() const {
    for (size_t a = 0; a < spent_.size(); ++a) {
      bool usable = true;
      for (size_t b = 0; b < spent_.size(); ++b) usable = usable && !(spent_[b] && shared_->conflicts[a][b]);
      if (usable) return false;
    }
    return true;
  }

  /// Copies of what the run is about to write, with the history that it had.
  void keep_written(const std::vector<Tensor>& inputs, const Program& p) {
    old_.resize(inputs.size());
    std::map<Storage*, Ref<Storage>> copies;
    for (const StorageWrite& w : p.writes) {
      Storage* storage = inputs[p.inputs[w.input].index]->storage.get();
      Ref<Storage>& copy = copies[storage];
      if (copy) continue;
      copy = Storage::allocate(storage->bytes());
      std::memcpy(copy->data(), storage->data(), storage->bytes());
    }
    for (size_t i = 0; i < inputs.size() && !copies.empty(); ++i) {
      const TensorImpl& t = *inputs[i];
      const auto copy = copies.find(t.storage.get());
      if (copy == copies.end()) continue;
      old_[i] = Tensor::view_of(copy->second, t.dtype, t.sizes, t.strides, t.offset);
      if (!t.requires_grad) continue;
      const autograd::Edge edge = autograd::gradient_edge(inputs[i]);
      autograd::set_history(old_[i], edge.node, edge.index);
    }
  }

  void require_unspent(const Choice& given) const {
    for (size_t a = 0; a < given.size(); ++a)
      for (size_t b = 0; given[a] && b < given.size(); ++b)
        if (spent_[b] && shared_->conflicts[a][b]) autograd::fail_spent();
  }

  /// False where the backward half can't run in this process. A run that was overtaken, or had to wait for another
  /// thread's, starts from what is saved by then: that complains if it was written, or is gone.
  bool run_backward(const Choice& given, std::span<const Tensor> tangents, Runner::Made& made) {
    struct NothingElse final : Release {
      void hold() override {}
      bool stands() override { return true; }
    } release;
    const Ref<Node> self(this);
    for (Release* releases = &release;;) {
      require_unspent(given);
      std::vector<Tensor> tensors;
      for (const autograd::SavedTensor& s : saved_) tensors.push_back(s.unpack(self));
      switch (halves_.backward.run(lend(tensors), saved_scalars_, tangents, nullptr, nullptr, made, releases).status) {
        case RunStatus::Done: return true;
        case RunStatus::UnderWay: await_landing(); break;
        case RunStatus::Overtaken: releases = nullptr; break;
        default: return false;
      }
      made.clear();
    }
  }

  std::vector<Tensor> apply_again(const std::vector<Tensor>& grads, const Choice& given) {
    Tangents step{given, Choice(given.size(), false)};
    for (size_t k = 0; k < grads.size(); ++k)
      step.require_grad[k] = grad_enabled() && given[k] && grads[k].requires_grad();
    Compiled& again = shared_->derivative(step, grad_enabled());
    const Ref<Node> self(this);
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < inputs_.size(); ++i)
      tensors.push_back(old_[i].defined() ? old_[i] : inputs_[i].unpack(self));
    for (size_t k = 0; k < grads.size(); ++k)
      if (given[k]) tensors.push_back(compact(grads[k]));
    std::vector<RunOutput> outputs;
    const RandomPast past(halves_.forward.program().generators, random_);
    const UninterruptedRun uninterrupted;
    if (again.run(lend(tensors), scalars_, nullptr, outputs).status != RunStatus::Done)
      throw InternalError(fmt::format("the gradient of '{}' went another way than its forward", shared_->trace->name));
    std::vector<Tensor> out;
    for (RunOutput& g : outputs) out.push_back(std::get<Tensor>(std::move(g)));
    return out;
  }

  std::shared_ptr<Shared> shared_;
  Halves& halves_;  ///< of shared_
  const Choice choice_;
  Choice spent_, last_;
  std::vector<autograd::SavedTensor> saved_, inputs_;
  std::vector<Tensor> old_;  ///< by input: as it was before the run wrote it; undefined for others
  std::vector<Scalar> saved_scalars_;
  const std::vector<Scalar> scalars_;
  const std::vector<RandomState> random_;  ///< before the run, of the program's generators
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
  explicit Pair(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  RunResult run(LentTensors lent, std::span<const Scalar> scalars, const std::function<bool()>& before_commit,
                std::vector<RunOutput>& outputs, Release* release, const SameTensors& same) override {
    std::vector<Tensor> inputs;  // the node refers to them
    for (TensorImpl* t : lent) inputs.push_back(kept(t));
    Choice choice;
    Halves& halves = shared_->halves(choice);
    Runner& forward = halves.forward;
    Runner::Made made;
    Ref<PairNode> node;
    std::vector<RandomState> random;
    for (Generator* g : forward.program().generators) random.push_back((g ? *g : default_generator()).state());
    const RunResult result = forward.run(
        lent, scalars, {}, interrupt_poll(),
        [&] {
          node = Ref<PairNode>(new PairNode(shared_, halves, choice, inputs, scalars, std::move(random)));
          forward.collect(made, outputs);
          return !before_commit || before_commit();
        },
        made, release, same);
    if (result.status != RunStatus::Done) return result;
    forward.publish(lent, made);
    node->save(inputs, made);
    const Ref<autograd::Node> pair(node.get());
    const std::vector<uint32_t>& specs = forward.program().differentiable;
    for (uint32_t k = 0; k < specs.size(); ++k) {
      if (specs.size() == 1)
        autograd::set_history(made.tensors[specs[k]], pair, k);
      else
        autograd::set_history(made.tensors[specs[k]], Ref<autograd::Node>(new ResultNode(pair, k, shared_->names[k])),
                              0);
    }
    forward.retain_gradients(made);
    return result;
  }

  std::string text() const override {
    return print(shared_->whole().forward.graph()) + print(shared_->whole().backward.graph());
  }
  size_t node_count() const override {
    return count_nodes(shared_->whole().forward.graph()) + count_nodes(shared_->whole().backward.graph());
  }
  size_t call_count() const override { return shared_->whole().forward.program().calls; }
  const std::vector<Generator*>& generators() const override { return shared_->whole().forward.program().generators; }
  size_t bytes() const override { return shared_->bytes(); }

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace

std::shared_ptr<Compiled> make_pair(Program joint, std::shared_ptr<const Trace> trace, const BuildRequest& request) {
  return std::make_shared<Pair>(std::make_shared<Shared>(std::move(joint), std::move(trace), request));
}

}  // namespace terra::graph
