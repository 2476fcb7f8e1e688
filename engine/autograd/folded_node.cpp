#include "engine/autograd/folded_node.h"

#include <algorithm>
#include <unordered_set>

#include "engine/autograd/saved.h"
#include "engine/tensor/epoch.h"

namespace terra::autograd {

void FoldedNode::take_places() {
  first_place_ = reserve_sequence(kPlaces);
  places_ = kPlaces;
  sequence = first_place_ + places_ - 1;
}

void FoldedNode::take_places_of(const FoldedNode& other, uint32_t number, uint32_t of) {
  places_ = (other.places_ - 2) / of;
  first_place_ = other.first_place_ + number * places_;
  sequence = first_place_ + places_ - 2;
}

std::vector<bool> FoldedNode::lead_to(const std::vector<bool>& edges_wanted) const {
  if (!replaced_)
    return std::vector<bool>(results, std::find(edges_wanted.begin(), edges_wanted.end(), true) != edges_wanted.end());
  std::vector<bool> by_result = edges_wanted;
  by_result.resize(results);
  return by_result;
}

std::vector<Node*> FoldedNode::nodes_behind(const std::vector<Edge>& histories) const {
  std::vector<Node*> nodes;
  std::unordered_set<Node*> known;
  const auto meet = [&](const Edge& e) {
    const bool made_since = e.node && e.node->sequence > sequence;
    if (made_since && known.insert(e.node.get()).second) nodes.push_back(e.node.get());
  };
  for (const Edge& history : histories) meet(history);
  for (size_t i = 0; i < nodes.size(); ++i)
    for (const Edge& e : nodes[i]->edges) meet(e);
  std::sort(nodes.begin(), nodes.end(), [](const Node* a, const Node* b) { return a->sequence < b->sequence; });
  return nodes;
}

void FoldedNode::give_back(const std::vector<Edge>& histories, const StandIns& memory) const {
  if (memory.empty()) return;
  for (const Node* node : nodes_behind(histories))
    node->each_saved([&](const SavedTensor& s) {
      const Tensor& saved = s.unchecked();
      if (!saved.defined() || !saved->storage) return;
      if (const auto at = memory.find(saved->storage.get()); at != memory.end()) become(*saved, at->second, *saved);
    });
}

void FoldedNode::hand_hooks(Node& from, uint32_t index, const Edge& call) {
  for (auto& [id, hook] : from.tensor_hooks) {
    if (!hook) continue;
    call.node->tensor_hooks.emplace_back(
        id, [index, from_result = call.index, own = std::exchange(hook, {})](std::vector<Tensor>& grads) {
          std::vector<Tensor> one(index + 1);
          one[index] = grads[from_result];
          own(one);
          grads[from_result] = std::move(one[index]);
        });
  }
  for (auto& [result, kept] : std::exchange(from.retained, {}))
    call.node->retained.emplace_back(call.index, std::move(kept));
}

void FoldedNode::replace_by(std::vector<Edge> histories) {
  const std::vector<Node*> nodes = nodes_behind(histories);
  for (size_t i = 0; i < nodes.size(); ++i) nodes[i]->sequence = first_place_ + std::min<uint64_t>(2 * i, places_ - 4);
  edges = std::move(histories);
  replaced_ = true;
}

}  // namespace terra::autograd
