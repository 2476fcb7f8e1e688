#include "graph/trace/ways.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>

#include "engine/autograd/autograd.h"

namespace terra::graph {
namespace {

using Place = std::pair<const autograd::Node*, uint32_t>;

}  // namespace

PartWays ways_between(std::span<const Tensor> roots, std::span<const Tensor> targets, const LocateSaved& locate) {
  const auto place_of = [](const autograd::Edge& e) { return Place(e.node.get(), e.index); };
  std::multimap<Place, size_t> ends;  // of targets, where a pass ends
  for (size_t j = 0; j < targets.size(); ++j) ends.emplace(place_of(autograd::gradient_edge(targets[j])), j);
  std::unordered_map<autograd::Node*, SavingCalls> ways;
  std::vector<autograd::Node*> by_age;
  for (size_t k = 0; k < roots.size(); ++k) {
    std::vector<autograd::Node*> open;
    const auto meet = [&](const autograd::Edge& e) {
      if (!e.node || ends.contains(place_of(e))) return;
      const auto [way, fresh] = ways.try_emplace(e.node.get());
      if (fresh) {
        way->second = {std::vector<bool>(roots.size()), std::vector<bool>(targets.size()), {}};
        by_age.push_back(e.node.get());
      }
      if (way->second.roots[k]) return;
      way->second.roots[k] = true;
      open.push_back(e.node.get());
    };
    meet(autograd::history(roots[k]));
    while (!open.empty()) {
      const autograd::Node* node = open.back();
      open.pop_back();
      for (const autograd::Edge& e : node->edges) meet(e);
    }
  }
  // What a node hands gradients to is older.
  std::sort(by_age.begin(), by_age.end(), [](auto* a, auto* b) { return a->sequence < b->sequence; });
  const auto lead = [&](const autograd::Edge& e, std::vector<bool>& reached) {
    for (auto [end, last] = ends.equal_range(place_of(e)); end != last; ++end) reached[end->second] = true;
    const auto way = ends.contains(place_of(e)) ? ways.end() : ways.find(e.node.get());
    for (size_t j = 0; way != ways.end() && j < targets.size(); ++j)
      if (way->second.targets[j]) reached[j] = true;
  };
  for (autograd::Node* node : by_age)
    for (const autograd::Edge& e : node->edges) lead(e, ways[node].targets);
  PartWays result;
  result.calls_before.assign(roots.size(), std::vector<uint32_t>(targets.size(), 0));
  uint32_t calls = 0;
  for (auto node = by_age.rbegin(); node != by_age.rend(); ++node, ++calls) {
    for (const autograd::Edge& e : (*node)->edges)
      for (auto [end, last] = ends.equal_range(place_of(e)); end != last; ++end)
        for (size_t k = 0; k < roots.size(); ++k)
          if (ways[*node].roots[k]) result.calls_before[k][end->second] = calls + 1;
  }
  std::map<std::pair<std::vector<bool>, std::vector<bool>>, std::vector<SavedMemory>> different;
  for (autograd::Node* node : by_age) {
    std::vector<SavedMemory> seen;
    node->each_saved([&](const autograd::SavedTensor& saved) {
      if (!saved.was_unpacked()) return;
      if (auto memory = locate(saved, *node)) seen.push_back(std::move(*memory));
    });
    node->release_saved();
    if (!node->released()) continue;
    std::vector<SavedMemory>& all = different[{ways[node].roots, ways[node].targets}];
    std::move(seen.begin(), seen.end(), std::back_inserter(all));
  }
  for (const Tensor& root : roots) {
    result.leads.emplace_back(targets.size());
    lead(autograd::history(root), result.leads.back());
  }
  for (auto& [way, memory] : different) result.saving.push_back({way.first, way.second, std::move(memory)});
  return result;
}

}  // namespace terra::graph
