#include "recursive/runtime/recursion.h"

#include <algorithm>

#include "engine/autograd/autograd.h"
#include "engine/autograd/saved.h"
#include "engine/autograd/spent_node.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"

namespace terra::recursive {
namespace {

/// The gradient of one invocation: the batches of its run in reverse.
class InvocationNode final : public autograd::Node {
 public:
  InvocationNode(std::shared_ptr<Recursion> recursion, std::unique_ptr<Run> run,
                 const std::vector<std::vector<HostValue>>& operands)
      : recursion_(std::move(recursion)), run_(std::move(run)) {
    const auto& inputs = recursion_->graphs().root().inputs;
    for (uint32_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].kind == InputKind::Shared) add_edge({Target::Shared, 0, i}, std::get<Tensor>(operands[0][i]));
      if (inputs[i].kind == InputKind::Row)
        for (uint32_t r = 0; r < operands.size(); ++r)
          add_edge({Target::Operand, r, i}, std::get<Tensor>(operands[r][i]));
    }
    for (uint32_t f = 0; f < run_->feeds().size(); ++f) add_edge({Target::Feed, f, 0}, run_->fed(run_->feeds()[f]));
    for (const auto& of_root : operands) {
      (void)of_root;
      for (const graph::ValueMeta& meta : recursion_->graphs().root().results)
        metas_.push_back({meta.dtype, meta.sizes});
    }
    this->results = static_cast<uint32_t>(metas_.size());
  }

  std::vector<Tensor> apply(const std::vector<Tensor>& grads) override {
    if (released()) autograd::fail_spent();
    if (grad_enabled())
      throw Error(
          ErrorKind::RuntimeError,
          "The gradient of a recursive function that runs many calls at once was asked for with "
          "create_graph=True: second derivatives need the calls one by one. Run with --capture=off, or decorate "
          "the function with terra.compiler.disable.");
    const size_t count = recursion_->graphs().root().results.size();
    std::vector<std::vector<Tensor>> tangents;
    for (size_t g = 0; g < grads.size(); ++g) {
      if (g % count == 0) tangents.emplace_back();
      tangents.back().push_back(grads[g]);
    }
    for (const autograd::SavedTensor& s : saved_) s.unpack(Ref<Node>(this));  // throws where one was written since
    const RunGradients found = run_->backward(tangents);
    std::vector<Tensor> all;
    for (const Target& t : targets_)
      all.push_back(t.kind == Target::Shared    ? found.shared[t.input]
                    : t.kind == Target::Operand ? found.operands[t.number][t.input]
                                                : found.feeds[t.number]);
    return all;
  }
  std::string name() const override { return "InvokeBackward0"; }
  bool calls_program() const override { return false; }  // host functions are behind it
  void release_saved() override {
    run_->release();
    saved_.clear();
  }
  bool released() const override { return run_->released(); }
  const TensorMeta* result_meta(uint32_t i) const override { return &metas_[i]; }
  void each_saved(const std::function<void(const autograd::SavedTensor&)>& visit) const override {
    for (const autograd::SavedTensor& s : saved_) visit(s);
  }

 private:
  struct Target {
    enum Kind : uint8_t { Shared, Operand, Feed } kind;
    uint32_t number;  ///< of the root, of the feed
    uint32_t input;
  };

  /// Shared tensors that are read again must still be what they were.
  void add_edge(Target target, const Tensor& t) {
    if (target.kind == Target::Shared && run_->is_read_backward(target.input)) saved_.emplace_back(t, false);
    targets_.push_back(target);
    edges.push_back(t.requires_grad() ? autograd::gradient_edge(t) : autograd::Edge());
  }

  const std::shared_ptr<Recursion> recursion_;
  const std::unique_ptr<Run> run_;
  std::vector<Target> targets_;
  std::vector<autograd::SavedTensor> saved_;
  std::vector<TensorMeta> metas_;
};

graph::ValueMeta meta_of(const HostValue& value) {
  if (const auto* tensor = std::get_if<Tensor>(&value))
    return graph::ValueMeta::tensor(tensor->dtype(), tensor->sizes(), tensor->device());
  if (const auto* number = std::get_if<Scalar>(&value)) return graph::ValueMeta::number(number->kind());
  return host_meta<void*>();
}

/// Whether it may stand where that was declared: an int is a float as well, and structures are anything.
bool fits(const HostValue& value, const graph::ValueMeta& declared) {
  if (declared.kind == graph::ValueKind::Handle) return true;
  const auto* number = std::get_if<Scalar>(&value);
  if (number && declared.kind == graph::ValueKind::Scalar) return number->kind() <= declared.scalar;
  return meta_of(value) == declared;
}

void check_operands(const graph::Graph& graph, const std::string& name, const std::vector<HostValue>& given) {
  for (size_t i = 0; i < given.size(); ++i) {
    const graph::ValueMeta& declared = graph.meta(graph.inputs[i]);
    check_kind(fits(given[i], declared), ErrorKind::TypeError,
               "input {} of SubGraph \"{}\" is declared as {}, but is invoked with {}", i, name, to_string(declared),
               to_string(meta_of(given[i])));
  }
}

/// What `make` makes of a SubGraph; an Error where there is no way to run its calls.
template <class F>
auto refusing(const std::string& name, F&& make) {
  try {
    return make();
  } catch (const Unbatchable& refused) {
    fail(ErrorKind::RuntimeError, "SubGraph \"{}\" can't be run: {}", name, refused.why);
  }
}

}  // namespace

std::shared_ptr<Recursion> Recursion::make(std::shared_ptr<const graph::GraphTable> table, GraphId root) {
  const std::string name = table->name(root);
  return refusing(name, [&] {
    return std::shared_ptr<Recursion>(new Recursion(std::move(table), root, {}, std::make_shared<RecursionCounts>()));
  });
}

/// For invocations that differ in these inputs, which calls hand down unchanged.
Recursion& Recursion::with_own(const std::vector<bool>& own) {
  std::shared_ptr<Recursion>& made = others_[own];
  if (!made) made.reset(new Recursion(table_, graphs_.root().id, own, counts_));
  return *made;
}

std::shared_ptr<Recursion> Recursion::make(const terra::SubGraph& root) {
  Lowered lowered = lower(root);
  const auto made = make(std::move(lowered.table), lowered.root);
  made->outside_ = std::move(lowered.outside);
  return made;
}

StagedPath& Recursion::staged(const SubGraph& of, uint32_t path, const Wanted& wanted, bool batched) {
  std::unique_ptr<StagedPath>& made = staged_[{of.id, path, wanted, batched}];
  if (made) return *made;
  made = refusing(
      of.name, [&] { return std::make_unique<StagedPath>(stage_path(&graphs_, of, of.paths[path], wanted, batched)); });
  if (!made->why_one_by_one.empty()) counts_->one_by_one.push_back(made->why_one_by_one);
  return *made;
}

std::vector<Tensor> Recursion::invoke(const std::vector<HostValue>& operands, const RecursionOptions& options) {
  return std::move(invoke_all({operands}, options)[0]);
}

std::vector<std::vector<Tensor>> Recursion::invoke_all(std::vector<std::vector<HostValue>> operands,
                                                       const RecursionOptions& options) {
  install_host_functions();
  const auto& inputs = graphs_.root().inputs;
  for (auto& given : operands) {
    given.insert(given.end(), outside_.begin(), outside_.end());
    check_kind(given.size() == inputs.size(), ErrorKind::TypeError, "SubGraph \"{}\" takes {} operands, but got {}",
               graphs_.root().name, inputs.size() - outside_.size(), given.size() - outside_.size());
    check_operands(table_->at(graphs_.root().id), graphs_.root().name, given);
  }
  std::vector<bool> own(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    own[i] =
        inputs[i].kind == InputKind::Shared && std::any_of(operands.begin(), operands.end(), [&](const auto& given) {
          return std::get<Tensor>(given[i]).get() != std::get<Tensor>(operands[0][i]).get();
        });
  if (std::find(own.begin(), own.end(), true) != own.end())
    return with_own(own).invoke_all(std::move(operands), options);
  Wanted wanted;
  wanted.inputs.resize(inputs.size());
  if (grad_enabled())
    for (size_t i = 0; i < inputs.size(); ++i)
      for (const auto& given : operands)
        if (const auto* t = std::get_if<Tensor>(&given[i]); t && t->requires_grad()) wanted.inputs[i] = true;
  Forest forest(graphs_, operands, options.most_depth);
  // A walk that goes on while calls run may still meet tensors that require grad.
  wanted.feeds = grad_enabled() && (forest.reads_gradients() || (!forest.is_complete() && graphs_.read_tensors()));
  auto run = std::make_unique<Run>(graphs_, operands, std::move(forest));
  std::vector<std::vector<Tensor>> results = run->forward(
      [&](const SubGraph& of, uint32_t path) -> StagedPath& { return staged(of, path, wanted, options.batched); });
  ++counts_->invocations;
  counts_->calls += run->forest().size();
  counts_->batches += run->schedule().batches.size();
  wanted.feeds = wanted.feeds && run->forest().reads_gradients();
  if (!wanted.any()) return results;
  const auto node = Ref<autograd::Node>(new InvocationNode(shared_from_this(), std::move(run), operands));
  uint32_t index = 0;
  for (auto& of_root : results)
    for (const Tensor& t : of_root) {
      if (is_inexact(t.dtype())) autograd::set_history(t, node, index);
      ++index;
    }
  return results;
}

}  // namespace terra::recursive
