#include "recursive/deferral/deferred_calls.h"

#include <algorithm>
#include <utility>

#include "engine/autograd/autograd.h"
#include "engine/autograd/saved.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/tensor/sparse.h"
#include "recursive/deferral/batch_check.h"
#include "recursive/deferral/deferred_node.h"
#include "recursive/deferral/deferred_queue.h"

namespace terra::recursive {
namespace {

constexpr uint32_t kNone = CallDag::kNone;
/// Calls that get different tensors of so many bytes for the same input don't run together: each would need a copy.
constexpr size_t kLarge = 1 << 14;

}  // namespace

DeferralCounts& deferral_counts() {
  static DeferralCounts counts;
  return counts;
}

bool DeferredCalls::defer(const std::shared_ptr<DeferredGraph>& graph, LentTensors tensors,
                          std::span<const Scalar> numbers, std::vector<std::variant<Tensor, Scalar>>& results) {
  if (!graph->check_values(tensors, numbers)) return false;
  DeferredCalls* const calls = DeferredQueue::get().calls_for(tensors);
  if (!calls || !calls->take_operands(*graph, tensors)) return false;
  if (graph->draws()) calls->take_drawn(*graph, graph->draw(numbers));
  calls->add(graph, tensors, numbers, results);
  size_t bytes = 0;
  for (const DeferredGraph::Output& o : graph->outputs()) bytes += o.bytes;
  DeferredQueue::get().bound(bytes);
  return true;
}

/// With the operands that were taken.
void DeferredCalls::add(const std::shared_ptr<DeferredGraph>& graph, LentTensors tensors,
                        std::span<const Scalar> numbers, std::vector<std::variant<Tensor, Scalar>>& results) {
  const uint32_t kind = kind_of(graph);
  const auto number = static_cast<uint32_t>(dag_.calls.size());
  dag_.calls.push_back({kind, static_cast<uint32_t>(dag_.kinds[kind].calls.size()),
                        static_cast<uint32_t>(dag_.operands.size()), static_cast<uint32_t>(dag_.numbers.size()),
                        static_cast<uint32_t>(dag_.results.size())});
  dag_.kinds[kind].calls.push_back(number);
  dag_.operands.insert(dag_.operands.end(), operands_.begin(), operands_.end());
  dag_.numbers.insert(dag_.numbers.end(), numbers.begin(), numbers.end());
  const auto& outputs = graph->outputs();
  std::vector<Tensor> made;
  for (uint32_t o = 0; o < outputs.size(); ++o) {
    dag_.results.push_back({number, o});
    made.push_back(make_result(outputs[o]));
  }
  for (const DeferredGraph::Result& r : graph->results()) {
    switch (r.kind) {
      case DeferredGraph::Result::Kind::Made: results.push_back(made[r.index]); break;
      case DeferredGraph::Result::Kind::Input: results.push_back(kept(tensors[r.index])); break;
      case DeferredGraph::Result::Kind::Number: results.push_back(r.number); break;
    }
  }
  ++deferral_counts().calls;
}

/// All but those that are drawn.
bool DeferredCalls::take_operands(const DeferredGraph& graph, LentTensors tensors) {
  operands_.clear();
  weights_.clear();
  for (const DeferredGraph::Input& in : graph.inputs()) {
    CallDag::Operand& operand = operands_.emplace_back();
    uint32_t weight = kNone;
    if (in.is_tensor && !in.is_drawn) {
      if (!take_operand(*tensors[in.number], operand)) return false;
      if (operand.tensor != kNone) {
        if (in.requires_grad) add_edge(operand.tensor);
        if (in.meta.bytes() >= kLarge) weight = operand.tensor;
      }
    }
    weights_.push_back(weight);
  }
  return true;
}

void DeferredCalls::take_drawn(const DeferredGraph& graph, const std::vector<Tensor>& drawn) {
  size_t next = 0;
  for (size_t i = 0; i < operands_.size(); ++i)
    if (graph.inputs()[i].is_drawn) operands_[i].tensor = add_tensor(*drawn[next++]);
}

/// What other stages make, and other tensors of the memory of what these calls make, comes from outside.
bool DeferredCalls::take_operand(TensorImpl& tensor, CallDag::Operand& operand) {
  if (!tensor.storage || tensor.is_symbolic() || is_sparse(tensor) || !tensor.device.is_cpu()) return false;
  const Storage& storage = *tensor.storage;
  if (has_made(tensor)) {
    operand.result = storage.ticket();
    return true;
  }
  if (storage.exported()) return false;
  const auto known = number_of_.find(&tensor);
  operand.tensor = known != number_of_.end() ? known->second : add_tensor(tensor);
  return true;
}

bool DeferredCalls::has_made(const TensorImpl& tensor) const {
  const Storage& storage = *tensor.storage;
  return storage.deferral() == this && !(storage.ticket() & kRead) && made_[storage.ticket()].serial == tensor.serial;
}

uint32_t DeferredCalls::add_tensor(TensorImpl& tensor) {
  const auto number = static_cast<uint32_t>(dag_.tensors.size());
  dag_.tensors.emplace_back(kept(&tensor));
  number_of_.emplace(&tensor, number);
  guard(*tensor.storage);
  return number;
}

void DeferredCalls::guard(Storage& storage) {
  if (storage.deferral()) return;  // it is guarded, or still to be made
  storage.defer_to(this, kRead);
  guarded_.emplace_back(&storage);
}

void DeferredCalls::let_go() {
  for (const Ref<Storage>& s : guarded_) s->defer_to(nullptr, 0);
  guarded_.clear();
}

void DeferredCalls::add_edge(uint32_t tensor) {
  CallDag::External& from = dag_.tensors[tensor];
  if (from.wants_gradient()) return;
  from.history = autograd::gradient_edge(from.tensor);
  if (!node_) {
    node_ = new DeferredNode(shared_from_this());
    new_node_ = Ref<autograd::Node>(node_);
  }
  node_->add_edge(tensor, from.history);
}

uint32_t DeferredCalls::kind_of(const std::shared_ptr<DeferredGraph>& graph) {
  for (uint32_t k = static_cast<uint32_t>(dag_.kinds.size()); k-- > 0;)
    if (dag_.kinds[k].graph == graph && dag_.kinds[k].weights == weights_) return k;
  dag_.kinds.push_back({graph, weights_, {}});
  return static_cast<uint32_t>(dag_.kinds.size() - 1);
}

Tensor DeferredCalls::make_result(const DeferredGraph::Output& output) {
  const auto ticket = static_cast<uint32_t>(made_.size());
  const Ref<Storage> storage = Storage::deferred(output.bytes, *this, ticket);
  Tensor made = Tensor::view_of(storage, output.meta.dtype, output.meta.sizes, output.strides, 0);
  if (output.requires_grad) {
    ensure(node_ != nullptr, "results that require grad come from tensors that do");
    node_->results = ticket + 1;
    autograd::set_history(made, new_node_, ticket);
  }
  made_.push_back({storage, made->serial});
  return made;
}

// ---- running ------------------------------------------------------------------------------------------------------

void DeferredCalls::settle() {
  if (failed_) std::rethrow_exception(failed_);
  if (!settled_) DeferredQueue::get().settle();
}

void DeferredCalls::run_now() {
  settled_ = true;
  number_of_.clear();
  try {
    try {
      run();
    } catch (const std::exception& e) {
      if (on_deferral_error && !dynamic_cast<const Error*>(&e)) on_deferral_error(e.what());
      run_plainly();
    }
  } catch (...) {
    failed_ = std::current_exception();
  }
  for (CallDag::External& t : dag_.tensors) t.let_go();
  made_.clear();
  node_ = nullptr;
  new_node_.reset();
  if (failed_) std::rethrow_exception(failed_);
}

void DeferredCalls::run() {
  const bool has_gradients = node_ && new_node_->use_count() > 1;
  auto run = std::make_unique<DagRun>(dag_);
  run->forward();
  check_batches(dag_, *run);
  for (uint32_t r = 0; r < made_.size(); ++r)
    if (made_[r].storage->use_count() > 1) {
      made_[r].storage->deliver(run->copy_of(r));
      if (has_gradients) show(r, made_[r].storage);
    }
  DeferralCounts& counts = deferral_counts();
  ++counts.settled;
  counts.batches += run->batches();
  counts.widest = std::max<uint64_t>(counts.widest, dag_.calls.size());
  for (uint32_t k = 0; k < dag_.kinds.size(); ++k)
    dag_.kinds[k].graph->count(dag_.kinds[k].calls.size(), run->batches_of(k));
  if (!has_gradients) return;
  run_ = std::move(run);
  for (const CallDag::External& t : dag_.tensors) kept_.keep(t.given->storage);
}

/// Call by call, op by op.
void DeferredCalls::run_plainly() {
  const GradMode mode(node_ != nullptr);
  autograd::FoldedNode::StandIns memory;
  std::vector<Tensor> results = play({}, memory);
  for (uint32_t r = 0; r < made_.size(); ++r) {
    if (!made_[r].storage->deferral() || made_[r].storage->use_count() == 1) continue;
    const GradMode off(false);
    const Tensor copy = (*find_op("clone"))(results[r], "contiguous_format");
    made_[r].storage->deliver(copy->storage);
    memory.emplace(results[r]->storage.get(), made_[r].storage);
  }
  if (node_) node_->unfold(std::move(results), memory);
}

/// The program has the result there.
void DeferredCalls::show(uint32_t result, Ref<Storage> bytes) {
  shown_.resize(dag_.results.size());
  shown_[result] = std::move(bytes);
}

/// Whether the program has written to a result.
bool DeferredCalls::is_shown_written() const {
  return std::any_of(shown_.begin(), shown_.end(), [](const Ref<Storage>& s) { return s && s->writes() > 0; });
}

/// Everything again from what the calls got, by result; with a history where gradients are enabled. `wanted`, by call:
/// those and what they compute from; all if empty. Throws Error where what they got is no longer known; once what they
/// have saved is freed, they get what is there by now.
std::vector<Tensor> DeferredCalls::play(const std::vector<bool>& wanted, autograd::FoldedNode::StandIns& memory) const {
  std::vector<Tensor> made(dag_.results.size()), given(dag_.tensors.size());
  std::vector<bool> needed = wanted;
  for (size_t c = needed.size(); c-- > 0;) {
    if (!needed[c]) continue;
    for (uint32_t i = 0; i < dag_.graph_of(dag_.calls[c]).inputs().size(); ++i)
      if (const uint32_t r = dag_.operand(dag_.calls[c], i).result; r != kNone) needed[dag_.results[r].call] = true;
  }
  const auto tensor_of = [&](const CallDag::Operand& operand) {
    if (operand.result != kNone) return made[operand.result];
    const CallDag::External& t = dag_.tensors[operand.tensor];
    if (!t.is_written() || is_freed()) return t.on_tape();
    Tensor& before = given[operand.tensor];
    if (before.defined()) return before;
    const Ref<Storage> bytes = kept_.copy_of(*t.given->storage);
    if (!bytes) autograd::fail_modified_apart({t.given.dtype(), t.given.sizes()});
    before = t.on_tape(bytes);
    memory.emplace(before->storage.get(), t.given->storage);
    return before;
  };
  for (size_t c = 0; c < dag_.calls.size(); ++c) {
    if (!needed.empty() && !needed[c]) continue;
    const CallDag::Call& call = dag_.calls[c];
    const std::vector<Tensor> results = dag_.play(call, tensor_of);
    const auto& outputs = dag_.graph_of(call).outputs();
    for (size_t o = 0; o < results.size(); ++o) {
      const size_t r = call.results + o;
      made[r] = !outputs[o].requires_grad && results[o].requires_grad() ? results[o].alias() : results[o];
      if (r < shown_.size() && shown_[r] && shown_[r]->bytes() == made[r]->storage->bytes())
        memory.emplace(made[r]->storage.get(), shown_[r]);
    }
  }
  return made;
}

/// What gradients are computed from.
void DeferredCalls::free() {
  if (run_) run_->release();
  shown_.clear();
  kept_.let_go();
}

}  // namespace terra::recursive
