#include "graph/trace/parts.h"

#include <algorithm>
#include <unordered_set>

#include "engine/autograd/autograd.h"
#include "engine/errors/errors.h"
#include "engine/tensor/epoch.h"

namespace terra::graph {
namespace {

/// The history that a tensor has behind a division.
class SeamNode final : public autograd::Node {
 public:
  explicit SeamNode(const Tensor& leaf) { edges.push_back(autograd::gradient_edge(leaf)); }
  std::vector<Tensor> apply(const std::vector<Tensor>& grads) override { return grads; }
  std::string name() const override { return "Seam"; }
};

Tensor alias_of(const Tensor& t) {
  Tensor alias = t.alias();
  lay_out(*alias, t->strides, alias->offset);
  return alias;
}

using Place = std::pair<const autograd::Node*, uint32_t>;

Place place_of(const Tensor& t) {
  const autograd::Edge edge = autograd::history(t);
  return {edge.node.get(), edge.index};
}

}  // namespace

/// A tensor on its way through a division.
struct Parts::Passage {
  Tensor tensor;
  Tensor before;            ///< with the history that it had; undefined for a result of a function
  Tensor leaf;              ///< that it leads to in the part behind
  autograd::Edge entrance;  ///< through which gradients come to the leaf
  bool needed = false;
  const Passage* same = nullptr;  ///< of the division before: the part between does nothing with it
  GradientTarget goes;
};

Parts::Parts() = default;
Parts::~Parts() = default;

Parts::Passage* Parts::passage_behind(const autograd::Node* node) const {
  const auto found = by_node_.find(node);
  return found == by_node_.end() ? nullptr : found->second;
}

void Parts::add_passage(const Tensor& t, bool of_function) {
  auto passage = std::make_unique<Passage>();
  passage->tensor = t;
  if (!of_function) {
    passage->before = alias_of(t);
    const autograd::Edge edge = autograd::history(t);
    autograd::set_history(passage->before, edge.node, edge.index);
  }
  passage->leaf = alias_of(t);
  set_wants_grad(*passage->leaf, true);
  const Ref<autograd::Node> node(new SeamNode(passage->leaf));
  passage->entrance = {node, 0};
  autograd::set_history(t, node, 0);
  by_node_[node.get()] = passage.get();
  by_leaf_[passage->leaf.get()] = passage.get();
  seams_.back().push_back(std::move(passage));
}

void Parts::divide(std::span<const Tensor> live) {
  seams_.emplace_back();
  for (const Tensor& t : live) add_passage(t, false);
}

void Parts::follow_function(const Tensor& result) { add_passage(result, true); }

Parts::Root Parts::origin(const Tensor& t) const {
  Tensor at = t;
  uint32_t part = count() - 1;
  for (size_t s = seams_.size(); s-- > 0;) {
    const Passage* passage = passage_behind(autograd::history(at).node.get());
    if (!passage) break;
    part = static_cast<uint32_t>(s);
    at = passage->before;
    if (!at.defined()) break;
  }
  return {at, part, ProgramRoot::kInside, t};
}

autograd::Edge Parts::origin(autograd::Edge history) const {
  while (const Passage* passage = passage_behind(history.node.get()))
    history = passage->before.defined() ? autograd::history(passage->before) : autograd::Edge{};
  return history;
}

std::optional<autograd::Edge> Parts::entrance(const Tensor& leaf) const {
  const auto passage = by_leaf_.find(leaf.get());
  if (passage == by_leaf_.end()) return {};
  return passage->second->entrance;
}

std::vector<Parts::Part> Parts::connect(std::vector<Root>& roots, std::span<const std::pair<Tensor, uint32_t>> inputs,
                                        const std::map<const TensorImpl*, uint32_t>& spec_of) {
  static const Seam none;
  std::vector<Part> parts(count());
  std::map<Place, uint32_t> known;
  for (uint32_t k = 0; k < roots.size(); ++k) known.try_emplace(place_of(roots[k].tensor), k);
  const auto root_for = [&](const Passage& p, uint32_t part) -> GradientTarget {
    const auto [at, fresh] = known.try_emplace(place_of(p.before), static_cast<uint32_t>(roots.size()));
    if (fresh) roots.push_back({p.before, part, ProgramRoot::kInside, p.tensor});
    return {GradientTarget::Kind::Root, at->second};
  };
  std::map<uint32_t, Interior> interior;
  for (uint32_t s = count(); s-- > 0;) {
    // What later parts ask of this one, and what they ask of one before it that this one only hands on.
    std::vector<std::pair<Passage*, Passage*>> through;
    for (const auto& p : s < seams_.size() ? seams_[s] : none) {
      if (!p->needed) continue;
      if (!p->before.defined()) {
        p->goes = {GradientTarget::Kind::Function, spec_of.at(p->tensor.get())};
      } else if (Passage* earlier = passage_behind(autograd::history(p->before).node.get())) {
        earlier->needed = true;
        through.emplace_back(p.get(), earlier);
      } else {
        p->goes = root_for(*p, s);
      }
    }
    std::unordered_set<const autograd::Node*> seen;
    std::unordered_set<const TensorImpl*> leaves;
    std::vector<const autograd::Node*> open;
    const auto visit = [&](const autograd::Node* node) {
      if (node && seen.insert(node).second) open.push_back(node);
    };
    for (const Root& root : roots)
      if (root.part == s) visit(autograd::history(root.tensor).node.get());
    while (!open.empty()) {
      const autograd::Node* node = open.back();
      open.pop_back();
      if (const auto* leaf = dynamic_cast<const autograd::AccumulateGrad*>(node)) leaves.insert(leaf->variable().get());
      for (const autograd::Edge& e : node->edges) {
        visit(e.node.get());
        const auto result = known.find({e.node.get(), e.index});
        if (result == known.end() || roots[result->second].spec == ProgramRoot::kInside) continue;
        auto& [made, read] =
            interior.try_emplace(result->second, Interior{e.node->sequence, node->sequence}).first->second;
        read = std::min(read, node->sequence);
      }
    }
    for (const auto& [p, earlier] : through) {
      if (leaves.count(earlier->leaf.get()))
        p->goes = root_for(*p, s);
      else
        p->same = earlier;
    }
    for (uint32_t k = 0; k < roots.size(); ++k)
      if (roots[k].part == s) parts[s].roots.push_back(k);
    std::stable_sort(parts[s].roots.begin(), parts[s].roots.end(), [&](uint32_t a, uint32_t b) {
      return place_of(roots[a].tensor).first->sequence < place_of(roots[b].tensor).first->sequence;
    });
    for (const auto& [leaf, number] : inputs)
      if (leaves.count(leaf.get())) parts[s].targets.push_back({leaf, {GradientTarget::Kind::Input, number}});
    for (const auto& p : s > 0 ? seams_[s - 1] : none) {
      if (!leaves.count(p->leaf.get())) continue;
      p->needed = true;
      parts[s].targets.push_back({p->leaf, {}});
    }
  }
  for (Part& part : parts)
    for (Target& target : part.targets) {
      const auto passage = by_leaf_.find(target.leaf.get());
      if (passage == by_leaf_.end()) continue;
      const Passage* p = passage->second;
      while (p->same) p = p->same;
      target.goes = p->goes;
    }
  interior_.clear();
  for (const auto& [root, found] : interior) interior_.push_back(found);
  return parts;
}

}  // namespace terra::graph
