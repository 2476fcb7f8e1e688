#include "graph/passes/merge_sums.h"

#include <algorithm>
#include <functional>

namespace terra::graph {
namespace {

/// What a term has to tell to be joined with others of its kind.
struct Term {
  ValueId value = kNoId;
  const Node* node = nullptr;
  bool joined = false;
};

/// New nodes before the node at hand, and the graph that they go into.
class Joiner {
 public:
  Joiner(Graph& graph, const std::vector<int32_t>& made_by, int32_t origin)
      : graph_(graph), made_by_(made_by), origin_(origin) {}

  const ValueMeta& meta(ValueId id) const { return graph_.meta(id); }
  const Node* maker(ValueId id, std::string_view op) const {
    if (id >= made_by_.size() || made_by_[id] < 0) return nullptr;
    const Node& n = graph_.nodes[made_by_[id]];
    return n.kind == NodeKind::Op && n.op->name == op ? &n : nullptr;
  }
  /// A result of the dtype and on the device of another value.
  ValueId emit(std::string_view op, std::vector<NodeArg> args, Dims sizes, const ValueMeta& like) {
    ValueMeta result = ValueMeta::tensor(like.dtype, std::move(sizes), like.device);
    nodes.push_back(new_op(graph_, op, std::move(args), std::move(result), origin_));
    return nodes.back().results[0];
  }
  ValueId cat(const UseList& parts, size_t dim) {
    nodes.push_back(new_cat(graph_, parts, dim, origin_));
    return nodes.back().results[0];
  }

  std::vector<Node> nodes;

 private:
  Graph& graph_;
  const std::vector<int32_t>& made_by_;
  int32_t origin_;
};

int64_t number(const Node& n, size_t i) {
  const auto* scalar = std::get_if<Scalar>(&n.args[i]);
  return scalar ? scalar->to_int() : -1;
}

/// A way to join terms: marks those that it took and returns their sum, or takes none.
using Join = ValueId (*)(Joiner& join, std::vector<Term*>& terms, const ValueMeta& sum);

ValueId join_products(Joiner& join, std::vector<Term*>& terms, const ValueMeta& sum) {
  if (sum.sizes.size() != 2) return kNoId;
  const int64_t rows = sum.sizes[0], columns = sum.sizes[1];
  std::vector<ValueId> left, right, transposed;
  std::vector<Term*> taken;
  for (Term* term : terms) {
    if (term->node->op->name != "mm") continue;
    const ValueId a = operand(*term->node, 0), b = operand(*term->node, 1);
    // Gathering the operands has to move less than the addition that it saves.
    if (join.meta(b).sizes[0] * (rows + columns) > rows * columns) continue;
    const Node* t = join.maker(a, "t");
    left.push_back(a);
    right.push_back(b);
    if (t) transposed.push_back(operand(*t, 0));
    taken.push_back(term);
  }
  if (taken.size() < 2) return kNoId;
  for (Term* term : taken) term->joined = true;
  const ValueId b = join.cat(right, 0);
  ValueId a = kNoId;
  if (transposed.size() == left.size()) {
    const ValueId whole = join.cat(transposed, 0);
    const Dims& sizes = join.meta(whole).sizes;
    a = join.emit("t", {Use{whole}}, Dims{sizes[1], sizes[0]}, sum);
  } else {
    a = join.cat(left, 1);
  }
  return join.emit("mm", {Use{a}, Use{b}}, sum.sizes, sum);
}

ValueId join_row_sums(Joiner& join, std::vector<Term*>& terms, const ValueMeta& sum) {
  std::vector<ValueId> parts;
  std::vector<Term*> taken;
  const Node* first = nullptr;
  for (Term* term : terms) {
    if (term->node->op->name != "sum") continue;
    const ValueId x = operand(*term->node, 0);
    const auto* dims = std::get_if<IntList>(&term->node->args[1]);
    if (x == kNoId || !dims || *dims != IntList{0} || join.meta(x).dtype != sum.dtype) continue;
    if (first && !same_arg(first->args[2], term->node->args[2])) continue;
    const Dims &sizes = join.meta(x).sizes, *others = first ? &join.meta(parts[0]).sizes : &sizes;
    if (!std::equal(sizes.begin() + 1, sizes.end(), others->begin() + 1, others->end())) continue;
    if (!first) first = term->node;
    parts.push_back(x);
    taken.push_back(term);
  }
  if (taken.size() < 2) return kNoId;
  for (Term* term : taken) term->joined = true;
  const std::vector<NodeArg> rest(first->args.begin() + 1, first->args.end());
  std::vector<NodeArg> args = {Use{join.cat(parts, 0)}};
  args.insert(args.end(), rest.begin(), rest.end());
  return join.emit("sum", std::move(args), sum.sizes, sum);
}

ValueId join_slices(Joiner& join, std::vector<Term*>& terms, const ValueMeta& sum) {
  std::vector<Term*> slices;
  int64_t dim = -1;
  for (Term* term : terms) {
    if (term->node->op->name != "pad_slice" || number(*term->node, 4) != 1) continue;
    const int64_t along = number(*term->node, 2);
    if (along < 0 || (dim >= 0 && along != dim)) continue;
    dim = along;
    slices.push_back(term);
  }
  const auto start = [](const Term* t) { return number(*t->node, 3); };
  std::sort(slices.begin(), slices.end(), [&](const Term* a, const Term* b) { return start(a) < start(b); });
  std::vector<ValueId> parts;
  int64_t at = 0;
  for (const Term* slice : slices) {
    parts.push_back(operand(*slice->node, 0));
    if (start(slice) != at) return kNoId;
    at += join.meta(parts.back()).sizes[dim];
  }
  if (parts.size() < 2 || at != sum.sizes[dim]) return kNoId;
  for (Term* slice : slices) slice->joined = true;
  return join.cat(parts, static_cast<size_t>(dim));
}

constexpr Join kJoins[] = {join_products, join_row_sums, join_slices};

/// Two tensors of the result's shape and dtype, neither scaled.
bool is_plain_addition(const Graph& graph, const Node& n) {
  if (n.kind != NodeKind::Op || !n.is_pure() || n.op->name != "add") return false;
  const ValueMeta& sum = graph.meta(n.results[0]);
  if (!is_floating(sum.dtype)) return false;
  for (size_t i = 0; i < 2; ++i)
    if (operand(n, i) == kNoId || !(graph.meta(operand(n, i)) == sum)) return false;
  const auto* alpha = std::get_if<Scalar>(&n.args[2]);
  return alpha && alpha->to_double() == 1;
}

}  // namespace

bool merge_sums(Graph& graph) {
  const std::vector<int32_t> made_by = definitions(graph);
  const std::vector<uint32_t> uses = use_counts(graph);
  std::vector<bool> inner(graph.nodes.size(), false);  // additions whose only use is another addition
  for (const Node& n : graph.nodes) {
    if (!is_plain_addition(graph, n)) continue;
    for (size_t i = 0; i < 2; ++i) {
      const int32_t maker = made_by[operand(n, i)];
      if (maker >= 0 && uses[operand(n, i)] == 1 && is_plain_addition(graph, graph.nodes[maker])) inner[maker] = true;
    }
  }

  std::vector<std::pair<size_t, std::vector<Node>>> replaced;  // addition -> the nodes that take its place
  for (size_t at = 0; at < graph.nodes.size(); ++at) {
    if (inner[at] || !is_plain_addition(graph, graph.nodes[at])) continue;
    std::vector<Term> terms;
    std::vector<ValueId> others;
    std::vector<ValueId> open = {graph.nodes[at].results[0]};
    while (!open.empty()) {
      const ValueId value = open.back();
      open.pop_back();
      const int32_t maker = made_by[value];
      const Node* n = maker >= 0 ? &graph.nodes[maker] : nullptr;
      if (n && (static_cast<size_t>(maker) == at || inner[maker])) {
        for (size_t i = 0; i < 2; ++i) open.push_back(operand(*n, i));
      } else if (n && n->kind == NodeKind::Op && n->is_pure() && uses[value] == 1) {
        terms.push_back({value, n});
      } else {
        others.push_back(value);
      }
    }
    std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.value < b.value; });

    const ValueMeta sum = graph.meta(graph.nodes[at].results[0]);
    Joiner join(graph, made_by, graph.nodes[at].origin);
    std::vector<ValueId> parts;
    for (Join way : kJoins) {
      std::vector<Term*> left;
      for (Term& term : terms)
        if (!term.joined) left.push_back(&term);
      const ValueId joined = way(join, left, sum);
      if (joined != kNoId) parts.push_back(joined);
    }
    if (parts.empty()) continue;
    for (const Term& term : terms)
      if (!term.joined) parts.push_back(term.value);
    parts.insert(parts.end(), others.begin(), others.end());
    ValueId total = parts[0];
    for (size_t i = 1; i < parts.size(); ++i)
      total = join.emit("add", {Use{total}, Use{parts[i]}, Scalar(int64_t{1})}, sum.sizes, sum);
    join.nodes.back().results = graph.nodes[at].results;
    replaced.emplace_back(at, std::move(join.nodes));
  }
  if (replaced.empty()) return false;

  std::vector<Node> nodes;
  nodes.reserve(graph.nodes.size());
  auto next = replaced.begin();
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (next == replaced.end() || next->first != n) {
      nodes.push_back(std::move(graph.nodes[n]));
      continue;
    }
    std::move(next->second.begin(), next->second.end(), std::back_inserter(nodes));
    ++next;
  }
  graph.nodes = std::move(nodes);
  return true;
}

}  // namespace terra::graph
