#include "recursive/batching/backward_rows.h"

#include <algorithm>
#include <optional>

#include "engine/ops/call.h"
#include "graph/gradient/undefined.h"
#include "graph/passes/drop_dead_code.h"
#include "graph/passes/pipeline.h"
#include "graph/trace/emitter.h"
#include "recursive/batching/batched_call.h"
#include "recursive/batching/row_graph.h"
#include "recursive/batching/sub_graphs.h"

namespace terra::recursive {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeKind;
using graph::RowsOfBackward;
using graph::SharedByRuns;
using graph::ValueMeta;
using Form = RowsOfBackward::Form;

/// The graph on tensors with one more dimension, for so many rows.
class RowsBuilder {
 public:
  RowsBuilder(const graph::Program& backward, const SharedByRuns& shared, int64_t rows)
      : body_(backward.graph), shared_(shared), rows_(rows), emitter_(made_) {
    drop_what_does_not_come(backward);
    definitions_ = graph::definitions(body_);
  }

  Graph build() {
    const EmitterScope scope(emitter_);
    const GradMode off(false);
    made_.name = body_.name + ".rows";
    values_.resize(body_.values.size());
    for (const auto& [id, tensor] : body_.constants) values_[id] = Batched{tensor};
    for (size_t i = 0; i < body_.inputs.size(); ++i)
      if (!shared_.undefined[i]) add_input(i);
    for (const Node& n : body_.nodes) {
      try {
        play(n);
      } catch (const Unbatchable& refused) {  // it may be that only a sum of it is asked for
        if (why_.empty()) why_ = refused.why;
      }
    }
    for (size_t j = 0; j < body_.outputs.size(); ++j) add_gradient(j);
    graph::drop_dead_code(made_);  // products of single runs
    graph::optimize(made_, graph::Phase::Part);
    return std::move(made_);
  }

  const std::vector<Form>& forms() const { return forms_; }
  /// By output of the graph that is made, how many of its elements in the first dimension belong to one run; 0: it is a
  /// sum.
  const std::vector<int64_t>& parts() const { return parts_; }

 private:
  void drop_what_does_not_come(const graph::Program& backward) {
    undefined_.assign(body_.values.size(), false);
    for (size_t i = 0; i < body_.inputs.size(); ++i) undefined_[body_.inputs[i]] = shared_.undefined[i];
    graph::drop_undefined(body_, graph::flows_of(backward), undefined_);
  }

  void add_input(size_t input) {
    const ValueId id = body_.inputs[input];
    const ValueMeta& meta = body_.meta(id);
    const bool is_number = meta.kind == graph::ValueKind::Scalar;
    ValueMeta many = is_number ? ValueMeta::tensor(Scalar::dtype_of(meta.scalar), {}, {}) : meta;
    const bool has_rows = !shared_.inputs[input];
    if (has_rows) many.sizes.insert(0, rows_);
    Batched made{emitter_.whole(made_.add_input(many), contiguous_strides(many.sizes), 0), has_rows};
    made.number = is_number;
    values_[id] = made;
  }

  const Batched& value(ValueId id) const {
    if (!values_[id]) throw Unbatchable{why_};
    return *values_[id];
  }

  void play(const Node& n) {
    std::vector<Batched> results = play_batched(
        body_, n, [&](ValueId id) { return value(id); }, rows_);
    for (size_t r = 0; r < std::min(results.size(), n.results.size()); ++r)
      if (results[r].tensor.defined()) values_[n.results[r]] = std::move(results[r]);
  }

  // ---- sums over all runs ------------------------------------------------------------------------------------------

  const Node* maker(ValueId id) const {
    const int32_t n = definitions_[id];
    return n < 0 ? nullptr : &body_.nodes[static_cast<size_t>(n)];
  }

  /// Two matrices with rows of their own for each run.
  struct Parts {
    Tensor left, right;
    int64_t left_rows, right_rows;  ///< of one run
  };

  /// The sum of products of all runs is one product: a1 @ b1 + a2 @ b2 = cat(a1.T, a2.T).T @ cat(b1, b2).
  std::optional<Parts> product(ValueId id) const {
    const Node* const n = maker(id);
    if (!n || n->kind != NodeKind::Op) return {};
    if (n->op->name == "t" || is_transpose(*n)) {
      std::optional<Parts> turned = product(graph::operand(*n, 0));
      if (turned) {
        std::swap(turned->left, turned->right);
        std::swap(turned->left_rows, turned->right_rows);
      }
      return turned;
    }
    if (n->op->name != "mm") return {};
    const Batched &a = value(graph::operand(*n, 0)), &b = value(graph::operand(*n, 1));
    if (!a.rows || !b.rows) return {};
    Parts made{{}, stacked(b), a.size(1), b.size(0)};
    made.left = stacked({run("transpose", a.tensor, 1, 2), true});
    return made;
  }

  bool is_transpose(const Node& n) const {
    if (n.op->name != "transpose" || body_.meta(n.results[0]).sizes.size() != 2) return false;
    return (std::get<Scalar>(n.args[1]).to_int() - std::get<Scalar>(n.args[2]).to_int()) % 2 != 0;
  }

  /// The sum over all runs.
  Tensor total(ValueId id) const {
    const int64_t first[] = {0};
    const Node* const n = maker(id);
    // Rows of the table that several runs have looked up.
    if (n && n->kind == NodeKind::Op && n->op->name == "embedding_backward") {
      const Batched &grad = value(graph::operand(*n, 0)), &places = value(graph::operand(*n, 1));
      return run("embedding_backward", for_each_row(grad, rows_), for_each_row(places, rows_),
                 std::get<Scalar>(n->args[2]), std::get<Scalar>(n->args[3]));
    }
    return run("sum", for_each_row(value(id), rows_), std::span<const int64_t>(first), false);
  }

  void add_gradient(size_t gradient) {
    const ValueId id = body_.outputs[gradient];
    if (undefined_[id]) return forms_.push_back(Form::None);
    if (!shared_.gradients[gradient]) {
      forms_.push_back(Form::Rows);
      return add_output(for_each_row(value(id), rows_), 1);
    }
    if (const std::optional<Parts> parts = product(id)) {
      forms_.push_back(Form::Product);
      add_output(parts->left, parts->left_rows);
      return add_output(parts->right, parts->right_rows);
    }
    forms_.push_back(Form::Sum);
    add_output(total(id), 0);
  }

  /// As a value of its own, row by row.
  void add_output(const Tensor& tensor, int64_t part) {
    const ValueId id = emitter_.value_of(*tensor);
    const bool own = is_own(id);
    made_.outputs.push_back(own ? id : emitter_.value_of(*run("clone", tensor, "contiguous_format")));
    parts_.push_back(part);
  }

  /// It is computed, and no other output.
  bool is_own(ValueId id) const {
    const auto maker = std::find_if(made_.nodes.rbegin(), made_.nodes.rend(), [&](const Node& n) {
      return std::find(n.results.begin(), n.results.end(), id) != n.results.end();
    });
    return maker != made_.nodes.rend() && !maker->is_op(kView) &&
           std::find(made_.outputs.begin(), made_.outputs.end(), id) == made_.outputs.end();
  }

  Graph body_;
  const SharedByRuns& shared_;
  const int64_t rows_;
  std::vector<bool> undefined_;       // by value of the body
  std::vector<int32_t> definitions_;  // the same
  Graph made_;
  graph::GraphEmitter emitter_;
  std::vector<std::optional<Batched>> values_;  // by value of the body; without what no rule computes
  std::string why_;                             // the first that isn't
  std::vector<Form> forms_;
  std::vector<int64_t> parts_;
};

/// A number of runs for which a graph is made; of others there are several graphs.
int64_t common_number(int64_t runs) {
  if (runs <= 8) return runs;
  int64_t step = 1;
  while (16 * step <= runs) step *= 2;
  return runs / step * step;
}

class BackwardRows final : public RowsOfBackward {
 public:
  BackwardRows(RowGraph graph, const SharedByRuns& shared, const RowsBuilder& builder)
      : graph_(std::move(graph)), shared_(shared), forms_(builder.forms()), parts_(builder.parts()) {}

  Form form(size_t gradient) const override { return forms_[gradient]; }

  std::vector<Tensor> run(std::span<const Tensor> inputs, int64_t runs) override {
    const GradMode off(false);
    std::vector<Tensor> made, sums(parts_.size());
    for (size_t o = 0; o < parts_.size(); ++o) {
      const ValueMeta& meta = graph_.sample().meta(graph_.sample().outputs[o]);
      Dims sizes = meta.sizes;
      if (parts_[o] > 0) sizes[0] = parts_[o] * runs;
      made.push_back(Tensor::empty(sizes, meta.dtype));
    }
    for (int64_t first = 0, count = 0; first < runs; first += count) {
      count = common_number(runs - first);
      graph::RootActivation& activation = graph_.activation(count);
      size_t bound = 0;
      for (size_t i = 0; i < inputs.size(); ++i)
        if (inputs[i].defined()) activation.bind_input(bound++, at(inputs[i], shared_.inputs[i] ? 0 : first, runs));
      for (size_t o = 0; o < made.size(); ++o) {
        const bool is_more = parts_[o] == 0 && first > 0;
        if (is_more) sums[o] = Tensor::empty(made[o].sizes(), made[o].dtype());
        activation.bind_fresh(o, is_more ? sums[o]->data() : at(made[o], parts_[o] * first, parts_[o] * runs));
      }
      activation.run_body(nullptr);
      activation.run_tail();
      for (size_t o = 0; o < made.size(); ++o)
        if (parts_[o] == 0 && first > 0) find_op("add")->in_place(made[o], sums[o]);
    }
    return made;
  }

 private:
  /// Where row `row` of `rows` lies; of what has no rows, it itself.
  static char* at(const Tensor& t, int64_t row, int64_t rows) {
    const int64_t elements = row == 0 ? 0 : t.numel() / rows * row;
    return static_cast<char*>(t->data()) + static_cast<size_t>(elements) * size_of(t.dtype());
  }

  RowGraph graph_;
  const SharedByRuns shared_;
  const std::vector<Form> forms_;
  const std::vector<int64_t> parts_;
};

}  // namespace

std::unique_ptr<RowsOfBackward> make_backward_rows(const graph::Program& backward, const SharedByRuns& shared) {
  try {
    RowsBuilder some(backward, shared, kRows), more(backward, shared, kMoreRows);
    Graph first = some.build();
    RowGraph graph(std::move(first), kRows, std::make_shared<const Graph>(more.build()), kMoreRows);
    return std::make_unique<BackwardRows>(std::move(graph), shared, some);
  } catch (const Unbatchable&) {
    return nullptr;
  }
}

}  // namespace terra::recursive
