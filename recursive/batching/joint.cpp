#include "recursive/batching/joint.h"

#include <algorithm>
#include <optional>
#include <set>

#include "engine/autograd/autograd.h"
#include "engine/ops/call.h"
#include "graph/gradient/derivative.h"
#include "graph/trace/emitter.h"
#include "recursive/batching/rules.h"

namespace terra::recursive {
namespace {

using graph::Node;
using graph::NodeKind;
using graph::ValueMeta;

class JointBuilder {
 public:
  JointBuilder(const SubGraphs* all, const SubGraph& of, const Path& path, const Wanted& wanted, int64_t rows)
      : all_(all), of_(of), path_(path), wanted_(wanted), rows_(rows), emitter_(joint_.graph) {}

  Joint run() {
    const EmitterScope scope(emitter_);
    const GradMode on(true);
    const graph::Graph& body = path_.body;
    joint_.graph.name = body.name;
    values_.resize(body.values.size());
    for (const auto& [id, tensor] : body.constants) values_[id] = Batched{tensor};
    for (size_t n = 0; n < body.nodes.size(); ++n) {
      if (body.nodes[n].origin >= 0) {
        const graph::Origin& origin = body.origins[body.nodes[n].origin];
        emitter_.set_origin(origin.file, origin.line);
      }
      play(body.nodes[n]);
    }
    for (uint32_t r = 0; r < body.outputs.size(); ++r)
      add_output({JointOutput::Kind::Result, r, 0}, value(body.outputs[r]));
    if (wanted_.any()) {
      add_gradients();
      find_tangents();
    }
    return std::move(joint_);
  }

 private:
  // ---- inputs, when they are first read ----------------------------------------------------------------------------

  Batched add_input(JointInput from, const ValueMeta& meta, bool requires_grad) {
    ValueMeta many = meta;
    const bool rows = from.kind != JointInput::Kind::Shared && rows_ > 0;
    if (rows) many.sizes.insert(0, rows_);
    const ValueId id = joint_.graph.add_input(many);
    joint_.inputs.push_back(from);
    Batched made{emitter_.whole(id, contiguous_strides(many.sizes), 0), rows};
    if (requires_grad && graph::is_differentiable(meta)) autograd::set_requires_grad(made.tensor, true);
    tensors_.push_back(made.tensor);
    return made;
  }

  /// What a host value or an input of the SubGraph is here.
  Batched outside(ValueId id) {
    const graph::Graph& body = path_.body;
    const ValueMeta& meta = body.meta(id);
    if (meta.kind == graph::ValueKind::Scalar) {
      Batched fed = add_input({JointInput::Kind::Feed, path_.slots[id], 0},
                              ValueMeta::tensor(Scalar::dtype_of(meta.scalar), {}, {}), false);
      fed.number = true;
      return fed;
    }
    if (!meta.is_tensor()) throw Unbatchable{"something that is no tensor is computed with"};
    const auto at = std::find(body.inputs.begin(), body.inputs.end(), id);
    if (at == body.inputs.end()) return add_input({JointInput::Kind::Feed, path_.slots[id], 0}, meta, wanted_.feeds);
    const auto i = static_cast<uint32_t>(at - body.inputs.begin());
    const SubGraphInput& input = of_.inputs[i];
    if (input.kind == InputKind::Host)
      return add_input({JointInput::Kind::Feed, path_.slots[id], 0}, meta, wanted_.inputs[i]);
    if (input.kind == InputKind::Row) return add_input({JointInput::Kind::Argument, i, 0}, meta, wanted_.any());
    return add_input({JointInput::Kind::Shared, input.root, 0}, meta, wanted_.inputs[input.root]);
  }

  const Batched& value(ValueId id) {
    if (!values_[id]) values_[id] = outside(id);
    return *values_[id];
  }

  // ---- nodes -------------------------------------------------------------------------------------------------------

  void play(const Node& n) {
    switch (n.kind) {
      case NodeKind::HostCall: return;  // the walk has done it
      case NodeKind::Item: return play_item(n);
      case NodeKind::Call: return play_call(n);
      case NodeKind::Op:
        if (is_sparse_look_up(n)) return look_up(n);
        [[fallthrough]];
      default: return set_results(n, play_batched(path_.body, n, operands(), rows_));
    }
  }

  OperandOf operands() {
    return [this](ValueId id) { return value(id); };
  }

  bool is_sparse_look_up(const Node& n) {
    static const Op* op = find_op("embedding_forward");
    const auto* sparse = n.op == op && n.args.size() > 3 ? std::get_if<Scalar>(&n.args[3]) : nullptr;
    return sparse && sparse->to_bool() && value(graph::operand(n, 0)).tensor.requires_grad();
  }

  /// The rows begin a history of their own: their gradients are part of the table's as they are.
  void look_up(const Node& n) {
    if (!wanted_.look_ups) throw Unbatchable{"rows are looked up in a table whose gradient is sparse"};
    const Batched table = value(graph::operand(n, 0)), places = value(graph::operand(n, 1));
    const auto at =
        std::find_if(tensors_.begin(), tensors_.end(), [&](const Tensor& t) { return t.get() == table.tensor.get(); });
    const auto input = static_cast<uint32_t>(at - tensors_.begin());
    if (at == tensors_.end() || joint_.inputs[input].kind == JointInput::Kind::Argument ||
        joint_.inputs[input].kind == JointInput::Kind::Result)
      throw Unbatchable{"rows are looked up in a table that was computed, and whose gradient is sparse"};
    std::vector<Batched> rows;
    {
      const GradMode off(false);
      rows = play_batched(path_.body, n, operands(), rows_);
    }
    autograd::set_requires_grad(rows[0].tensor, true);
    add_output({JointOutput::Kind::Place, static_cast<uint32_t>(joint_.look_ups.size())}, places);
    joint_.look_ups.push_back({input, std::get<Scalar>(n.args[2]).to_int()});
    looked_up_.push_back(rows[0].tensor);
    set_results(n, std::move(rows));
  }

  void set_results(const Node& n, std::vector<Batched> results) {
    for (size_t r = 0; r < std::min(results.size(), n.results.size()); ++r)
      values_[n.results[r]] = std::move(results[r]);
  }

  /// The number is a tensor without dimensions, into which no gradient flows.
  void play_item(const Node& n) {
    const GradMode off(false);
    Batched item = value(graph::operand(n, 0));
    item.tensor = (*find_op("reshape"))(item.tensor, item.rows ? Dims{rows_} : Dims{});
    const DType dtype = Scalar::dtype_of(path_.body.meta(n.results[0]).scalar);
    if (item.tensor.dtype() != dtype) item.tensor = (*find_op("to_dtype"))(item.tensor, dtype);
    if (item.tensor.requires_grad()) item.tensor = (*find_op("detach"))(item.tensor);
    item.number = true;
    values_[n.results[0]] = std::move(item);
  }

  void play_call(const Node& n) {
    const auto call = static_cast<uint32_t>(calls_++);
    const SubGraph& callee = all_->of(n.index);
    for (uint32_t i = 0; i < callee.inputs.size(); ++i)
      if (callee.inputs[i].kind == InputKind::Row || path_.is_item(graph::operand(n, i)))
        add_output({JointOutput::Kind::Operand, i, call}, value(graph::operand(n, i)));
    for (uint32_t r = 0; r < n.results.size(); ++r)
      values_[n.results[r]] =
          add_input({JointInput::Kind::Result, r, call}, path_.body.meta(n.results[r]), wanted_.any());
  }

  // ---- outputs -----------------------------------------------------------------------------------------------------

  void add_output(JointOutput to, Batched from) {
    if (rows_ > 0 && !from.rows) {
      Dims sizes = from.tensor.sizes();
      sizes.insert(0, rows_);
      from.tensor = (*find_op("expand"))(from.tensor, sizes);
    }
    joint_.outputs.push_back(to);
    joint_.graph.outputs.push_back(emitter_.value_of(*from.tensor));
    outputs_.push_back(from.tensor);
  }

  void add_gradients() {
    std::vector<Tensor> roots, tangents, targets;
    std::vector<JointOutput> of;
    for (uint32_t o = 0; o < outputs_.size(); ++o) {
      if (!outputs_[o].requires_grad()) continue;
      roots.push_back(outputs_[o]);
      const ValueMeta meta = ValueMeta::tensor(outputs_[o].dtype(), outputs_[o].sizes(), {});
      const ValueId id = joint_.graph.add_input(meta, "tangent");
      joint_.inputs.push_back({JointInput::Kind::Tangent, o, 0});
      tangents.push_back(emitter_.whole(id, contiguous_strides(meta.sizes), 0));
    }
    for (uint32_t i = 0; i < tensors_.size(); ++i)
      if (tensors_[i].requires_grad()) {
        targets.push_back(tensors_[i]);
        of.push_back({JointOutput::Kind::Gradient, i});
      }
    for (uint32_t l = 0; l < looked_up_.size(); ++l) {
      targets.push_back(looked_up_[l]);
      of.push_back({JointOutput::Kind::LookedUp, l});
    }
    if (roots.empty() || targets.empty()) return;
    const std::vector<Tensor> found = autograd::gradients(roots, tangents, targets, false, false, true);
    const GradMode off(false);
    for (size_t k = 0; k < found.size(); ++k) {
      if (!found[k].defined()) continue;
      joint_.outputs.push_back(of[k]);
      joint_.graph.outputs.push_back(emitter_.value_of(*found[k]));
    }
  }

  /// Of each gradient, as the tape made it: passes may compute several in one product.
  void find_tangents() {
    const graph::Graph& g = joint_.graph;
    std::vector<std::set<uint32_t>> flowing(g.values.size());
    for (uint32_t i = 0; i < joint_.inputs.size(); ++i)
      if (joint_.inputs[i].kind == JointInput::Kind::Tangent) flowing[g.inputs[i]].insert(i);
    for (const Node& n : g.nodes) {
      std::set<uint32_t> all;
      graph::for_each_use(n, [&](ValueId id) { all.insert(flowing[id].begin(), flowing[id].end()); });
      for (ValueId r : n.results) flowing[r] = all;
    }
    for (size_t o = 0; o < joint_.outputs.size(); ++o) {
      if (!joint_.outputs[o].is_gradient()) continue;
      const std::set<uint32_t>& all = flowing[g.outputs[o]];
      joint_.outputs[o].tangents.assign(all.begin(), all.end());
    }
  }

  const SubGraphs* all_;
  const SubGraph& of_;
  const Path& path_;
  const Wanted& wanted_;
  const int64_t rows_;
  Joint joint_;
  graph::GraphEmitter emitter_;
  std::vector<std::optional<Batched>> values_;  // by value of the body
  std::vector<Tensor> tensors_, outputs_;       // inputs and outputs of the joint graph
  std::vector<Tensor> looked_up_;
  size_t calls_ = 0;
};

}  // namespace

bool Wanted::any() const { return feeds || std::find(inputs.begin(), inputs.end(), true) != inputs.end(); }

Joint build_joint(const SubGraphs* all, const SubGraph& of, const Path& path, const Wanted& wanted, int64_t rows) {
  return JointBuilder(all, of, path, wanted, rows).run();
}

}  // namespace terra::recursive
