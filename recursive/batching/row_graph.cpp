#include "recursive/batching/row_graph.h"

#include <algorithm>

#include "graph/executor/instances.h"
#include "recursive/batching/sub_graphs.h"

namespace terra::recursive {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeArg;

constinit uint64_t all_built = 0;

/// So many numbers of rows stay bound: small ones come again and again, large ones take longer to run than to bind.
constexpr size_t kMostBound = 256;

/// Between two samples of a number, and beyond them.
class Line {
 public:
  Line(int64_t rows, int64_t more_rows, int64_t wanted) : rows_(rows), more_(more_rows), wanted_(wanted) {}

  int64_t at(int64_t first, int64_t second) const {
    if (first == second) return first;
    return first + (wanted_ - rows_) * ((second - first) / (more_ - rows_));
  }

  void apply(Graph& g, const Graph& second) const {
    for (size_t v = 0; v < g.values.size(); ++v)
      for (size_t d = 0; d < g.values[v].sizes.size(); ++d)
        g.values[v].sizes[d] = at(g.values[v].sizes[d], second.values[v].sizes[d]);
    for (size_t n = 0; n < g.nodes.size(); ++n) {
      Node& node = g.nodes[n];
      for (size_t a = 0; a < node.args.size(); ++a) apply(node.args[a], second.nodes[n].args[a]);
      for (size_t b = 0; b < node.bodies.size(); ++b) {
        auto body = std::make_shared<Graph>(*node.bodies[b]);
        apply(*body, *second.nodes[n].bodies[b]);
        node.bodies[b] = std::move(body);
      }
    }
  }

 private:
  void apply(NodeArg& arg, const NodeArg& second) const {
    if (auto* list = std::get_if<graph::IntList>(&arg)) {
      const auto& other = std::get<graph::IntList>(second);
      for (size_t i = 0; i < list->size(); ++i) (*list)[i] = at((*list)[i], other[i]);
    } else if (auto* number = std::get_if<Scalar>(&arg); number && number->kind() == Scalar::Kind::Int) {
      *number = Scalar(at(number->to_int(), std::get<Scalar>(second).to_int()));
    }
  }

  const int64_t rows_, more_, wanted_;
};

/// The same nodes on the same values, with numbers that may differ.
bool alike(const Graph& a, const Graph& b) {
  if (a.values.size() != b.values.size() || a.nodes.size() != b.nodes.size() || a.inputs != b.inputs ||
      a.outputs != b.outputs || a.constants.size() != b.constants.size())
    return false;
  for (size_t v = 0; v < a.values.size(); ++v)
    if (a.values[v].kind != b.values[v].kind || a.values[v].dtype != b.values[v].dtype ||
        a.values[v].sizes.size() != b.values[v].sizes.size())
      return false;
  for (size_t c = 0; c < a.constants.size(); ++c)
    if (!(a.constants[c].second.sizes() == b.constants[c].second.sizes())) return false;
  for (size_t n = 0; n < a.nodes.size(); ++n) {
    const Node &x = a.nodes[n], &y = b.nodes[n];
    if (x.kind != y.kind || x.op != y.op || x.results != y.results || x.args.size() != y.args.size() ||
        x.bodies.size() != y.bodies.size())
      return false;
    for (size_t i = 0; i < x.args.size(); ++i) {
      if (x.args[i].index() != y.args[i].index()) return false;
      const auto *l = std::get_if<graph::IntList>(&x.args[i]), *m = std::get_if<graph::IntList>(&y.args[i]);
      const auto *s = std::get_if<Scalar>(&x.args[i]), *t = std::get_if<Scalar>(&y.args[i]);
      const bool numbers =
          l   ? l->size() == m->size()
          : s ? s->kind() == t->kind() && (s->kind() == Scalar::Kind::Int || graph::same_scalar(*s, *t))
              : graph::same_arg(x.args[i], y.args[i]);
      if (!numbers) return false;
    }
    for (size_t i = 0; i < x.bodies.size(); ++i)
      if (!alike(*x.bodies[i], *y.bodies[i])) return false;
  }
  return true;
}

}  // namespace

RowGraph::RowGraph(Graph first, int64_t rows, std::shared_ptr<const Graph> second, int64_t more_rows)
    : first_(std::move(first)), second_(std::move(second)), rows_(rows), more_rows_(more_rows) {
  if (second_ && !alike(first_, *second_))
    throw Unbatchable{"graph \"" + first_.name + "\" is another one for another number of calls"};
}

RowGraph::Bound::Bound(Graph graph) : instance(graph::plan_body(graph, Device())), activation(instance) { ++all_built; }

uint64_t RowGraph::built() { return all_built; }

Graph RowGraph::of(int64_t rows) const {
  Graph made = first_;
  if (second_ && rows != rows_) Line(rows_, more_rows_, rows).apply(made, *second_);
  return made;
}

std::vector<graph::RootActivation*> RowGraph::activations_of_one(size_t count) {
  std::vector<graph::RootActivation*> all = {&activation(1)};
  while (of_one_.size() + 1 < count) of_one_.push_back(std::make_unique<Bound>(of(1)));
  for (size_t k = 1; k < count; ++k) all.push_back(&of_one_[k - 1]->activation);
  return all;
}

bool RowGraph::is_pure() const {
  return std::all_of(first_.nodes.begin(), first_.nodes.end(), [](const Node& n) { return n.is_pure(); });
}

graph::RootActivation& RowGraph::activation(int64_t rows) {
  std::unique_ptr<Bound>& bound = bound_[second_ ? rows : 1];
  if (!bound) {
    bound = std::make_unique<Bound>(of(rows));
    if (bound_.size() > kMostBound) {
      const auto oldest = std::min_element(bound_.begin(), bound_.end(), [&](const auto& a, const auto& b) {
        return (a.second == bound ? uses_ : a.second->used) < (b.second == bound ? uses_ : b.second->used);
      });
      if (oldest->second != bound) bound_.erase(oldest);
    }
  }
  bound->used = ++uses_;
  return bound->activation;
}

}  // namespace terra::recursive
