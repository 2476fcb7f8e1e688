#include "graph/gradient/flow.h"

#include <algorithm>

namespace terra::graph {

void FlowNetwork::add_edge(size_t from, size_t to, int64_t capacity) {
  edges_.push_back({to, capacity, first_[from]});
  first_[from] = static_cast<int64_t>(edges_.size()) - 1;
  edges_.push_back({from, 0, first_[to]});
  first_[to] = static_cast<int64_t>(edges_.size()) - 1;
}

bool FlowNetwork::find_levels(size_t source, size_t sink) {
  level_.assign(first_.size(), -1);
  std::vector<size_t> queue{source};
  level_[source] = 0;
  for (size_t q = 0; q < queue.size(); ++q)
    for (int64_t e = first_[queue[q]]; e >= 0; e = edges_[e].next)
      if (edges_[e].capacity > 0 && level_[edges_[e].to] < 0) {
        level_[edges_[e].to] = level_[queue[q]] + 1;
        queue.push_back(edges_[e].to);
      }
  return level_[sink] >= 0;
}

/// One augmenting path along the levels, found without recursion.
int64_t FlowNetwork::push(size_t sink, size_t source) {
  std::vector<int64_t> path;
  for (size_t node = source; node != sink;) {
    int64_t& e = at_[node];
    while (e >= 0 && !(edges_[e].capacity > 0 && level_[edges_[e].to] == level_[node] + 1)) e = edges_[e].next;
    if (e >= 0) {
      path.push_back(e);
      node = edges_[e].to;
      continue;
    }
    if (path.empty()) return 0;
    level_[node] = -1;  // a dead end
    node = edges_[path.back() ^ 1].to;
    path.pop_back();
  }
  int64_t amount = kInfinite;
  for (int64_t e : path) amount = std::min(amount, edges_[e].capacity);
  for (int64_t e : path) {
    edges_[e].capacity -= amount;
    edges_[e ^ 1].capacity += amount;
  }
  return amount;
}

int64_t FlowNetwork::maximise(size_t source, size_t sink) {
  int64_t total = 0;
  while (find_levels(source, sink)) {
    at_ = first_;
    while (const int64_t amount = push(sink, source)) {
      total += amount;
      if (total >= kInfinite) return total;
    }
  }
  return total;
}

std::vector<bool> FlowNetwork::sink_side(size_t sink) const {
  std::vector<bool> reaches(first_.size(), false);
  std::vector<size_t> stack{sink};
  reaches[sink] = true;
  while (!stack.empty()) {
    const size_t node = stack.back();
    stack.pop_back();
    for (int64_t e = first_[node]; e >= 0; e = edges_[e].next)
      if (edges_[e ^ 1].capacity > 0 && !reaches[edges_[e].to]) {
        reaches[edges_[e].to] = true;
        stack.push_back(edges_[e].to);
      }
  }
  return reaches;
}

}  // namespace terra::graph
