// Graphs written as text and run on tensors, numbers and records.
#pragma once
#include <catch2/catch.hpp>
#include <string>
#include <variant>
#include <vector>

#include "graph/executor/activation.h"
#include "graph/executor/instances.h"
#include "graph/ir/parse.h"
#include "graph/ir/verify.h"
#include "tests/unit/graph/support.h"

namespace terra::graph::test {

using Input = std::variant<Tensor, Scalar, Ref<Record>>;

inline Graph parsed(const std::string& text, const ParseContext& context = {}) {
  start();
  Graph g = parse(text, context);
  verify(g, Stage::Optimized, "parsed");
  return g;
}

/// A graph that may run many times.
struct BoundGraph {
  explicit BoundGraph(const Graph& g) : instance(plan_body(g, Device())), run(instance) {}
  explicit BoundGraph(const std::string& text) : BoundGraph(parsed(text)) {}

  /// What it returns, scalars as tensors without dimensions; undefined in place of records.
  std::vector<Tensor> operator()(const std::vector<Input>& inputs, bool (*poll)() = nullptr) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (const auto* t = std::get_if<Tensor>(&inputs[i])) run.bind_input(i, (*t)->data());
      if (const auto* s = std::get_if<Scalar>(&inputs[i])) run.bind_scalar(i, *s);
      if (const auto* r = std::get_if<Ref<Record>>(&inputs[i])) run.bind_record(i, *r);
    }
    const Graph& g = instance.plan().graph;
    std::vector<Tensor> outputs;
    for (size_t o = 0; o < g.outputs.size(); ++o) {
      const ValueMeta& meta = g.meta(g.outputs[o]);
      outputs.push_back(Tensor::empty(meta.sizes, meta.is_tensor() ? meta.dtype : DType::F64));
      if (meta.is_tensor()) run.bind_fresh(o, outputs.back()->data());
    }
    stop = run.run_body(poll);
    if (stop.why != Stop::Why::None) return {};
    run.run_tail();
    for (size_t o = 0; o < g.outputs.size(); ++o)
      if (g.meta(g.outputs[o]).kind == ValueKind::Scalar)
        *outputs[o]->data_as<double>() = run.scalar(g.outputs[o]).to_double();
    return outputs;
  }

  /// The record that it returned.
  Ref<Record> record(size_t output) const { return run.record(instance.plan().graph.outputs[output]); }

  Instance instance;
  RootActivation run;
  Stop stop;
};

}  // namespace terra::graph::test
