#include "recursive/deferral/dag_schedule.h"

#include <algorithm>

namespace terra::recursive {
namespace {

constexpr uint32_t kNone = CallDag::kNone;

/// Strongly connected components (Tarjan), each behind those that it has edges to.
class Components {
 public:
  explicit Components(const std::vector<std::vector<uint32_t>>& edges)
      : edges_(edges), number_(edges.size(), kNone), low_(edges.size()), of_(edges.size(), kNone) {
    for (uint32_t v = 0; v < edges.size(); ++v)
      if (number_[v] == kNone) visit(v);
  }
  const std::vector<uint32_t>& of() const { return of_; }
  uint32_t count() const { return count_; }

 private:
  /// As deep as there are kinds, which are few.
  void visit(uint32_t v) {
    number_[v] = low_[v] = next_++;
    stack_.push_back(v);
    for (uint32_t w : edges_[v]) {
      if (number_[w] == kNone) {
        visit(w);
        low_[v] = std::min(low_[v], low_[w]);
      } else if (of_[w] == kNone) {
        low_[v] = std::min(low_[v], number_[w]);
      }
    }
    if (low_[v] != number_[v]) return;
    for (uint32_t w = kNone; w != v;) {
      w = stack_.back();
      stack_.pop_back();
      of_[w] = count_;
    }
    ++count_;
  }

  const std::vector<std::vector<uint32_t>>& edges_;
  std::vector<uint32_t> number_, low_, of_, stack_;
  uint32_t next_ = 0, count_ = 0;
};

/// Whether the gradient reads tensors that the call has got or made; numbers are not saved.
bool reads_saved(const StagedPath& path, const std::vector<DeferredGraph::Input>& inputs) {
  std::vector<char> counts(path.values.size(), false);
  for (ValueId id = 0; id < path.values.size(); ++id) {
    const Moment::Phase made = path.values[id].moment.phase;
    counts[id] = made == Moment::Phase::Before || made == Moment::Phase::Forward;
  }
  for (size_t i = 0; i < path.joint.inputs.size(); ++i)
    if (path.joint.inputs[i].kind == JointInput::Kind::Feed && !inputs[path.joint.inputs[i].index].is_tensor)
      counts[path.joint.graph.inputs[i]] = false;
  const auto reads = [&](const std::optional<Segment>& s) {
    return s && std::any_of(s->inputs.begin(), s->inputs.end(), [&](ValueId id) { return counts[id]; });
  };
  return reads(path.after) || std::any_of(path.backward.begin(), path.backward.end(), reads);
}

}  // namespace

DagSchedule::DagSchedule(const CallDag& dag) : kinds(dag.kinds.size()) {
  find_components(dag);
  find_inputs(dag);
  find_levels(dag);
  for (uint32_t k = 0; k < kinds.size(); ++k) {
    const auto& graph = dag.kinds[k].graph;
    kinds[k].compiled = &graph->compiled(kinds[k].inputs);
    kinds[k].saves = reads_saved(kinds[k].compiled->path, graph->inputs());
  }
}

size_t DagSchedule::batches() const {
  size_t count = 0;
  for (uint32_t k = 0; k < kinds.size(); ++k) count += batches_of(k);
  return count;
}

/// One, where a kind's calls wait for nothing in their component.
size_t DagSchedule::batches_of(uint32_t kind) const {
  const auto& batches = components[component_of_[kind]].batches;
  const auto count = std::count_if(batches.begin(), batches.end(), [&](const Batch& b) { return b.kind == kind; });
  return std::max<size_t>(static_cast<size_t>(count), 1);
}

void DagSchedule::find_components(const CallDag& dag) {
  std::vector<std::vector<uint32_t>> edges(dag.kinds.size());  // to what a kind needs
  for (const CallDag::Call& call : dag.calls) {
    const size_t inputs = dag.graph_of(call).inputs().size();
    for (uint32_t i = 0; i < inputs; ++i) {
      const uint32_t r = dag.operand(call, i).result;
      if (r == kNone) continue;
      const uint32_t from = dag.calls[dag.results[r].call].kind;
      auto& known = edges[call.kind];
      if (std::find(known.begin(), known.end(), from) == known.end()) known.push_back(from);
    }
  }
  const Components found(edges);
  component_of_ = found.of();
  components.resize(found.count());
  for (uint32_t k = 0; k < component_of_.size(); ++k) components[component_of_[k]].kinds.push_back(k);
}

void DagSchedule::find_inputs(const CallDag& dag) {
  for (uint32_t k = 0; k < kinds.size(); ++k) {
    const CallDag::Kind& kind = dag.kinds[k];
    const auto& inputs = kind.graph->inputs();
    for (uint32_t i = 0; i < inputs.size(); ++i) {
      InputKind found = InputKind::Host;
      if (inputs[i].is_tensor) {
        const uint32_t first = dag.operand(dag.calls[kind.calls[0]], i).tensor;
        bool same = first != kNone, waits = false;
        for (uint32_t c : kind.calls) {
          const CallDag::Operand& given = dag.operand(dag.calls[c], i);
          same = same && given.tensor == first;
          waits = waits || (given.result != kNone &&
                            component_of_[dag.calls[dag.results[given.result].call].kind] == component_of_[k]);
        }
        found = waits ? InputKind::Row : same ? InputKind::Shared : InputKind::Host;
      }
      kinds[k].inputs.push_back(found);
    }
  }
}

/// A call comes one level behind all of its component that it computes from; within a level and kind, calls stay in the
/// order of the program.
void DagSchedule::find_levels(const CallDag& dag) {
  std::vector<uint32_t> level(dag.calls.size(), 0);
  for (uint32_t c = 0; c < dag.calls.size(); ++c) {
    const CallDag::Call& call = dag.calls[c];
    const auto& inputs = kinds[call.kind].inputs;
    for (uint32_t i = 0; i < inputs.size(); ++i) {
      const uint32_t r = inputs[i] == InputKind::Row ? dag.operand(call, i).result : kNone;
      if (r == kNone) continue;
      const uint32_t from = dag.results[r].call;
      if (component_of_[dag.calls[from].kind] == component_of_[call.kind])
        level[c] = std::max(level[c], level[from] + 1);
    }
  }
  for (uint32_t k = 0; k < kinds.size(); ++k) {
    Kind& kind = kinds[k];
    kind.order = dag.kinds[k].calls;
    std::stable_sort(kind.order.begin(), kind.order.end(), [&](uint32_t a, uint32_t b) { return level[a] < level[b]; });
    kind.place.resize(kind.order.size());
    for (uint32_t p = 0; p < kind.order.size(); ++p) kind.place[dag.calls[kind.order[p]].row] = p;
  }
  for (Component& component : components) {
    std::vector<std::pair<uint32_t, Batch>> found;  // by level
    for (uint32_t k : component.kinds) {
      const Kind& kind = kinds[k];
      if (std::find(kind.inputs.begin(), kind.inputs.end(), InputKind::Row) == kind.inputs.end()) continue;
      for (uint32_t first = 0, end = 0; first < kind.order.size(); first = end) {
        while (end < kind.order.size() && level[kind.order[end]] == level[kind.order[first]]) ++end;
        found.push_back({level[kind.order[first]], {k, first, end - first}});
      }
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [of_level, batch] : found) component.batches.push_back(batch);
  }
}

}  // namespace terra::recursive
