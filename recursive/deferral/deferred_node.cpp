#include "recursive/deferral/deferred_node.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "engine/autograd/autograd.h"
#include "engine/autograd/pass.h"
#include "engine/autograd/spent_node.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"

namespace terra::recursive {
namespace {

constexpr uint32_t kNone = CallDag::kNone;

std::vector<autograd::Edge> histories_of(const std::vector<Tensor>& made) {
  std::vector<autograd::Edge> histories;
  for (const Tensor& t : made)
    histories.push_back(t.defined() && t.requires_grad() ? autograd::gradient_edge(t) : autograd::Edge());
  return histories;
}

}  // namespace

DeferredNode::DeferredNode(std::shared_ptr<DeferredCalls> calls) : calls_(std::move(calls)) { results = 0; }

DeferredNode::~DeferredNode() {
  if (calls_->node_ == this) calls_->node_ = nullptr;
}

void DeferredNode::add_edge(uint32_t tensor, const autograd::Edge& to) {
  tensors_.push_back(tensor);
  edges.push_back(to);
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
  if (std::find(freed_by_.begin(), freed_by_.end(), last_) == freed_by_.end()) freed_by_.push_back(last_);
  spent_.resize(calls_->dag_.calls.size());
  bool all = true;
  for (size_t c = 0; c < spent_.size(); ++c) {
    spent_[c] = spent_[c] || reached_[c];
    all = all && (spent_[c] || !calls_->run_->saves(c));
  }
  if (all) calls_->free();
}

bool DeferredNode::released() const {
  for (size_t c = 0; c < spent_.size() && replayed_.empty(); ++c)
    if (spent_[c] && calls_->run_->saves(c)) return true;
  return false;
}

void DeferredNode::select(const std::vector<bool>* wanted) {
  last_.wanted = wanted ? *wanted : std::vector<bool>(edges.size(), true);
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
  last_.given.clear();
  for (const Tensor& t : tangents) last_.given.push_back(t.defined());
  reached_ = calls_->run_->reached(tangents);
  if (grad_enabled() || !is_as_it_was()) return apply_again(grads);
  bool exact = false;
  std::vector<Tensor> found = calls_->run_->backward(tangents, exact);
  return exact ? by_edge(found) : apply_again(grads);
}

/// Nobody has written or freed what the calls that are reached have read and made since they ran.
bool DeferredNode::is_as_it_was() const {
  for (size_t c = 0; c < spent_.size(); ++c)
    if (spent_[c] && reached_[c]) return false;
  return !calls_->is_freed() && !calls_->is_shown_written() && !calls_->run_->is_any_input_changed();
}

/// The calls that `wanted` says again (DeferredCalls::play), op by op on the tape. What their nodes have saved is the
/// program's memory, as it is by now, and freed where those of the first time would have been.
std::vector<Tensor> DeferredNode::replay(const std::vector<bool>& wanted) const {
  const GradMode on(true);
  StandIns memory;
  const std::vector<Tensor> made = calls_->play(wanted, memory);
  const std::vector<autograd::Edge> histories = histories_of(made);
  give_back(histories, memory);
  for (const Passage& p : freed_by_) release(histories, p);
  const auto is_written = [](const CallDag::External& t) { return t.is_written(); };
  if (calls_->is_freed() && std::any_of(calls_->dag_.tensors.begin(), calls_->dag_.tensors.end(), is_written))
    release(histories, through_spent());
  return made;
}

/// One that comes from all results of calls whose values are gone.
DeferredNode::Passage DeferredNode::through_spent() const {
  Passage passage{{}, std::vector<bool>(edges.size(), true)};
  for (const CallDag::Result& r : calls_->dag_.results)
    passage.given.push_back(spent_[r.call] && calls_->run_->saves(r.call));
  return passage;
}

/// What the nodes have saved that a pass goes through.
void DeferredNode::release(const std::vector<autograd::Edge>& histories, const Passage& passage) const {
  std::unordered_map<const autograd::Node*, std::pair<bool, bool>> ways;  // it is reached, it leads to what is wanted
  std::set<std::pair<const autograd::Node*, uint32_t>> ends;
  for (size_t i = 0; i < edges.size(); ++i)
    if (passage.wanted[i]) ends.emplace(edges[i].node.get(), edges[i].index);
  const auto leads = [&](const autograd::Edge& e) {
    if (ends.contains({e.node.get(), e.index})) return true;
    const auto at = ways.find(e.node.get());
    return at != ways.end() && at->second.second;
  };
  const std::vector<autograd::Node*> nodes = nodes_behind(histories);
  for (const autograd::Node* node : nodes) {
    const bool any = std::any_of(node->edges.begin(), node->edges.end(), leads);
    ways[node].second = any;
  }
  for (size_t r = 0; r < histories.size(); ++r)
    if (histories[r].node && passage.given[r]) ways[histories[r].node.get()].first = true;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const auto [reached, wanted] = ways[*node];
    if (!reached || !wanted) continue;
    for (const autograd::Edge& e : (*node)->edges)
      if (const auto at = ways.find(e.node.get()); at != ways.end()) at->second.first = true;
    (*node)->release_saved();
  }
}

std::vector<Tensor> DeferredNode::apply_again(const std::vector<Tensor>& grads) {
  const std::vector<Tensor> made = replay(freed_by_.empty() ? reached_ : std::vector<bool>());
  std::vector<Tensor> roots, tangents;
  for (size_t r = 0; r < grads.size() && r < made.size(); ++r) {
    if (!grads[r].defined() || !made[r].defined() || !made[r].requires_grad()) continue;
    roots.push_back(made[r]);
    tangents.push_back(grads[r]);
  }
  std::vector<autograd::Edge> ends;
  for (size_t e = 0; e < edges.size(); ++e)
    if (last_.wanted[e]) ends.push_back(edges[e]);
  const std::vector<Tensor> found = autograd::gradients_at(roots, tangents, ends, grad_enabled(), grad_enabled());
  std::vector<Tensor> made_for(edges.size());
  for (size_t e = 0, next = 0; e < edges.size(); ++e)
    if (last_.wanted[e]) made_for[e] = found[next++];
  return made_for;
}

/// Not while gradients flow: who leads where is settled then.
autograd::Edge DeferredNode::unfolded(uint32_t result) {
  if (replayed_.empty() && autograd::pass_under_way()) return {};
  calls_->settle();
  if (replayed_.empty()) unfold(replay({}), {});
  return result < edges.size() ? edges[result] : autograd::Edge();
}

void DeferredNode::come_apart() {
  if (!replayed_.empty() || !autograd::pass_begins_histories()) return;
  calls_->settle();
  if (replayed_.empty()) unfold(replay({}), {});
}

void DeferredNode::unfold(std::vector<Tensor> made, const StandIns& memory) {
  std::vector<autograd::Edge> histories = histories_of(made);
  give_back(histories, memory);
  histories.resize(results);
  replace_by(std::move(histories));
  tensors_.clear();
  replayed_ = std::move(made);
  calls_->free();
  calls_->run_.reset();
}

}  // namespace terra::recursive
