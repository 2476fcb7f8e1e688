// Graphs for batches of calls that come again and again.
#pragma once
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "graph/cache/compiled.h"
#include "graph/coexec/pending.h"

namespace terra::coexec {

/// A batch that has come a few times gets a graph. It is used as long as it is faster than running call by call.
class SegmentGraphs {
 public:
  /// Computes those results of the batch that are wanted. True: a graph did.
  bool run(const Pending& pending, const std::vector<uint32_t>& wanted, std::vector<Tensor>& made);

 private:
  static constexpr size_t kMost = 256;   ///< kinds of batches that are remembered
  static constexpr int kPlainRuns = 2;   ///< before a graph is made
  static constexpr int kTimedRuns = 4;   ///< of the graph, before it is judged
  static constexpr int kMostGraphs = 4;  ///< one after the other, with more numbers that vary each time

  struct Kind {
    std::shared_ptr<graph::Compiled> graph;
    std::vector<Scalar> numbers;  ///< that the graph was made with
    std::vector<bool> varies;     ///< numbers that the graph takes
    int plain_runs = 0, graph_runs = 0, graphs = 0;
    double plain_us = 0, graph_us = 0;  ///< the shortest run
    bool refused = false;
  };

  Kind& kind_of(const Pending& pending, const std::vector<uint32_t>& wanted);
  static bool make_graph(Kind& kind, const Pending& pending, const std::vector<uint32_t>& wanted);
  static bool run_graph(Kind& kind, const Pending& pending, const std::vector<uint32_t>& wanted,
                        std::vector<Tensor>& made);

  struct WordsHash {
    size_t operator()(const std::vector<uint64_t>& words) const {
      uint64_t hash = words.size();
      for (uint64_t word : words) hash = (hash ^ word) * 0x9e3779b97f4a7c15, hash ^= hash >> 32;
      return hash;
    }
  };
  std::unordered_map<std::vector<uint64_t>, Kind, WordsHash> kinds_;  ///< by signature and what is wanted
  std::vector<uint64_t> words_;                                       ///< of the present batch
};

/// The result's storage has the elements of a tensor that was computed for it.
void deliver(const PendingResult& result, const Tensor& made);

}  // namespace terra::coexec
