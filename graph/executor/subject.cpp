#include "graph/executor/subject.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/ir/names.h"

namespace terra::graph {
namespace {

std::string name_of(const Node& node) {
  switch (node.kind) {
    case NodeKind::Op: return profile::name_of_op(node.op->name, false);
    case NodeKind::WriteView: return profile::name_of_op("copy", true);
    case NodeKind::Fused: {
      std::vector<std::string_view> ops;
      for (const Node& inner : node.bodies[0]->nodes)
        ops.push_back(inner.op ? inner.op->name : kNodeNames[static_cast<int>(inner.kind)]);
      return fmt::format("terra::fused({})", fmt::join(ops, ", "));
    }
    default: return fmt::format("terra::{}", kNodeNames[static_cast<int>(node.kind)]);
  }
}

std::vector<Dims> shapes_of(const Node& node, const Graph& graph) {
  std::vector<Dims> shapes;
  for (const NodeArg& arg : node.args) {
    const auto* const use = std::get_if<Use>(&arg);
    const bool is_tensor = use && use->id != kNoId && graph.meta(use->id).is_tensor();
    shapes.push_back(is_tensor ? graph.meta(use->id).sizes : Dims());
  }
  return shapes;
}

profile::Stack stack_of(const Node& node, const Graph& graph) {
  if (node.origin < 0) return {};
  const Origin& origin = graph.origins[static_cast<size_t>(node.origin)];
  return {fmt::format("{}({}): {}", origin.file, origin.line, graph.name)};
}

}  // namespace

profile::Subject subject_of(const Graph& graph, bool tail) {
  profile::Subject subject{fmt::format("terra::{} {}", tail ? "commit" : "graph", graph.name)};
  if (!graph.nodes.empty()) subject.stack = stack_of(graph.nodes[0], graph);
  return subject;
}

profile::Subject subject_of(const Instruction& instruction, const Graph& graph) {
  if (!instruction.step) return {};
  if (instruction.step->kind == Step::Kind::Copy) return {profile::name_of_op("copy", true)};
  const Node& node = *instruction.step->node;
  return {name_of(node), profile::wants_shapes() ? shapes_of(node, graph) : std::vector<Dims>(), stack_of(node, graph)};
}

}  // namespace terra::graph
