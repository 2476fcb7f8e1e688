// What graphs that call themselves mean: each call one after the other, op by op, on the tape.
#pragma once
#include <stdexcept>
#include <vector>

#include "engine/ops/call.h"
#include "graph/ir/arg_list.h"
#include "graph/ir/graph_table.h"
#include "graph/ir/handle.h"

namespace terra::recursive::test {

class Plain {
 public:
  explicit Plain(const graph::GraphTable& table) : table_(table) {}

  std::vector<graph::HostValue> call(graph::GraphId id, const std::vector<graph::HostValue>& operands) const {
    return run(table_.at(id), operands);
  }

 private:
  using Values = std::vector<graph::HostValue>;

  Values run(const graph::Graph& g, const Values& operands) const {
    Values values(g.values.size());
    for (size_t i = 0; i < g.inputs.size(); ++i) values[g.inputs[i]] = operands[i];
    for (const auto& [id, tensor] : g.constants) values[id] = tensor;
    for (const graph::Node& n : g.nodes) {
      const Values made = run(g, n, values);
      for (size_t r = 0; r < n.results.size(); ++r) values[n.results[r]] = made[r];
    }
    Values results;
    for (graph::ValueId id : g.outputs) results.push_back(values[id]);
    return results;
  }

  Values run(const graph::Graph& g, const graph::Node& n, const Values& values) const {
    Values operands;
    graph::for_each_use(n, [&](graph::ValueId id) { operands.push_back(values[id]); });
    switch (n.kind) {
      case graph::NodeKind::Op: {
        const graph::ArgList args(
            n.args, [&](graph::ValueId id) { return std::get<Tensor>(values[id]); },
            [&](graph::ValueId id) { return std::get_if<Scalar>(&values[id]); });
        std::vector<Tensor> made;
        terra::call(*n.op, args.args(), made);
        return {made.begin(), made.end()};
      }
      case graph::NodeKind::Call: return call(n.index, operands);
      case graph::NodeKind::HostCall: {
        Values made(n.results.size());
        graph::host_functions()(n.index, operands, made);
        return made;
      }
      case graph::NodeKind::Item: {
        const auto& t = std::get<Tensor>(operands[0]);
        if (t.dtype() == DType::Bool) return {Scalar(*static_cast<const bool*>(t->data()))};
        if (t.dtype() == DType::I64) return {Scalar(*static_cast<const int64_t*>(t->data()))};
        return {Scalar(*static_cast<const double*>(t->data()))};
      }
      case graph::NodeKind::AsTensor: {
        const DType dtype = g.meta(n.results[0]).dtype;
        return {(*find_op("full"))(Dims{}, std::get<Scalar>(operands[0]), dtype)};
      }
      case graph::NodeKind::Switch: {
        const int64_t chosen = std::get<Scalar>(operands[0]).to_int();
        const auto last = static_cast<int64_t>(n.bodies.size()) - 1;
        operands.erase(operands.begin());
        return run(*n.bodies[chosen >= 0 && chosen < last ? chosen : last], operands);
      }
      default: throw std::runtime_error("plain calls know no such node");
    }
  }

  const graph::GraphTable& table_;
};

}  // namespace terra::recursive::test
