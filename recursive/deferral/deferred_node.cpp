#include "recursive/deferral/deferred_node.h"

#include <algorithm>
#include <unordered_set>

#include "engine/autograd/autograd.h"
#include "engine/autograd/pass.h"
#include "engine/autograd/saved.h"
#include "engine/autograd/spent_node.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"

namespace terra::recursive {
namespace {

constexpr uint32_t kNone = CallDag::kNone;

[[noreturn]] void fail_written(const CallDag::External& t) {
  autograd::fail_modified({t.given.dtype(), t.given.sizes()}, autograd::history(t.tensor), t.given->version(),
                          t.version);
}

std::vector<autograd::Edge> histories_of(const std::vector<Tensor>& made) {
  std::vector<autograd::Edge> histories;
  for (const Tensor& t : made) histories.push_back(t.requires_grad() ? autograd::gradient_edge(t) : autograd::Edge());
  return histories;
}

}  // namespace

DeferredNode::DeferredNode(std::shared_ptr<DeferredCalls> calls) : calls_(std::move(calls)) { results = 0; }

/// Those of calls that have been passed, and are not to be passed again. `first_nodes`: of DeferredCalls::play.
void DeferredNode::release_spent(const std::vector<Tensor>& made, const std::vector<uint64_t>& first_nodes) const {
  if (!released()) return;
  for (autograd::Node* node : nodes_behind(histories_of(made))) {
    const auto behind = std::upper_bound(first_nodes.begin(), first_nodes.end(), node->sequence);
    if (spent_[static_cast<size_t>(behind - first_nodes.begin()) - 1]) node->release_saved();
  }
}

DeferredNode::~DeferredNode() {
  if (calls_->node_ == this) calls_->node_ = nullptr;
}

void DeferredNode::add_edge(uint32_t tensor, const Tensor& from) {
  tensors_.push_back(tensor);
  edges.push_back(autograd::gradient_edge(from));
  take_places();
}

const TensorMeta* DeferredNode::result_meta(uint32_t result) const {
  if (result >= calls_->dag_.results.size()) return nullptr;
  const CallDag::Result& r = calls_->dag_.results[result];
  return &calls_->dag_.graph_of(calls_->dag_.calls[r.call]).outputs()[r.output].meta;
}

/// Frees for those calls that the last pass has gone through, as if each had a node of its own. They share their
/// memory: it goes when none of them can be passed again.
void DeferredNode::release_saved() {
  if (!replayed_.empty()) return;  // the nodes that have taken its place do that
  spent_.resize(calls_->dag_.calls.size());
  bool all = true;
  for (size_t c = 0; c < spent_.size(); ++c) {
    spent_[c] = spent_[c] || passed_[c];
    all = all && (spent_[c] || !calls_->run_->saves(c));
  }
  if (all) calls_->run_->release();
}

bool DeferredNode::released() const { return std::find(spent_.begin(), spent_.end(), true) != spent_.end(); }

/// Throws where the pass would read what an earlier one has freed.
void DeferredNode::require_unspent(const std::vector<Tensor>& tangents) {
  passed_ = calls_->run_->reads_saved(tangents);
  for (size_t c = 0; c < spent_.size(); ++c)
    if (spent_[c] && passed_[c]) autograd::fail_spent();
}

std::vector<Tensor> DeferredNode::by_edge(const std::vector<Tensor>& by_tensor) const {
  std::vector<Tensor> made;
  for (uint32_t t : tensors_) made.push_back(by_tensor[t]);
  return made;
}

std::vector<Tensor> DeferredNode::apply(const std::vector<Tensor>& grads) {
  if (replayed_.empty()) calls_->settle();
  if (!replayed_.empty()) return grads;
  std::vector<Tensor> tangents = grads;
  tangents.resize(calls_->dag_.results.size());
  require_unspent(tangents);
  require_unwritten();
  if (grad_enabled() || calls_->run_->is_released()) return apply_again(grads);
  bool exact = false;
  std::vector<Tensor> found = calls_->run_->backward(tangents, exact);
  return exact ? by_edge(found) : apply_again(grads);
}

/// Throws where the pass would read what was written since the calls have read or made it. Batches have results in rows
/// of their own: there it is an error only where a call by itself would have saved the very result.
void DeferredNode::require_unwritten() const {
  const std::vector<CallDag::Operand> written = calls_->run_->written();
  if (written.empty()) return;
  for (const CallDag::Operand& w : written)
    if (w.tensor != kNone) fail_written(calls_->dag_.tensors[w.tensor]);
  const GradMode on(true);
  const std::vector<Tensor> made = calls_->play();
  std::unordered_set<const Storage*> saved;
  for (const autograd::Node* node : nodes_behind(histories_of(made)))
    node->each_saved([&](const autograd::SavedTensor& s) {
      if (s.unchecked().defined()) saved.insert(s.unchecked()->storage.get());
    });
  for (const CallDag::Operand& w : written) {
    const Tensor& original = made[w.result];
    if (saved.count(original->storage.get()))
      autograd::fail_modified({original.dtype(), original.sizes()}, autograd::history(original),
                              calls_->run_->version_of(w.result), 0);
  }
}

/// Every call again, op by op, from what they got. Throws Error where that was written since.
std::vector<Tensor> DeferredNode::replay() {
  for (const CallDag::External& t : calls_->dag_.tensors) {
    if (t.is_written()) fail_written(t);
    if (t.is_changed()) autograd::fail_modified_apart({t.given.dtype(), t.given.sizes()});
  }
  const GradMode on(true);
  return calls_->play();
}

std::vector<Tensor> DeferredNode::apply_again(const std::vector<Tensor>& grads) {
  const std::vector<Tensor> made = replay();
  std::vector<Tensor> roots, tangents;
  for (size_t r = 0; r < grads.size() && r < made.size(); ++r) {
    if (!grads[r].defined() || !made[r].requires_grad()) continue;
    roots.push_back(made[r]);
    tangents.push_back(grads[r]);
  }
  return autograd::gradients_at(roots, tangents, edges, grad_enabled(), grad_enabled());
}

/// Not while gradients flow: who leads where is settled then. What the calls got may have been written since: that
/// shows in gradients, of which there are none once all that was saved is freed.
autograd::Edge DeferredNode::unfolded(uint32_t result) {
  if (replayed_.empty() && autograd::pass_under_way()) return {};
  calls_->settle();
  if (replayed_.empty()) {
    const auto& tensors = calls_->dag_.tensors;
    const bool written = std::any_of(tensors.begin(), tensors.end(), [](const auto& t) { return t.is_written(); });
    if (written && !calls_->run_->is_released()) return {};
    const GradMode on(true);
    std::vector<uint64_t> first_nodes;
    std::vector<Tensor> made = calls_->play(&first_nodes);
    release_spent(made, first_nodes);
    unfold(std::move(made));
  }
  return result < edges.size() ? edges[result] : autograd::Edge();
}

void DeferredNode::unfold(std::vector<Tensor> made) {
  std::vector<autograd::Edge> histories = histories_of(made);
  histories.resize(results);
  replace_by(std::move(histories));
  tensors_.clear();
  replayed_ = std::move(made);
  calls_->run_.reset();
}

}  // namespace terra::recursive
