// The instances of the graphs of a table.
#pragma once
#include <memory>
#include <vector>

#include "graph/executor/instance.h"
#include "graph/ir/graph_table.h"

namespace terra::graph {

/// Each is made when it is first called. They serve one thread at a time, and everyone who runs graphs of the table.
class Instances {
 public:
  Instances(std::shared_ptr<const GraphTable> table, Device device) : table_(std::move(table)), device_(device) {}

  Instance& of(GraphId id);
  const GraphTable& table() const { return *table_; }

 private:
  const std::shared_ptr<const GraphTable> table_;
  const Device device_;
  std::vector<std::unique_ptr<Instance>> made_;  // by id
};

/// The plan of a graph that hands its results to who runs it, on that one's device.
Plan plan_body(const Graph& graph, Device device);

}  // namespace terra::graph
