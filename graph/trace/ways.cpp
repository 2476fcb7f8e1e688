#include "graph/trace/ways.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>

#include "engine/autograd/autograd.h"
#include "engine/autograd/walk.h"

namespace terra::graph {

PartWays ways_between(std::span<const Tensor> roots, std::span<const Tensor> targets, const LocateSaved& locate) {
  std::unordered_map<autograd::Node*, SavingCalls> ways;
  std::vector<autograd::Node*> by_age;
  for (size_t k = 0; k < roots.size(); ++k) {
    autograd::each_node(autograd::history(roots[k]).node.get(), [&](autograd::Node& node) {
      const auto [place, fresh] = ways.try_emplace(&node);
      if (fresh) {
        place->second = {std::vector<bool>(roots.size()), std::vector<bool>(targets.size())};
        by_age.push_back(&node);
      }
      place->second.roots[k] = true;
    });
  }
  for (size_t j = 0; j < targets.size(); ++j)
    if (const auto end = ways.find(autograd::gradient_edge(targets[j]).node.get()); end != ways.end())
      end->second.targets[j] = true;
  // What a node hands gradients to is older, but for the ends, which hand on nothing.
  std::sort(by_age.begin(), by_age.end(), [](auto* a, auto* b) { return a->sequence < b->sequence; });
  for (autograd::Node* node : by_age) {
    std::vector<bool>& reached = ways[node].targets;
    for (const autograd::Edge& e : node->edges) {
      if (!e.node) continue;
      const std::vector<bool>& behind = ways[e.node.get()].targets;
      for (size_t j = 0; j < behind.size(); ++j)
        if (behind[j]) reached[j] = true;
    }
  }
  PartWays result;
  result.calls_before.assign(roots.size(), std::vector<uint32_t>(targets.size(), 0));
  std::unordered_multimap<const autograd::Node*, size_t> ends;
  for (size_t j = 0; j < targets.size(); ++j) ends.emplace(autograd::gradient_edge(targets[j]).node.get(), j);
  uint32_t calls = 0;
  for (auto node = by_age.rbegin(); node != by_age.rend(); ++node, ++calls) {
    for (const autograd::Edge& e : (*node)->edges)
      for (auto [end, last] = ends.equal_range(e.node.get()); end != last; ++end)
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
  for (const Tensor& root : roots) result.leads.push_back(ways[autograd::history(root).node.get()].targets);
  for (auto& [way, memory] : different) result.saving.push_back({way.first, way.second, std::move(memory)});
  return result;
}

}  // namespace terra::graph
