// A graph: values, nodes in a legal order of execution, inputs, constants, outputs.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/ir/node.h"

namespace terra::graph {

class GraphTable;

struct Graph {
  std::string name;
  std::vector<ValueMeta> values;
  std::vector<ValueId> inputs;
  std::vector<std::string> input_names;               ///< for people; empty or one per input
  std::vector<std::pair<ValueId, Tensor>> constants;  ///< real tensors, never written
  std::vector<Node> nodes;
  std::vector<ValueId> outputs;
  /// Inputs that come later than the others, each with the number of the part of the run that waits for it: tangents of
  /// a part of a region. Nothing that waits for one part is computed together with what doesn't.
  std::vector<std::pair<ValueId, uint32_t>> late_inputs;
  std::vector<Origin> origins;
  /// What calls refer to, here and in nested graphs; null where there are none, and in graphs of a table, whose calls
  /// are of their own table.
  std::shared_ptr<const GraphTable> table;

  ValueId add_value(ValueMeta meta) {
    values.push_back(std::move(meta));
    return static_cast<ValueId>(values.size() - 1);
  }
  ValueId add_input(ValueMeta meta, std::string input_name = "");
  ValueId add_constant(Tensor tensor);
  /// Appends a pure op node with fresh results; returns the first.

  const ValueMeta& meta(ValueId id) const { return values[id]; }
};

/// A pure op node that stands nowhere yet, with one fresh result; arguments that are left out are absent.
Node new_op(Graph& graph, std::string_view op, std::vector<NodeArg> args, ValueMeta result, int32_t origin);
/// The same of `cat`, of one part or more.
Node new_cat(Graph& graph, const UseList& parts, size_t dim, int32_t origin);

/// Which node defines each value (-1: input or constant), and how often each is used (outputs count).
std::vector<int32_t> definitions(const Graph& graph);
std::vector<uint32_t> use_counts(const Graph& graph);
/// Replaces each use of value v, in nodes and outputs, by replacement[v] (identity where unchanged).
void replace_uses(Graph& graph, const std::vector<ValueId>& replacement);
/// Nodes of this graph, of the bodies of its nodes and of what they call.
size_t count_nodes(const Graph& graph);

}  // namespace terra::graph
