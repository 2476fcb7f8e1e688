// What a simplification rule sees of a graph and may do to it.
#pragma once
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"

namespace terra::graph {

/// The node being simplified and what defines its operands. A rule either leaves the node alone and returns false,
/// changes it in place and returns true, or says which value its result equals.
class Rewrite {
 public:
  Rewrite(Graph& graph, std::vector<ValueId>& same) : graph_(graph), same_(same), made_by_(definitions(graph)) {}

  void look_at(size_t node) { at_ = node; }
  Node& node() { return graph_.nodes[at_]; }
  const ValueMeta& result() const { return graph_.meta(graph_.nodes[at_].results[0]); }
  const ValueMeta& meta(ValueId id) const { return graph_.meta(id); }

  /// Argument i as a value, kNoId if it is none.
  ValueId value(size_t i) const;
  /// Argument i as a number: an attribute, or a tensor known to hold that number everywhere.
  const Scalar* number(size_t i) const;
  /// The node that computes a value if it is op `name`, else null.
  const Node* made_by(ValueId id, std::string_view name) const;
  const Node* maker(ValueId id) const;
  bool is(std::string_view name) const { return graph_.nodes[at_].op->name == name; }
  bool is_any(std::initializer_list<std::string_view> names) const;

  /// The (only) result equals `id`, which must have its dtype and sizes: the node goes.
  bool becomes(ValueId id);
  /// The node becomes another op on other arguments with the same result.
  bool becomes(std::string_view op, std::vector<NodeArg> args);
  /// A new node before this one.
  ValueId insert(std::string_view op, std::vector<NodeArg> args, ValueMeta meta);

  const std::vector<std::pair<size_t, Node>>& inserted() const { return inserted_; }

 private:
  Graph& graph_;
  std::vector<ValueId>& same_;
  std::vector<int32_t> made_by_;
  std::vector<std::pair<size_t, Node>> inserted_;  // before which node
  size_t at_ = 0;
};

/// A law and how to apply it. Laws are written result = simpler, over values.
struct Rule {
  const char* law;
  bool (*apply)(Rewrite& r);
};
const std::vector<Rule>& simplify_rules();

}  // namespace terra::graph
