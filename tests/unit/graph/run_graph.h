// Graphs written as text and run on tensors, numbers and records.
#pragma once
#include <catch2/catch.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/tensor/transfer.h"
#include "graph/executor/activation.h"
#include "graph/executor/instances.h"
#include "graph/ir/graph_table.h"
#include "graph/ir/parse.h"
#include "graph/ir/verify.h"
#include "tests/unit/graph/support.h"
#include "tests/unit/null_device.h"

namespace terra::graph::test {

using Input = std::variant<Tensor, Scalar, Ref<Record>>;

inline Graph parsed(const std::string& text, const ParseContext& context = {}) {
  start();
  Graph g = parse(text, context);
  verify(g, Stage::Optimized, "parsed");
  return g;
}

/// The graph with its constants on the null device; nothing where nested or called ones have some.
inline std::optional<Graph> on_null_device(Graph g) {
  const size_t own = g.constants.size();
  size_t all = 0;
  any_graph(g, [&](const Graph& part) { return (all += part.constants.size()) > own; });
  if (all > own) return std::nullopt;
  for (auto& [id, constant] : g.constants) constant = moved_to(constant, terra::test::kNullDevice);
  return g;
}

/// A graph that may run many times. The first run is made on the null device too, and has to give the same bits.
struct BoundGraph {
  explicit BoundGraph(const Graph& g, Device device = {}) : instance(plan_body(g, device)), run(instance) {}
  explicit BoundGraph(const std::string& text) : BoundGraph(parsed(text)) {}

  /// What it returns, scalars as tensors without dimensions; undefined in place of records.
  std::vector<Tensor> operator()(const std::vector<Input>& inputs, bool (*poll)() = nullptr) {
    std::vector<Tensor> outputs = run_once(inputs, poll);
    if (!compared && !poll) compare_with_null_device(inputs, outputs);
    compared = true;
    return outputs;
  }

  /// The record that it returned.
  Ref<Record> record(size_t output) const { return run.record(instance.plan().graph.outputs[output]); }

  Instance instance;
  RootActivation run;
  Stop stop;
  bool compared = false;

 private:
  std::vector<Tensor> run_once(const std::vector<Input>& inputs, bool (*poll)()) {
    const Graph& g = instance.plan().graph;
    const Device device = instance.plan().device;
    std::vector<Tensor> there;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (const auto* t = std::get_if<Tensor>(&inputs[i]))
        run.bind_input(i, there.emplace_back(moved_to(*t, device))->data());
      if (const auto* s = std::get_if<Scalar>(&inputs[i])) run.bind_scalar(i, *s);
      if (const auto* r = std::get_if<Ref<Record>>(&inputs[i])) run.bind_record(i, *r);
    }
    std::vector<Tensor> outputs;
    for (ValueId id : g.outputs) {
      const ValueMeta& meta = g.meta(id);
      const bool is_tensor = meta.is_tensor();
      outputs.push_back(Tensor::empty(meta.sizes, is_tensor ? meta.dtype : DType::F64, is_tensor ? device : Device()));
      if (is_tensor) run.bind_fresh(outputs.size() - 1, outputs.back()->data());
    }
    stop = run.run_body(poll);
    if (stop.why != Stop::Why::None) return {};
    run.run_tail();
    for (size_t o = 0; o < g.outputs.size(); ++o)
      if (g.meta(g.outputs[o]).kind == ValueKind::Scalar)
        *outputs[o]->data_as<double>() = run.scalar(g.outputs[o]).to_double();
    return outputs;
  }

  void compare_with_null_device(const std::vector<Input>& inputs, const std::vector<Tensor>& outputs) const {
    terra::test::null_backend();
    const std::optional<Graph> g = on_null_device(instance.plan().graph);
    if (!g) return;
    BoundGraph there(*g, terra::test::kNullDevice);
    const std::vector<Tensor> made = there.run_once(inputs, nullptr);
    CHECK(there.stop.why == stop.why);
    REQUIRE(made.size() == outputs.size());
    for (size_t o = 0; o < made.size(); ++o)
      if (instance.plan().graph.meta(instance.plan().graph.outputs[o]).kind != ValueKind::Record)
        CHECK(bits(made[o]) == bits(outputs[o]));
  }
};

}  // namespace terra::graph::test
