#include "graph/cache/pair_batch.h"

#include <algorithm>
#include <cstring>

#include "engine/autograd/sparse_gradients.h"
#include "engine/ops/call.h"
#include "graph/cache/pair_node.h"
#include "graph/cache/rounding.h"
#include "graph/gradient/undefined.h"

namespace terra::graph {
namespace {

/// So many nodes have to have been passed before rows pay what it takes to make them.
constexpr uint64_t kEnough = 128;
/// Rows are copied together: of more bytes each, one by one is as fast.
constexpr size_t kMostBytesOfRow = 1 << 16;
/// Inputs of so many bytes are no rows.
constexpr size_t kWeight = 1 << 14;
constexpr size_t kMostNodes = 512;

bool is_same(const Tensor& a, const Tensor& b) {
  return a->storage == b->storage && a->offset == b->offset && a.sizes() == b.sizes() && a.strides() == b.strides();
}

bool is_same(const autograd::Edge& a, const autograd::Edge& b) { return a.node == b.node && a.index == b.index; }

Tensor contiguous(const Tensor& t) {
  static const Op* clone = find_op("clone");
  return t.is_contiguous() ? t : (*clone)(t, "contiguous_format");
}

bool is_leaf(const autograd::Edge& edge) { return edge.node && edge.node->edges.empty(); }

}  // namespace

PairBatch::PairBatch(const Program& backward) : backward_(backward) {
  const Graph& g = backward_.graph;
  size_t bytes = 0;
  for (size_t i = 0; i < backward_.inputs.size(); ++i) {
    const ValueMeta& meta = g.meta(g.inputs[i]);
    if (meta.is_tensor() && !meta.device.is_cpu()) pays_ = false;
    if (backward_.inputs[i].kind == InputBinding::Kind::Tangent) bytes += meta.bytes();
  }
  pays_ = pays_ && bytes <= kMostBytesOfRow && g.nodes.size() <= kMostNodes && make_rows_of_backward;
}

bool PairBatch::is_busy() const { return pays_ && passed_ >= kEnough; }

PairBatch::Made PairBatch::apply(std::span<autograd::Node* const> nodes, std::span<const std::vector<Tensor>> grads) {
  const DeviceScope cpu{Device()};
  Made made;
  made.gradients.resize(nodes.size());
  passed_ += nodes.size();
  std::vector<std::pair<std::vector<const void*>, std::vector<Row>>> groups;  // by what is common
  for (size_t n = 0; n < nodes.size(); ++n) {
    Row row{static_cast<PairNode*>(nodes[n]), n, grads[n], {}};
    if (!is_busy() || !row.node->join_batch(grads[n], row.inputs)) {
      made.gradients[n] = row.node->apply(grads[n]);
      continue;
    }
    std::vector<const void*> common = common_to(row);
    auto at = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == common; });
    if (at == groups.end()) at = groups.insert(at, {std::move(common), {}});
    at->second.push_back(std::move(row));
  }
  for (const auto& [common, rows] : groups)
    if (!run(rows, made)) apply_alone(rows, made);
  return made;
}

void PairBatch::apply_alone(std::span<const Row> rows, Made& made) {
  for (const Row& row : rows) made.gradients[row.number] = row.node->apply(row.grads);
}

/// What runs that go together have in common: large tensors, and where gradients have come.
std::vector<const void*> PairBatch::common_to(const Row& row) const {
  std::vector<const void*> common;
  for (size_t i = 0; i < row.inputs.size(); ++i) {
    const Tensor& t = row.inputs[i];
    const bool is_tangent = backward_.inputs[i].kind == InputBinding::Kind::Tangent;
    const bool is_large = !is_tangent && static_cast<size_t>(t.numel()) * size_of(t.dtype()) >= kWeight;
    common.push_back(is_large ? t->data() : is_tangent && !t.defined() ? this : nullptr);
  }
  return common;
}

SharedByRuns PairBatch::shared_by(std::span<const Row> rows) const {
  SharedByRuns shared;
  for (size_t i = 0; i < backward_.inputs.size(); ++i) {
    const Tensor& first = rows[0].inputs[i];
    shared.undefined.push_back(!first.defined());
    shared.inputs.push_back(
        backward_.inputs[i].kind == InputBinding::Kind::Tensor &&
        std::all_of(rows.begin(), rows.end(), [&](const Row& r) { return is_same(r.inputs[i], first); }));
  }
  for (uint32_t edge : rows[0].node->edges_of_gradients())
    shared.gradients.push_back(std::all_of(rows.begin(), rows.end(), [&](const Row& r) {
      return is_same(r.node->edges[edge], rows[0].node->edges[edge]);
    }));
  return shared;
}

/// [runs, ...], or the first where all runs share it or have none.
Tensor PairBatch::gathered(std::span<const Row> rows, size_t input, bool shared) const {
  const Tensor& first = rows[0].inputs[input];
  if (!first.defined()) return first;
  if (shared) return contiguous(first);
  Dims sizes = first.sizes();
  sizes.insert(0, static_cast<int64_t>(rows.size()));
  Tensor all = Tensor::empty(sizes, first.dtype());
  const size_t bytes = static_cast<size_t>(first.numel()) * size_of(first.dtype());
  char* to = static_cast<char*>(all->data());
  for (const Row& row : rows) {
    if (bytes > 0) std::memcpy(to, contiguous(row.inputs[input])->data(), bytes);
    to += bytes;
  }
  return all;
}

/// The program for what the rows share. Null: they have to be applied one by one.
std::map<SharedByRuns, PairBatch::Rows>::value_type* PairBatch::rows_graph(std::span<const Row> rows) {
  SharedByRuns shared = shared_by(rows);
  if (rows.size() == 1) {  // it shares everything with itself
    if (!last_) return nullptr;
    shared.inputs = last_->inputs;
    shared.gradients = last_->gradients;
  }
  const auto [at, is_new] = made_.try_emplace(shared);
  if (is_new) {
    size_t bytes = 0;
    for (size_t i = 0; i < shared.inputs.size(); ++i)
      if (!shared.inputs[i] && !shared.undefined[i]) bytes += backward_.graph.meta(backward_.graph.inputs[i]).bytes();
    if (bytes <= kMostBytesOfRow) at->second.graph = make_rows_of_backward(backward_, shared);
    pays_ = std::any_of(made_.begin(), made_.end(), [](const auto& m) { return m.second.graph != nullptr; });
  }
  if (!at->second.graph) return nullptr;
  last_ = &at->first;
  return &*at;
}

bool PairBatch::run(std::span<const Row> rows, Made& made) {
  auto* const made_for = rows_graph(rows);
  if (!made_for) return false;
  auto& [shared, graph] = *made_for;
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < backward_.inputs.size(); ++i) inputs.push_back(gathered(rows, i, shared.inputs[i]));
  pair_batch_counts.runs += rows.size();
  ++pair_batch_counts.batches;
  const std::vector<Tensor> found = graph.graph->run(inputs, static_cast<int64_t>(rows.size()));
  const bool any_undefined =
      std::find(shared.undefined.begin(), shared.undefined.end(), true) != shared.undefined.end();
  if (any_undefined && !are_finite(found)) return false;
  const size_t products = made.products.size();
  hand_out(*graph.graph, found, rows, made);
  if (!checks_batches || !is_check_due(++graph.runs) ||
      is_right(rows, std::span(made.products).subspan(products), made))
    return true;
  pays_ = false;
  made.products.resize(products);
  if (on_batch_error) on_batch_error(backward_.graph.name);
  return false;
}

/// Of what was made, as RowsOfBackward::run gives it, to each of the runs what is its.
void PairBatch::hand_out(const RowsOfBackward& graph, std::span<const Tensor> found, std::span<const Row> rows,
                         Made& made) const {
  for (const Row& row : rows) made.gradients[row.number].resize(row.node->edges.size());
  const std::vector<uint32_t> edge_of = rows[0].node->edges_of_gradients();
  size_t next = 0;
  for (size_t j = 0; j < edge_of.size(); ++j) {
    const uint32_t edge = edge_of[j];
    const autograd::Edge& to = rows[0].node->edges[edge];
    switch (graph.form(j)) {
      case RowsOfBackward::Form::None: break;
      case RowsOfBackward::Form::Rows: {
        const Tensor& all = found[next++];
        for (size_t r = 0; r < rows.size(); ++r)
          made.gradients[rows[r].number][edge] =
              arranged(j, all, static_cast<int64_t>(r), is_leaf(rows[r].node->edges[edge]));
        break;
      }
      case RowsOfBackward::Form::Sum:
        made.gradients[rows[0].number][edge] = arranged(j, found[next++], 0, false);
        break;
      case RowsOfBackward::Form::Product: {
        autograd::WeightRows parts{found[next], found[next + 1]};
        next += 2;
        const Program::Gradient& g = backward_.gradients[j];
        if (g.strides != contiguous_strides(g.sizes)) std::swap(parts.left, parts.right);
        if (is_leaf(to))
          made.products.emplace_back(to, std::move(parts));
        else
          made.gradients[rows[0].number][edge] = autograd::product(parts);
        break;
      }
    }
  }
}

/// Whether as much comes to each place as when the nodes are applied one by one.
bool PairBatch::is_right(std::span<const Row> rows, std::span<const Product> products, const Made& made) {
  std::map<std::pair<autograd::Node*, uint32_t>, std::pair<Tensor, Tensor>> sums;  // of the batch, and one by one
  for (const Row& row : rows) {
    const std::vector<Tensor> alone = row.node->apply(row.grads);
    for (size_t e = 0; e < alone.size(); ++e) {
      auto& [batch, single] = sums[{row.node->edges[e].node.get(), row.node->edges[e].index}];
      autograd::add_up(batch, made.gradients[row.number][e]);
      autograd::add_up(single, alone[e]);
    }
  }
  for (const auto& [to, parts] : products)
    autograd::add_up(sums[{to.node.get(), to.index}].first, autograd::product(parts));
  return std::all_of(sums.begin(), sums.end(), [](const auto& sum) {
    const auto& [batch, single] = sum.second;
    if (!batch.defined() || !single.defined()) return batch.defined() == single.defined();
    return is_same_but_for_rounding(single, contiguous(batch)->data());
  });
}

/// Row `row` of what was made, as the program says that the gradient lies there; in memory of its `own`, which leaves
/// keep.
Tensor PairBatch::arranged(size_t gradient, const Tensor& made, int64_t row, bool own) const {
  static const Op* clone = find_op("clone");
  const Program::Gradient& g = backward_.gradients[gradient];
  const int64_t numel = checked_numel(backward_.graph.meta(backward_.graph.outputs[gradient]).sizes);
  const Tensor part = Tensor::view_of(made->storage, made.dtype(), g.sizes, g.strides, row * numel);
  return own ? (*clone)(part, "preserve_format") : part;
}

}  // namespace terra::graph
