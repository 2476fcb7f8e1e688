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

}  // namespace

DeferredNode::DeferredNode(std::shared_ptr<DeferredCalls> calls) : calls_(std::move(calls)) {
  results = 0;
  take_places();
}

/// For this node, and for those that may take its place: behind all nodes that there are, before all that will be.
void DeferredNode::take_places() {
  first_place_ = autograd::reserve_sequence(kPlaces);
  sequence = first_place_ + kPlaces - 1;
}

/// The nodes that the calls got when they were played again.
void DeferredNode::place(const std::vector<Tensor>& made) {
  std::vector<autograd::Node*> nodes;
  std::unordered_set<autograd::Node*> known;
  std::vector<autograd::Node*> waiting;
  const auto meet = [&](const autograd::Edge& e) {
    if (e.node && e.node->sequence > sequence && known.insert(e.node.get()).second) waiting.push_back(e.node.get());
  };
  for (const Tensor& t : made) meet(autograd::history(t));
  while (!waiting.empty()) {
    autograd::Node* node = waiting.back();
    waiting.pop_back();
    nodes.push_back(node);
    for (const autograd::Edge& e : node->edges) meet(e);
  }
  std::sort(nodes.begin(), nodes.end(), [](auto* a, auto* b) { return a->sequence < b->sequence; });
  for (size_t i = 0; i < nodes.size(); ++i) nodes[i]->sequence = first_place_ + std::min<uint64_t>(i, kPlaces - 2);
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

void DeferredNode::release_saved() {
  if (!replayed_.empty()) return;  // the nodes that have taken its place do that
  released_ = true;
  calls_->run_.reset();
}

std::vector<Tensor> DeferredNode::by_edge(const std::vector<Tensor>& by_tensor) const {
  std::vector<Tensor> made;
  for (uint32_t t : tensors_) made.push_back(by_tensor[t]);
  return made;
}

std::vector<Tensor> DeferredNode::apply(const std::vector<Tensor>& grads) {
  if (released_) autograd::fail_spent();
  if (replayed_.empty()) calls_->settle();
  if (!replayed_.empty()) return grads;
  if (grad_enabled() || !calls_->run_) return apply_again(grads);
  std::vector<Tensor> tangents = grads;
  tangents.resize(calls_->dag_.results.size());
  bool exact = false;
  std::vector<Tensor> found = calls_->run_->backward(tangents, exact);
  return exact ? by_edge(found) : apply_again(grads);
}

/// Every call again, op by op, from what they got. Throws Error where that was written since.
std::vector<Tensor> DeferredNode::replay() {
  const CallDag& dag = calls_->dag_;
  for (const CallDag::External& t : dag.tensors)
    if (t.tensor->version() != t.version)
      autograd::fail_modified({t.tensor.dtype(), t.tensor.sizes()}, autograd::history(t.tensor), t.tensor->version(),
                              t.version);
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

/// Not while gradients flow: who leads where is settled then.
autograd::Edge DeferredNode::unfolded(uint32_t result) {
  if (replayed_.empty() && (released_ || autograd::pass_under_way())) return {};
  calls_->settle();
  if (replayed_.empty()) unfold(replay());
  return result < edges.size() ? edges[result] : autograd::Edge();
}

void DeferredNode::unfold(std::vector<Tensor> made) {
  place(made);
  edges.clear();
  for (const Tensor& t : made) edges.push_back(t.requires_grad() ? autograd::gradient_edge(t) : autograd::Edge());
  edges.resize(results);
  tensors_.clear();
  replayed_ = std::move(made);
  calls_->run_.reset();
}

}  // namespace terra::recursive
