#include "graph/executor/instances.h"

#include "graph/executor/planner.h"

namespace terra::graph {

Instance& Instances::of(GraphId id) {
  if (made_.size() <= id) made_.resize(table_->size());
  const Graph& graph = table_->at(id);
  if (!made_[id]) made_[id] = std::make_unique<Instance>(plan_body(graph, device_), this);
  return *made_[id];
}

Plan plan_body(const Graph& graph, Device device) {
  PlanRequest request;
  request.device = device;
  for (ValueId id : graph.outputs)
    request.roles.push_back({graph.meta(id).is_tensor() ? OutputRole::Kind::Fresh : OutputRole::Kind::Scalar, 0});
  return make_plan(graph, std::move(request));
}

}  // namespace terra::graph
