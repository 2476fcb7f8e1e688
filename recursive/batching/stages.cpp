#include "recursive/batching/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>

#include "engine/errors/errors.h"
#include "graph/passes/pipeline.h"

namespace terra::recursive {
namespace {

using graph::Graph;
using graph::Node;
using Phase = Moment::Phase;

/// The gradient of a shared tensor: a sum over all calls.
bool is_total(const Joint& joint, size_t output) {
  const JointOutput& o = joint.outputs[output];
  return o.kind == JointOutput::Kind::Gradient && joint.inputs[o.index].kind == JointInput::Kind::Shared;
}

/// Which moment each node belongs to, of a joint graph and of its twin for another number of rows.
class Stager {
 public:
  Stager(Joint joint, std::optional<Joint> twin) : joint_(std::move(joint)), twin_(std::move(twin)) {}

  StagedPath run(size_t calls) {
    const Graph& g = joint_.graph;
    if (twin_ && (twin_->graph.nodes.size() != g.nodes.size() || twin_->graph.values.size() != g.values.size()))
      throw Unbatchable{"graph \"" + g.name + "\" is another one for another number of calls"};
    made_.one_by_one = !twin_;
    made_.called_at.resize(calls);
    for (const JointInput& in : joint_.inputs) made_.has_arguments |= in.kind == JointInput::Kind::Argument;
    definitions_ = graph::definitions(g);
    place_values();
    place_nodes();
    move_late_nodes();
    cut();
    for (ValueId id = 0; id < g.values.size(); ++id) made_.bases.push_back(base_of(id));
    made_.joint.inputs = std::move(joint_.inputs);
    made_.joint.outputs = std::move(joint_.outputs);
    made_.joint.look_ups = std::move(joint_.look_ups);
    made_.joint.graph = std::move(joint_.graph);
    return std::move(made_);
  }

 private:
  // ---- values: on what they depend ---------------------------------------------------------------------------------

  struct Info {
    bool known = false;
    bool rows = false;      ///< depends on what differs from call to call
    bool backward = false;  ///< depends on a tangent
    int stage = -1;         ///< -1: before; kEnd: after
  };
  static constexpr int kEnd = INT32_MAX;

  const Info& info(ValueId id) {
    Info& i = info_[id];
    if (i.known) return i;
    i.known = true;
    Info found{true};
    const int32_t n = definitions_[id];
    if (n >= 0) {
      int forward = -1, backward = kEnd;
      graph::for_each_use(joint_.graph.nodes[n], [&](ValueId use) {
        const Info& u = info(use);
        found.rows |= u.rows;
        found.backward |= u.backward;
        if (u.backward)
          backward = std::min(backward, u.stage);
        else
          forward = std::max(forward, u.stage);
      });
      found.stage = found.backward ? backward : forward;
      if (totals_[id] && !found.backward) {  // zeros, whatever flows
        found.backward = true;
        found.stage = kEnd;
      }
    } else {
      const auto at = std::find(joint_.graph.inputs.begin(), joint_.graph.inputs.end(), id);
      if (at != joint_.graph.inputs.end()) found = info_of_input(joint_.inputs[at - joint_.graph.inputs.begin()]);
    }
    return info_[id] = found;
  }

  Info info_of_input(const JointInput& from) {
    switch (from.kind) {
      case JointInput::Kind::Shared: return {true};
      case JointInput::Kind::Feed: return {true, true};
      case JointInput::Kind::Argument: return {true, true, false, 0};
      case JointInput::Kind::Result: return {true, true, false, called_at(from.call) + 1};
      case JointInput::Kind::Tangent: break;
    }
    const JointOutput& of = joint_.outputs[from.index];
    if (of.kind == JointOutput::Kind::Operand) return {true, true, true, called_at(of.call)};
    const int stage = info(joint_.graph.outputs[from.index]).stage;
    return {true, true, true, stage < 0 ? kEnd : stage};
  }

  int called_at(uint32_t call) {
    int stage = 0;
    for (size_t o = 0; o < joint_.outputs.size(); ++o)
      if (joint_.outputs[o].kind == JointOutput::Kind::Operand && joint_.outputs[o].call == call)
        stage = std::max(stage, info(joint_.graph.outputs[o]).stage);
    return stage;
  }

  void place_values() {
    info_.resize(joint_.graph.values.size());
    totals_.assign(info_.size(), false);
    for (size_t o = 0; o < joint_.outputs.size(); ++o)
      if (is_total(joint_, o)) totals_[joint_.graph.outputs[o]] = true;
    for (ValueId id = 0; id < info_.size(); ++id) info(id);
    for (const Info& i : info_) flows_.push_back(i.backward);
    for (uint32_t c = 0; c < made_.called_at.size(); ++c) made_.called_at[c] = static_cast<uint32_t>(called_at(c));
  }

  // ---- nodes -------------------------------------------------------------------------------------------------------

  Moment moment_of(const Info& i, bool waits) const {
    if (i.backward) return waits ? Moment{Phase::Backward, static_cast<uint32_t>(i.stage)} : Moment{Phase::After};
    return i.stage < 0 ? Moment{Phase::Before} : Moment{Phase::Forward, static_cast<uint32_t>(i.stage)};
  }

  /// A gradient that somebody waits for, level by level: of an argument or of a call's result.
  bool is_awaited(const JointOutput& o) const {
    if (o.kind != JointOutput::Kind::Gradient) return false;
    const auto kind = joint_.inputs[o.index].kind;
    return kind == JointInput::Kind::Argument || kind == JointInput::Kind::Result;
  }

  void place_nodes() {
    const Graph& g = joint_.graph;
    awaited_.assign(g.values.size(), false);
    wanted_forward_.assign(g.values.size(), false);
    for (size_t o = 0; o < joint_.outputs.size(); ++o) {
      if (is_awaited(joint_.outputs[o])) awaited_[g.outputs[o]] = true;
      if (!joint_.outputs[o].is_gradient()) wanted_forward_[g.outputs[o]] = true;
    }
    moments_.resize(g.nodes.size());
    for (size_t n = g.nodes.size(); n-- > 0;) {
      bool awaited = false, forward = false;
      for (ValueId r : g.nodes[n].results) {
        awaited |= awaited_[r];
        forward |= wanted_forward_[r];
      }
      const Info& i = info(g.nodes[n].results[0]);
      moments_[n] = moment_of(i, awaited);
      graph::for_each_use(g.nodes[n], [&](ValueId id) {
        if (awaited && i.backward) awaited_[id] = true;
        if (forward) wanted_forward_[id] = true;
      });
    }
  }

  /// What only one later moment needs is computed there.
  void move_late_nodes() {
    const Graph& g = joint_.graph;
    std::vector<std::vector<size_t>> users(g.values.size());
    for (size_t n = 0; n < g.nodes.size(); ++n)
      graph::for_each_use(g.nodes[n], [&](ValueId id) { users[id].push_back(n); });
    std::vector<bool> is_output(g.values.size(), false);
    for (ValueId id : g.outputs) is_output[id] = true;
    for (size_t n = g.nodes.size(); n-- > 0;) {
      const Info& i = info(g.nodes[n].results[0]);
      if (i.backward || !i.rows) continue;
      std::optional<Moment> only;
      bool movable = true;
      for (ValueId r : g.nodes[n].results) {
        movable = movable && !wanted_forward_[r] && !is_output[r];
        for (size_t user : users[r]) {
          movable = movable && (!only || *only == moments_[user]);
          only = moments_[user];
        }
      }
      if (movable && only) moments_[n] = *only;
    }
  }

  // ---- cutting -----------------------------------------------------------------------------------------------------

  /// The value has a row for each call, one behind the other.
  bool has_rows(ValueId id) {
    if (!twin_) return info(id).rows;
    const Dims &a = joint_.graph.meta(id).sizes, &b = twin_->graph.meta(id).sizes;
    return !a.empty() && a[0] != b[0] && a[0] % kRows == 0 && b[0] % kMoreRows == 0 && a[0] / kRows == b[0] / kMoreRows;
  }

  Moment moment_of_value(ValueId id) {
    const int32_t n = definitions_[id];
    if (n >= 0) return moments_[n];
    const Info& i = info(id);
    return moment_of(i, awaited_[id] && i.stage != kEnd);
  }

  bool is_view(ValueId id) const {
    const int32_t n = definitions_[id];
    return n >= 0 && joint_.graph.nodes[n].is_op(kView);
  }

  ValueId base_of(ValueId id) const {
    while (is_view(id)) id = graph::operand(joint_.graph.nodes[definitions_[id]], 0);
    return id;
  }

  static std::string_view name_of(const Node& n) { return n.op ? n.op->name : "a node"; }

  void keep(ValueId id) {
    Kept& k = made_.values[id];
    if (k.kept) return;
    k.kept = true;
    k.total = totals_[id];
    k.rows = has_rows(id) && !k.total;
    if (!k.rows && info(id).rows && !k.total)
      throw Unbatchable{fmt::format("graph \"{}\" keeps what '{}' makes of several calls", joint_.graph.name,
                                    definitions_[id] < 0 ? "an input" : name_of(joint_.graph.nodes[definitions_[id]]))};
    k.moment = moment_of_value(id);
    k.bytes = joint_.graph.meta(id).bytes();
    if (k.rows && twin_) k.bytes /= kRows;
  }

  struct Cut {
    std::vector<size_t> nodes;
    std::vector<ValueId> inputs, outputs;
  };

  void cut() {
    const Graph& g = joint_.graph;
    made_.values.resize(g.values.size());
    std::vector<Cut> cuts;
    std::vector<Moment> moments;
    const auto cut_of = [&](Moment m) -> Cut& {
      const auto at = std::find(moments.begin(), moments.end(), m);
      if (at != moments.end()) return cuts[at - moments.begin()];
      moments.push_back(m);
      return cuts.emplace_back();
    };
    for (size_t n = 0; n < g.nodes.size(); ++n) cut_of(moments_[n]).nodes.push_back(n);
    for (Cut& c : cuts) take_views(c);
    for (size_t i = 0; i < g.inputs.size(); ++i) {
      keep(g.inputs[i]);
      note_stage(made_.values[g.inputs[i]].moment);
    }
    for (ValueId id : g.outputs) keep(id);
    for (Cut& c : cuts) find_inputs(c);
    for (size_t k = 0; k < cuts.size(); ++k) {
      note_stage(moments[k]);
      for (size_t n : cuts[k].nodes)
        for (ValueId r : g.nodes[n].results)
          if (made_.values[r].kept && moments_[n] == moments[k]) cuts[k].outputs.push_back(r);
    }
    made_.forward.resize(made_.stages);
    made_.backward.resize(made_.stages);
    for (size_t k = 0; k < cuts.size(); ++k) {
      if (cuts[k].outputs.empty()) continue;
      SegmentParts parts{part(joint_.graph, cuts[k]), nullptr, kRows, kMoreRows, flows_};
      if (twin_) parts.second = std::make_shared<const Graph>(part(twin_->graph, cuts[k]));
      made_.segment(moments[k]).emplace(std::move(parts));
    }
  }

  void note_stage(Moment m) {
    if (m.phase != Phase::Forward && m.phase != Phase::Backward) return;
    made_.stages = std::max(made_.stages, m.stage + 1);
    made_.begins |= m.stage == 0;
  }

  /// Views of what was computed elsewhere are made again where they are read.
  void take_views(Cut& c) {
    std::vector<bool> here(joint_.graph.nodes.size(), false);
    for (size_t n : c.nodes) here[n] = true;
    std::function<void(size_t)> take = [&](size_t n) {
      graph::for_each_use(joint_.graph.nodes[n], [&](ValueId id) {
        if (!is_view(id) || here[definitions_[id]]) return;
        const auto made = static_cast<size_t>(definitions_[id]);
        here[made] = true;
        c.nodes.push_back(made);
        take(made);
      });
    };
    const std::vector<size_t> own = c.nodes;
    for (size_t n : own) take(n);
    std::sort(c.nodes.begin(), c.nodes.end());
  }

  void find_inputs(Cut& c) {
    const Graph& g = joint_.graph;
    std::vector<bool> known(g.values.size(), false);
    for (const auto& constant : g.constants) known[constant.first] = true;
    for (size_t n : c.nodes) {
      graph::for_each_use(g.nodes[n], [&](ValueId id) {
        if (known[id]) return;
        known[id] = true;
        c.inputs.push_back(id);
        keep(id);
      });
      for (ValueId r : g.nodes[n].results) known[r] = true;
    }
  }

  static Graph part(const Graph& g, const Cut& c) {
    Graph made;
    made.name = g.name;
    made.values = g.values;
    made.origins = g.origins;
    made.inputs = c.inputs;
    made.outputs = c.outputs;
    std::vector<bool> used(g.values.size(), false);
    for (size_t n : c.nodes) {
      graph::for_each_use(g.nodes[n], [&](ValueId id) { used[id] = true; });
      made.nodes.push_back(g.nodes[n]);
    }
    for (const auto& constant : g.constants)
      if (used[constant.first]) made.constants.push_back(constant);
    return made;
  }

  Joint joint_;
  std::optional<Joint> twin_;
  StagedPath made_;
  std::vector<int32_t> definitions_;
  std::vector<Info> info_;
  std::vector<bool> totals_, flows_;            // by value: sums over all calls, functions of tangents
  std::vector<bool> awaited_, wanted_forward_;  // by value
  std::vector<Moment> moments_;                 // by node
};

/// Constants that a pass made of something with rows are rows that are repeated, and outputs that are constants are
/// made by nodes: what is neither from outside nor made by a node belongs to no stage.
void unfold_constants(Joint& joint, int64_t rows) {
  Graph& g = joint.graph;
  std::vector<Node> made;
  std::vector<ValueId> replacement(g.values.size());
  for (ValueId id = 0; id < replacement.size(); ++id) replacement[id] = id;
  const auto constants = g.constants;
  for (const auto& [id, tensor] : constants) {
    const bool is_output = std::find(g.outputs.begin(), g.outputs.end(), id) != g.outputs.end();
    if (rows > 0 && tensor.rank() > 0 && tensor.size(0) == rows) {
      const Tensor row = (*find_op("contiguous"))((*find_op("narrow"))(tensor, 0, 0, 1));
      const size_t bytes = static_cast<size_t>(row.numel()) * size_of(row.dtype());
      const Tensor all = (*find_op("contiguous"))(tensor);
      for (int64_t r = 0; r < rows; ++r)
        if (std::memcmp(static_cast<const char*>(all->data()) + static_cast<size_t>(r) * bytes, row->data(), bytes) !=
            0)
          throw Unbatchable{"graph \"" + g.name + "\" has a constant that differs from call to call"};
      const graph::ValueMeta meta = g.meta(id);
      const ValueId repeated = g.add_constant(row);
      made.push_back(graph::new_op(
          g, "expand", {graph::Use{repeated}, graph::IntList(meta.sizes.begin(), meta.sizes.end())}, meta, -1));
    } else if (is_output) {
      made.push_back(graph::new_op(g, "clone", {graph::Use{id}}, g.meta(id), -1));
    } else {
      continue;
    }
    replacement[id] = made.back().results[0];
  }
  if (made.empty()) return;
  for (auto id = static_cast<ValueId>(replacement.size()); id < g.values.size(); ++id) replacement.push_back(id);
  graph::replace_uses(g, replacement);
  g.nodes.insert(g.nodes.begin(), made.begin(), made.end());
}

/// A total is a value of its own: what else has the same value may have rows, or be another total.
void separate_totals(Joint& joint) {
  Graph& g = joint.graph;
  const std::vector<uint32_t> uses = graph::use_counts(g);
  for (size_t o = 0; o < joint.outputs.size(); ++o) {
    const ValueId id = g.outputs[o];
    const bool is_input = std::find(g.inputs.begin(), g.inputs.end(), id) != g.inputs.end();
    if (!is_total(joint, o) || (uses[id] == 1 && !is_input)) continue;
    g.nodes.push_back(graph::new_op(g, "clone", {graph::Use{id}}, graph::ValueMeta(g.meta(id)), -1));
    g.outputs[o] = g.nodes.back().results[0];
  }
}

Joint prepared(const SubGraphs* all, const SubGraph& of, const Path& path, const Wanted& wanted, int64_t rows,
               bool optimized) {
  Joint joint = build_joint(all, of, path, wanted, rows);
  if (optimized) graph::optimize(joint.graph, graph::Phase::Whole);
  unfold_constants(joint, rows);
  separate_totals(joint);
  return joint;
}

}  // namespace

std::optional<Segment>& StagedPath::segment(Moment m) {
  switch (m.phase) {
    case Phase::Before: return before;
    case Phase::Forward: return forward[m.stage];
    case Phase::Backward: return backward[m.stage];
    case Phase::After: break;
  }
  return after;
}

ValueId StagedPath::output(JointOutput::Kind kind, uint32_t index, uint32_t call) const {
  for (size_t o = 0; o < joint.outputs.size(); ++o) {
    const JointOutput& out = joint.outputs[o];
    if (out.kind == kind && out.index == index && out.call == call) return joint.graph.outputs[o];
  }
  return kNoId;
}

const JointOutput* StagedPath::gradient(JointInput::Kind kind, uint32_t index, uint32_t call) const {
  for (const JointOutput& out : joint.outputs) {
    if (out.kind != JointOutput::Kind::Gradient) continue;
    const JointInput& of = joint.inputs[out.index];
    if (of.kind == kind && of.index == index && of.call == call) return &out;
  }
  return nullptr;
}

bool StagedPath::is_read_backward(ValueId id) const {
  const auto reads = [&](const std::optional<Segment>& s) {
    return s && std::any_of(s->inputs.begin(), s->inputs.end(), [&](ValueId in) { return bases[in] == bases[id]; });
  };
  return reads(after) || std::any_of(backward.begin(), backward.end(), reads);
}

StagedPath stage_path(const SubGraphs* all, const SubGraph& of, const Path& path, const Wanted& wanted, bool batched) {
  std::string why;
  // Passes make one product of several, which may join what is computed at different moments: then they stay apart.
  for (const bool optimized : {true, false}) {
    if (!batched) break;
    try {
      return Stager(prepared(all, of, path, wanted, kRows, optimized),
                    prepared(all, of, path, wanted, kMoreRows, optimized))
          .run(path.calls.size());
    } catch (const Unbatchable& refused) {
      if (why.empty()) why = refused.why;
    }
  }
  // One call at a time computes it as it stands.
  StagedPath made = Stager(prepared(all, of, path, wanted, 0, true), std::nullopt).run(path.calls.size());
  made.why_one_by_one = std::move(why);
  return made;
}

}  // namespace terra::recursive
