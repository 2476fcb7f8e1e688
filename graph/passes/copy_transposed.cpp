#include "graph/passes/copy_transposed.h"

#include <map>

namespace terra::graph {
namespace {

/// Where the library no longer reads the second operand more than a few times.
constexpr int64_t kFewRows = 64;
/// Rows of all products together that pay for the copy: it costs as much as 90 rows gain.
constexpr int64_t kEnoughRows = 200;
/// Smaller operands stay in the cache, whichever way they are read.
constexpr int64_t kLeastElements = 128 * 128;

/// The second operand of a product of few rows; kNoId for other nodes. `rows` becomes their number.
ValueId operand_of(const Graph& graph, const Node& n, int64_t& rows) {
  if (n.kind != NodeKind::Op || !n.is_pure()) return kNoId;
  const size_t first = n.op->name == "mm" ? 0 : n.op->name == "addmm" ? 1 : n.args.size();
  if (first == n.args.size()) return kNoId;
  const auto *a = std::get_if<Use>(&n.args[first]), *b = std::get_if<Use>(&n.args[first + 1]);
  if (!a || !b) return kNoId;
  rows = graph.meta(a->id).sizes[0];
  return rows <= kFewRows ? b->id : kNoId;
}

}  // namespace

bool copy_transposed(Graph& graph) {
  std::map<ValueId, int64_t> rows_of;  // transposed operands: t(w), and parts of those that are found
  for (const Node& n : graph.nodes) {
    const bool turned = n.is_op(kView) && (n.op->name == "t" ||
                                           (n.op->name == "narrow" && rows_of.contains(std::get<Use>(n.args[0]).id)));
    if (turned && graph.meta(n.results[0]).numel() >= kLeastElements) rows_of.emplace(n.results[0], 0);
    int64_t rows = 0;
    if (const auto found = rows_of.find(operand_of(graph, n, rows)); found != rows_of.end()) found->second += rows;
  }
  std::erase_if(rows_of, [](const auto& operand) { return operand.second < kEnoughRows; });
  if (rows_of.empty()) return false;
  std::map<ValueId, ValueId> copies;
  std::vector<Node> nodes;
  for (Node& n : graph.nodes) {
    int64_t rows = 0;
    if (const auto copy = copies.find(operand_of(graph, n, rows)); copy != copies.end())
      n.args[n.op->name == "mm" ? 1 : 2] = Use{copy->second};
    nodes.push_back(std::move(n));
    const Node& before = nodes.back();
    if (before.results.empty() || !rows_of.contains(before.results[0])) continue;
    const ValueId operand = before.results[0];
    Node copy = new_op(graph, "clone", {Use{operand}, NodeArg()}, ValueMeta(graph.meta(operand)), before.origin);
    copies.emplace(operand, copy.results[0]);
    nodes.push_back(std::move(copy));
  }
  graph.nodes = std::move(nodes);
  return true;
}

}  // namespace terra::graph
