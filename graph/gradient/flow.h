// Maximum flow and minimum cut of a directed network with integer capacities (Dinic's algorithm).
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace terra::graph {

class FlowNetwork {
 public:
  static constexpr int64_t kInfinite = INT64_MAX / 4;

  explicit FlowNetwork(size_t nodes) : first_(nodes, -1) {}
  void add_edge(size_t from, size_t to, int64_t capacity);
  /// Saturates the network.
  int64_t maximise(size_t source, size_t sink);
  /// After maximise: which nodes lie on the sink's side of the minimum cut nearest to the sink.
  std::vector<bool> sink_side(size_t sink) const;

 private:
  struct Edge {
    size_t to;
    int64_t capacity;
    int64_t next;
  };
  bool find_levels(size_t source, size_t sink);
  int64_t push(size_t sink, size_t source);

  std::vector<int64_t> first_;
  std::vector<Edge> edges_;  // edge e and its reverse e ^ 1
  std::vector<int32_t> level_;
  std::vector<int64_t> at_;
};

}  // namespace terra::graph
