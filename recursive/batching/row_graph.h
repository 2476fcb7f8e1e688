// One graph for any number of rows.
#pragma once
#include <map>
#include <memory>

#include "graph/executor/activation.h"

namespace terra::recursive {

/// Numbers of rows of the two samples: no size of a program is likely to be one, so that they show where rows are.
constexpr int64_t kRows = 61, kMoreRows = 127;

/// Made from the same graph for two numbers of rows: what differs between them, sizes and attributes, is linear in the
/// number of rows, so that the graph for any other number follows without another pass over it.
class RowGraph {
 public:
  /// `second` null: the graph has no dimension of rows, and runs for one at a time. Throws Unbatchable where the two
  /// aren't the same graph.
  RowGraph(graph::Graph first, int64_t rows, std::shared_ptr<const graph::Graph> second, int64_t more_rows);

  const graph::Graph& sample() const { return first_; }
  graph::Graph of(int64_t rows) const;

  /// Ready to be bound and run. It stays valid until the next call.
  graph::RootActivation& activation(int64_t rows);
  /// As many for one row, which may run at the same time. They stay valid until somebody asks for more.
  std::vector<graph::RootActivation*> activations_of_one(size_t count);
  /// How often any of them has been built, for a number of rows that was new.
  static uint64_t built();
  /// Nothing that it does has a place in an order (draws of random numbers have).
  bool is_pure() const;

 private:
  struct Bound {
    explicit Bound(graph::Graph graph);
    graph::Instance instance;
    graph::RootActivation activation;
    uint64_t used = 0;
  };

  graph::Graph first_;
  std::shared_ptr<const graph::Graph> second_;
  int64_t rows_, more_rows_;
  std::map<int64_t, std::unique_ptr<Bound>> bound_;
  std::vector<std::unique_ptr<Bound>> of_one_;  // of threads beside the one that uses bound_
  uint64_t uses_ = 0;
};

}  // namespace terra::recursive
