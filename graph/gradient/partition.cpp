#include "graph/gradient/partition.h"

#include <algorithm>
#include <set>

#include "engine/errors/errors.h"
#include "graph/gradient/flow.h"
#include "graph/passes/drop_dead_code.h"

namespace terra::graph {
namespace {

class Cutter {
 public:
  Cutter(Program joint, bool inputs_stay)
      : joint_(std::move(joint)), inputs_stay_(inputs_stay), g_(joint_.graph), made_by_(definitions(g_)) {}

  Partition run() {
    mark_backward();
    mark_shared();
    choose_saved();
    make_forward();
    make_backward();
    return std::move(out_);
  }

 private:
  /// Nodes that depend on tangents run in the backward half only.
  void mark_backward() {
    after_tangent_.assign(g_.values.size(), false);
    backward_.assign(g_.nodes.size(), false);
    for (size_t i = 0; i < g_.inputs.size(); ++i)
      if (joint_.inputs[i].kind == InputBinding::Kind::Tangent) after_tangent_[g_.inputs[i]] = true;
    for (size_t n = 0; n < g_.nodes.size(); ++n) {
      for_each_use(g_.nodes[n], [&](ValueId id) { backward_[n] = backward_[n] || after_tangent_[id]; });
      if (backward_[n] && !g_.nodes[n].is_pure()) throw InternalError("a gradient has an effect");
      if (backward_[n])
        for (ValueId r : g_.nodes[n].results) after_tangent_[r] = true;
    }
  }

  /// Inputs that eager execution would keep as well (and check their versions), and values in storages that the program
  /// sees: gradients are computed from whatever is in them by then. All others are copied, since the program may
  /// legally write them before backward.
  void mark_shared() {
    shared_.assign(g_.values.size(), -1);
    kept_input_.assign(g_.values.size(), inputs_stay_);
    std::set<uint32_t> kept;  // tensors
    for (const ProgramPart& part : joint_.parts)
      for (const SavingCalls& calls : part.ways.saving)
        for (const SavedMemory& m : calls.memory) {
          if (m.kind == SavedMemory::Kind::Fresh) shared_[g_.outputs[m.index]] = static_cast<int32_t>(m.index);
          if (m.kind == SavedMemory::Kind::Input) kept.insert(m.index);
        }
    for (size_t i = 0; i < g_.inputs.size(); ++i) {
      const InputBinding& in = joint_.inputs[i];
      const bool is_number = in.kind == InputBinding::Kind::Scalar;
      if (is_number || (in.kind == InputBinding::Kind::Tensor && kept.contains(in.index)))
        kept_input_[g_.inputs[i]] = true;
    }
    for (const StorageWrite& w : joint_.writes) kept_input_[g_.inputs[w.input]] = false;  // by the run itself
  }

  /// Node 2v of the network stands for value v arriving, 2v + 1 for v at hand in the backward half; the edge between
  /// them is cut where v is saved. Of cuts with the fewest bytes the one nearest to the backward half is taken: the
  /// results of a residual chain (`x = relu(x + f(x))`) are saved, not the f(x) that they could be computed from again,
  /// all at once and long before most are wanted.
  void choose_saved() {
    const size_t values = g_.values.size(), source = 2 * values, sink = source + 1;
    std::vector<bool> read_by_gradient(values, false);
    FlowNetwork net(2 * values + 2);
    std::vector<bool> constant(values, false);
    for (const auto& [id, tensor] : g_.constants) constant[id] = true;
    std::vector<bool> needed(values, false);  // may be read in the backward half: bounds the network
    for (size_t o = joint_.first_gradient; o < g_.outputs.size(); ++o)
      if (!after_tangent_[g_.outputs[o]] && !constant[g_.outputs[o]])
        needed[g_.outputs[o]] = read_by_gradient[g_.outputs[o]] = true;
    for (size_t n = g_.nodes.size(); n-- > 0;) {
      const Node& node = g_.nodes[n];
      bool repeated = backward_[n];
      if (!backward_[n] && can_repeat(node))
        for (ValueId r : node.results) repeated = repeated || needed[r];
      if (!repeated) continue;
      for_each_use(node, [&](ValueId id) {
        if (after_tangent_[id] || constant[id]) return;
        needed[id] = true;
        if (backward_[n]) read_by_gradient[id] = true;
      });
    }
    for (ValueId v = 0; v < values; ++v) {
      if (!needed[v]) continue;
      const bool is_input = made_by_[v] < 0;
      const ValueMeta& meta = g_.meta(v);
      int64_t cost = 1;
      const bool is_kept = (is_input && kept_input_[v]) || shared_[v] >= 0;
      if (meta.is_tensor() && !is_kept) cost = static_cast<int64_t>(meta.bytes()) * 2 + 2;
      net.add_edge(2 * v, 2 * v + 1, cost);
      if (is_input || !can_repeat(g_.nodes[made_by_[v]])) net.add_edge(source, 2 * v, FlowNetwork::kInfinite);
      if (read_by_gradient[v]) net.add_edge(2 * v + 1, sink, FlowNetwork::kInfinite);
    }
    for (size_t n = 0; n < g_.nodes.size(); ++n) {
      if (backward_[n] || !can_repeat(g_.nodes[n])) continue;
      for (ValueId result : g_.nodes[n].results) {
        if (!needed[result]) continue;
        for_each_use(g_.nodes[n], [&](ValueId id) {
          if (!constant[id]) net.add_edge(2 * id + 1, 2 * result, FlowNetwork::kInfinite);
        });
      }
      // A node without operands (full) can be repeated for nothing.
    }
    net.maximise(source, sink);
    const std::vector<bool> behind = net.sink_side(sink);
    saved_.assign(values, false);
    for (ValueId v = 0; v < values; ++v) saved_[v] = needed[v] && !behind[2 * v] && behind[2 * v + 1];
  }

  void make_forward() {
    Program& f = out_.forward;
    f = joint_;
    std::vector<InputBinding> inputs;
    std::vector<ValueId> ids;
    std::vector<std::string> names;
    for (size_t i = 0; i < g_.inputs.size(); ++i) {
      if (joint_.inputs[i].kind == InputBinding::Kind::Tangent) continue;
      inputs.push_back(joint_.inputs[i]);
      ids.push_back(g_.inputs[i]);
      names.push_back(i < g_.input_names.size() ? g_.input_names[i] : "");
    }
    f.inputs = std::move(inputs);
    f.graph.inputs = ids;
    f.graph.input_names = std::move(names);
    f.graph.outputs.resize(joint_.first_gradient);
    size_t at = 0;
    std::erase_if(f.graph.nodes, [&](const Node&) { return backward_[at++]; });
    for (ValueId v = 0; v < g_.values.size(); ++v) {
      if (!saved_[v]) continue;
      saved_ids_.push_back(v);
      const auto input = std::find(ids.begin(), ids.end(), v);
      const bool by_reference = input != ids.end() && kept_input_[v];
      if (by_reference) {
        out_.saved.push_back({g_.meta(v).is_tensor() ? SavedValue::Kind::Input : SavedValue::Kind::ScalarInput,
                              static_cast<uint32_t>(input - ids.begin())});
      } else if (shared_[v] >= 0) {
        out_.saved.push_back({SavedValue::Kind::Fresh, static_cast<uint32_t>(shared_[v])});
      } else {
        f.graph.outputs.push_back(v);
        out_.saved.push_back({g_.meta(v).is_tensor() ? SavedValue::Kind::Fresh : SavedValue::Kind::ScalarOutput,
                              static_cast<uint32_t>(f.graph.outputs.size()) - 1});
      }
    }
    drop_dead_code(f.graph);
  }

  void make_backward() {
    Program& b = out_.backward;
    Graph& g = b.graph;
    g = g_;
    g.name += ".backward";
    g.inputs.clear();
    g.input_names.clear();
    for (size_t k = 0; k < saved_ids_.size(); ++k) {
      const ValueId v = saved_ids_[k];
      g.inputs.push_back(v);
      g.input_names.push_back("");
      const SavedValue& s = out_.saved[k];
      InputBinding in;
      if (s.kind == SavedValue::Kind::ScalarInput || s.kind == SavedValue::Kind::ScalarOutput) {
        in.kind = InputBinding::Kind::Scalar;
        in.index = scalars_++;
      } else {
        in.index = tensors_++;
        in.strides = s.kind == SavedValue::Kind::Input ? out_.forward.inputs[s.index].strides
                                                       : contiguous_strides(g.meta(v).sizes);
        in.offset = s.kind == SavedValue::Kind::Input ? out_.forward.inputs[s.index].offset : 0;
        in.own_offset = s.kind == SavedValue::Kind::Input && out_.forward.inputs[s.index].own_offset;
      }
      b.inputs.push_back(std::move(in));
    }
    for (size_t i = 0; i < g_.inputs.size(); ++i) {
      if (joint_.inputs[i].kind != InputBinding::Kind::Tangent) continue;
      g.inputs.push_back(g_.inputs[i]);
      g.input_names.push_back(g_.input_names[i]);
      b.inputs.push_back(joint_.inputs[i]);
    }
    // What is saved isn't computed again, and effects aren't repeated.
    std::vector<bool> have(g.values.size(), false);
    for (ValueId id : saved_ids_) have[id] = true;
    std::erase_if(g.nodes, [&](const Node& n) {
      return !n.is_pure() || std::any_of(n.results.begin(), n.results.end(), [&](ValueId r) { return have[r]; });
    });
    g.outputs.clear();
    for (size_t o = 0; o < joint_.gradients.size(); ++o)
      add_gradient(b, joint_.gradients[o], g_.outputs[joint_.first_gradient + o]);
    drop_checked_code(g);  // by the forward half
  }

  Program joint_;
  const bool inputs_stay_;
  const Graph& g_;
  std::vector<int32_t> made_by_;
  std::vector<bool> after_tangent_;  // by value
  std::vector<bool> backward_;       // by node
  std::vector<bool> kept_input_;     // by value
  std::vector<int32_t> shared_;      // by value: the output that it is kept as, or negative
  std::vector<bool> saved_;          // by value
  std::vector<ValueId> saved_ids_;
  uint32_t tensors_ = 0, scalars_ = 0;
  Partition out_;
};

}  // namespace

void add_gradient(Program& to, Program::Gradient what, ValueId value) {
  const auto number = static_cast<uint32_t>(to.graph.outputs.size());
  TensorSpec spec;
  spec.index = number;
  spec.dtype = to.graph.meta(value).dtype;
  spec.sizes = what.sizes;
  spec.strides = what.strides;
  to.graph.outputs.push_back(value);
  to.tensors.push_back(std::move(spec));
  to.results.push_back({ResultSpec::Kind::Tensor, number, {}});
  to.gradients.push_back(std::move(what));
  to.first_gradient = number + 1;
}

std::vector<bool> needed_by_part(const Program& backward, uint32_t part) {
  const Graph& g = backward.graph;
  std::vector<bool> needed(g.values.size(), false);
  for (size_t o = 0; o < g.outputs.size(); ++o)
    if (backward.gradients[o].part == part) needed[g.outputs[o]] = true;
  for (size_t n = g.nodes.size(); n-- > 0;) {
    const Node& node = g.nodes[n];
    if (!is_any_of(node.results, needed)) continue;
    for (ValueId r : node.results) needed[r] = true;
    for_each_use(node, [&](ValueId id) { needed[id] = true; });
  }
  return needed;
}

Program backward_of_part(const Program& backward, uint32_t part, std::vector<uint32_t>& saved) {
  const Graph& from = backward.graph;
  const std::vector<bool> needed = needed_by_part(backward, part);
  Program out;
  out.graph.name = from.name;
  out.graph.origins = from.origins;
  out.graph.table = from.table;
  std::vector<ValueId> to(from.values.size(), kNoId);
  for (ValueId v = 0; v < from.values.size(); ++v)
    if (needed[v]) to[v] = out.graph.add_value(from.values[v]);
  uint32_t tensors = 0, scalars = 0;
  for (uint32_t i = 0; i < from.inputs.size(); ++i) {
    if (!needed[from.inputs[i]]) continue;
    InputBinding in = backward.inputs[i];
    if (in.kind != InputBinding::Kind::Tangent) {
      in.index = in.kind == InputBinding::Kind::Scalar ? scalars++ : tensors++;
      saved.push_back(i);
    }
    out.graph.inputs.push_back(to[from.inputs[i]]);
    out.graph.input_names.push_back(from.input_names[i]);
    out.inputs.push_back(std::move(in));
  }
  for (const auto& [id, tensor] : from.constants)
    if (needed[id]) out.graph.constants.emplace_back(to[id], tensor);
  for (Node node : from.nodes) {
    if (!is_any_of(node.results, needed)) continue;
    for_each_use(node, [&](ValueId& id) { id = to[id]; });
    for (ValueId& r : node.results) r = to[r];
    out.graph.nodes.push_back(std::move(node));
  }
  for (size_t o = 0; o < from.outputs.size(); ++o) {
    if (backward.gradients[o].part == part) add_gradient(out, backward.gradients[o], to[from.outputs[o]]);
  }
  return out;
}

Partition partition(Program joint, bool inputs_stay) { return Cutter(std::move(joint), inputs_stay).run(); }

bool can_repeat(const Node& node) {
  if (node.kind == NodeKind::Unpack) return true;
  if (node.kind == NodeKind::Pack) return node.args.empty();
  if (is_pure_op(node, "full")) return true;
  return node.kind == NodeKind::Op && node.is_pure() && node.op->is(kCheap | kView) && !node.op->is(kHost);
}

}  // namespace terra::graph
