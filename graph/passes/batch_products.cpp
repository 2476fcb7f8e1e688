#include "graph/passes/batch_products.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "graph/ir/order.h"

namespace terra::graph {
namespace {

/// A product of so few rows waits for the memory that its matrix lies in; one of more gains nothing from others.
constexpr int64_t kFewRows = 8;
/// Products of one level that are worth the copy of their rows.
constexpr size_t kEnough = 4;
/// Products with smaller matrices cost little more than the copy.
constexpr int64_t kLeastElements = 64 * 64;
/// Borders between concatenated columns that are tried.
constexpr size_t kMostBorders = 3;

/// Where an op has its rows, its matrix and what is added.
struct Form {
  const char* op;
  size_t rows, matrix;
  int added;            ///< -1: nothing
  int scales;           ///< from which argument on factors follow
  size_t inner, outer;  ///< the matrix's dimensions: the one that is summed over, the one of the result's columns
};
constexpr Form kForms[] = {
    {"mm", 0, 1, -1, 2, 0, 1},
    {"addmm", 1, 2, 0, 3, 0, 1},
    {"linear", 0, 1, 2, 3, 1, 0},
};

struct Product {
  size_t node;
  const Form* form;
  ValueId rows, matrix, added;  ///< `added` is kNoId where there is nothing
};

bool is_one(const NodeArg& arg) {
  const auto* scalar = std::get_if<Scalar>(&arg);
  return scalar && scalar->to_double() == 1;
}

/// A part of a tensor along one dimension.
struct Part {
  int64_t start = 0, length = 0;
  friend auto operator<=>(const Part&, const Part&) = default;
};

/// The columns that a node takes of its operand; none if it is another node.
Part columns_taken(const Node& n) {
  if (!is_pure_op(n, "narrow")) return {};
  const auto number = [&](size_t i) { return std::get_if<Scalar>(&n.args[i]); };
  if (!number(1) || !number(2) || !number(3) || number(1)->to_int() != 1) return {};
  return {number(2)->to_int(), number(3)->to_int()};
}

/// Values that outputs are or look into: those keep memory of their own.
std::vector<bool> seen_outside(const Graph& graph) {
  std::vector<bool> seen(graph.values.size(), false);
  for (ValueId id : graph.outputs) seen[id] = true;
  for (auto n = graph.nodes.rbegin(); n != graph.nodes.rend(); ++n)
    if (n->is_op(kView) && seen[n->results[0]] && operand(*n, 0) != kNoId) seen[operand(*n, 0)] = true;
  return seen;
}

/// What one product gives to a batch.
struct Piece {
  size_t node;           ///< whose result it is, or is added to
  ValueId rows;          ///< what is multiplied
  ValueId rest = kNoId;  ///< columns of the product's rows that are left to multiply, kNoId for none
};

/// One way to take products apart: dimension `dim` of the matrix falls into the part that the batch multiplies with and
/// the part for the rest.
struct Cut {
  std::vector<Piece> pieces;
  size_t dim;
  Part taken, rest;
};

/// The products of a graph that share a matrix.
class Batcher {
 public:
  Batcher(Graph& graph, std::vector<Product> products)
      : graph_(graph),
        products_(std::move(products)),
        first_(products_[0]),
        args_(graph.nodes[first_.node].args),
        origin_(graph.nodes[first_.node].origin) {}

  bool run() { return batch_whole() || batch_columns_of_rows() || batch_columns_of_results(); }

 private:
  bool batch_whole() {
    Cut cut{{}, first_.form->outer, {0, columns()}, {}};
    for (const Product& p : products_) cut.pieces.push_back({p.node, p.rows});
    return batch(cut);
  }

  /// Rows that are a concatenation: what is in front and what follows are multiplied each by its part of the matrix.
  bool batch_columns_of_rows() {
    std::vector<int64_t> ends;
    std::vector<std::pair<size_t, UseList>> concatenated;  // node of a product, the parts of its rows
    const std::vector<int32_t> made_by = definitions(graph_);
    for (const Product& p : products_) {
      const int32_t maker = made_by[p.rows];
      if (maker < 0 || !is_pure_op(graph_.nodes[maker], "cat")) continue;
      const auto* dim = std::get_if<Scalar>(&graph_.nodes[maker].args[1]);
      if (!dim || (dim->to_int() != 1 && dim->to_int() != -1)) continue;
      const auto& parts = std::get<UseList>(graph_.nodes[maker].args[0]);
      std::vector<int64_t> here;
      for (ValueId part : parts) here.push_back((here.empty() ? 0 : here.back()) + graph_.meta(part).sizes[1]);
      if (concatenated.empty()) ends = here;
      if (here == ends) concatenated.emplace_back(p.node, parts);
    }
    for (size_t at = 1; at < ends.size() && at <= kMostBorders; ++at) {
      const Part front{0, ends[at - 1]}, back{ends[at - 1], ends.back() - ends[at - 1]};
      const auto border = static_cast<std::ptrdiff_t>(at);
      for (const bool takes_front : {true, false}) {
        Cut cut{{}, first_.form->inner, takes_front ? front : back, takes_front ? back : front};
        if (cut.taken.length * columns() < kLeastElements) continue;
        const size_t nodes = graph_.nodes.size();
        for (const auto& [node, parts] : concatenated) {
          const ValueId before = cat({parts.begin(), parts.begin() + border}, 1);
          const ValueId behind = cat({parts.begin() + border, parts.end()}, 1);
          cut.pieces.push_back({node, takes_front ? before : behind, takes_front ? behind : before});
        }
        if (batch(cut)) return true;
        graph_.nodes.resize(nodes);
      }
    }
    return false;
  }

  /// Products of whose columns two parts are wanted, of which one waits for the other.
  bool batch_columns_of_results() {
    if (first_.form->added >= 0) return false;
    std::map<ValueId, std::vector<size_t>> users;
    for (const Product& p : products_) users[result(p)];
    for (size_t n = 0; n < graph_.nodes.size(); ++n)
      for_each_use(graph_.nodes[n], [&](ValueId id) {
        if (const auto found = users.find(id); found != users.end()) found->second.push_back(n);
      });
    std::map<Part, std::vector<Piece>> wanted;
    for (const Product& p : products_) {
      const std::vector<size_t>& takers = users[result(p)];
      const auto is_part = [&](size_t n) { return columns_taken(graph_.nodes[n]).length > 0; };
      if (takers.size() != 2 || !std::all_of(takers.begin(), takers.end(), is_part)) continue;
      for (size_t n : takers) wanted[columns_taken(graph_.nodes[n])].push_back({n, p.rows});
    }
    for (auto& [part, pieces] : wanted)
      if (part.length * rows_of_matrix() >= kLeastElements && batch({std::move(pieces), first_.form->outer, part, {}}))
        return true;
    return false;
  }

  /// Pieces whose rows have the same level and wait for the same part become one product, where there are enough.
  bool batch(const Cut& cut) {
    const std::vector<int32_t> level = levels(cut);
    const std::vector<int64_t> part = awaited_parts();
    std::map<std::pair<int32_t, int64_t>, std::vector<Piece>> of_level;
    for (const Piece& piece : cut.pieces) of_level[{level[piece.rows], part[piece.rows]}].push_back(piece);
    std::erase_if(of_level, [](const auto& entry) { return entry.second.size() < kEnough; });
    if (of_level.empty()) return false;
    const ValueId matrix = narrow(first_.matrix, cut.dim, cut.taken);
    const ValueId rest = cut.rest.length ? as_inner_by_outer(narrow(first_.matrix, cut.dim, cut.rest)) : kNoId;
    for (const auto& [at, pieces] : of_level) {
      std::vector<ValueId> rows;
      for (const Piece& piece : pieces) rows.push_back(piece.rows);
      const ValueId product = multiply(cat(rows, 0), matrix);
      int64_t taken = 0;
      for (const Piece& piece : pieces) {
        const int64_t count = graph_.meta(piece.rows).sizes[0];
        finish(piece, product, {std::exchange(taken, taken + count), count}, rest);
      }
    }
    return true;
  }

  /// For each value, how many pieces lie on the longest way to it; a chain of effects is a way, too.
  std::vector<int32_t> levels(const Cut& cut) const {
    std::vector<int32_t> level(graph_.values.size(), 0);
    std::vector<bool> counts(graph_.nodes.size(), false);
    for (const Piece& piece : cut.pieces) counts[piece.node] = true;
    std::map<uint32_t, int32_t> of_chain;
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      const Node& node = graph_.nodes[n];
      int32_t at = node.is_pure() ? 0 : of_chain[node.chain];
      for_each_use(node, [&](ValueId id) { at = std::max(at, level[id]); });
      if (!node.is_pure()) of_chain[node.chain] = at;
      for (ValueId id : node.results) level[id] = at + counts[n];
    }
    return level;
  }

  /// For each value, the part of the run that it waits for; -1: it is known without a late input. The gradients of a
  /// part are functions of its own tangents alone.
  std::vector<int64_t> awaited_parts() const {
    std::vector<int64_t> part(graph_.values.size(), -1);
    for (const auto& [input, number] : graph_.late_inputs) part[input] = number;
    for (const Node& node : graph_.nodes)
      for_each_use(node, [&](ValueId id) {
        for (ValueId result : node.results) part[result] = std::max(part[result], part[id]);
      });
    return part;
  }

  ValueId multiply(ValueId rows, ValueId matrix) {
    const Form& form = *first_.form;
    const Dims sizes{graph_.meta(rows).sizes[0], graph_.meta(matrix).sizes[form.outer]};
    std::vector<NodeArg> args = args_;
    args[form.rows] = Use{rows};
    args[form.matrix] = Use{matrix};
    return emit(form.op, std::move(args), sizes);
  }

  /// The node becomes its rows of the product, to which the piece's rest times `rest` is added if there is one.
  void finish(const Piece& piece, ValueId product, Part rows, ValueId rest) {
    const Op* op = find_op("narrow");
    std::vector<NodeArg> args = {Use{product}, Scalar(int64_t{0}), Scalar(rows.start), Scalar(rows.length)};
    if (rest != kNoId) {
      const ValueId sum = emit("narrow", std::move(args), Dims{rows.length, columns()});
      op = find_op("addmm");
      args = {Use{sum}, Use{piece.rest}, Use{rest}, Scalar(int64_t{1}), Scalar(int64_t{1})};
    }
    graph_.nodes[piece.node].op = op;
    graph_.nodes[piece.node].args = std::move(args);
  }

  /// The matrix as mm takes it.
  ValueId as_inner_by_outer(ValueId matrix) {
    if (first_.form->inner == 0) return matrix;
    const Dims& sizes = graph_.meta(matrix).sizes;
    return emit("t", {Use{matrix}}, Dims{sizes[1], sizes[0]});
  }

  ValueId result(const Product& p) const { return graph_.nodes[p.node].results[0]; }
  int64_t columns() const { return graph_.meta(first_.matrix).sizes[first_.form->outer]; }
  int64_t rows_of_matrix() const { return graph_.meta(first_.matrix).sizes[first_.form->inner]; }

  // New nodes go to the end of the list.
  ValueId add(Node node) {
    graph_.nodes.push_back(std::move(node));
    return graph_.nodes.back().results[0];
  }
  ValueId emit(std::string_view op, std::vector<NodeArg> args, Dims sizes) {
    const ValueMeta& matrix = graph_.meta(first_.matrix);
    ValueMeta result = ValueMeta::tensor(matrix.dtype, std::move(sizes), matrix.device);
    return add(new_op(graph_, op, std::move(args), std::move(result), origin_));
  }
  ValueId narrow(ValueId whole, size_t dim, Part part) {
    Dims sizes = graph_.meta(whole).sizes;
    if (part == Part{0, sizes[dim]}) return whole;
    sizes[dim] = part.length;
    const Scalar axis(static_cast<int64_t>(dim));
    return emit("narrow", {Use{whole}, axis, Scalar(part.start), Scalar(part.length)}, std::move(sizes));
  }
  ValueId cat(const UseList& parts, size_t dim) {
    return parts.size() == 1 ? parts[0] : add(new_cat(graph_, parts, dim, origin_));
  }

  Graph& graph_;
  const std::vector<Product> products_;
  const Product& first_;
  const std::vector<NodeArg> args_;
  const int32_t origin_;
};

/// Products that could be batched, by what they share.
std::vector<std::vector<Product>> candidates(const Graph& graph) {
  const std::vector<bool> outside = seen_outside(graph);
  std::map<std::tuple<ValueId, const Form*, ValueId>, std::vector<Product>> found;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    const Form* form =
        std::find_if(std::begin(kForms), std::end(kForms), [&](const Form& f) { return is_pure_op(node, f.op); });
    if (form == std::end(kForms) || outside[node.results[0]]) continue;
    const Product p{n, form, operand(node, form->rows), operand(node, form->matrix),
                    form->added < 0 ? kNoId : operand(node, static_cast<size_t>(form->added))};
    const Dims& rows = graph.meta(p.rows).sizes;
    if (rows.size() != 2 || rows[0] > kFewRows || !is_floating(graph.meta(p.matrix).dtype) ||
        graph.meta(p.matrix).numel() < kLeastElements)
      continue;
    if (p.added != kNoId && graph.meta(p.added).sizes.size() > 1) continue;
    if (graph.meta(p.matrix).sizes.size() != 2) continue;
    if (!std::all_of(node.args.begin() + form->scales, node.args.end(), is_one)) continue;
    found[{p.matrix, form, p.added}].push_back(p);
  }
  std::vector<std::vector<Product>> groups;
  for (auto& [shared, products] : found)
    if (products.size() >= kEnough) groups.push_back(std::move(products));
  return groups;
}

}  // namespace

bool batch_products(Graph& graph) {
  bool changed = false;
  for (bool found = true; found;) {
    found = false;
    for (std::vector<Product>& products : candidates(graph)) {
      found = Batcher(graph, std::move(products)).run();
      if (found) break;
    }
    if (found) restore_order(graph);
    changed |= found;
  }
  return changed;
}

}  // namespace terra::graph
