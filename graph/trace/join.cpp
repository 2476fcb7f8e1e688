#include "graph/trace/join.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "engine/errors/errors.h"

namespace terra::graph {
namespace {

/// Means that the paths can't be joined.
struct Apart {};

/// Whatever a record does to tensors that are there already (their gradients, flags and hooks) can't be told from what
/// the program holds at a place.
bool leaves_no_tracks(const TraceRecord& record) {
  const auto& what = record.what;
  return std::holds_alternative<CallRecord>(what) || std::holds_alternative<AssertRecord>(what) ||
         std::holds_alternative<ItemRecord>(what) || std::holds_alternative<NumberRecord>(what) ||
         std::holds_alternative<SizeRecord>(what) || std::holds_alternative<FactRecord>(what) ||
         std::holds_alternative<GradModeRecord>(what) || std::holds_alternative<LoopRecord>(what) ||
         std::holds_alternative<BranchRecord>(what);
}

class Joiner {
 public:
  Joiner(const std::vector<const Trace*>& traces, const std::vector<Path>& paths) : traces_(traces), paths_(paths) {}

  std::vector<Segment> run() {
    try {
      for (uint32_t p = 0; p < paths_.size(); ++p) read(p);
      find_places();
      if (!meets_) return {};
      find_needs();
      emit(0, nullptr, 0);
      return std::move(segments_);
    } catch (const Apart&) {
      return {};
    }
  }

 private:
  /// Where paths are when they have come to their assert number `depth`.
  struct Place {
    uint32_t depth;
    std::vector<uint32_t> paths;  ///< that come here
    std::set<size_t> needed;      ///< of the mark's values
    int next[2] = {-1, -1};       ///< segments behind, once they are made
    bool emitted = false;
  };
  struct Own {
    std::vector<size_t> asserts;   ///< nodes of the numbered asserts
    std::vector<int32_t> made_by;  ///< by value
    std::vector<Place*> places;    ///< by assert
  };

  const Program& program(uint32_t p) const { return paths_[p].program; }
  const Graph& graph(uint32_t p) const { return paths_[p].program.graph; }
  const std::vector<ValueId>& cut(uint32_t p, uint32_t depth) const { return *program(p).cuts[depth]; }

  void read(uint32_t p) {
    const Program& program = paths_[p].program;
    if (!program.writes.empty() || !program.grads.empty() || !program.flags.empty() || !program.roots.empty())
      throw Apart();
    for (const TraceRecord& record : traces_[p]->records)
      if (!leaves_no_tracks(record)) throw Apart();
    for (const TensorSpec& spec : program.tensors)
      if (spec.versions || !spec.looped.empty() || spec.leaf_requires_grad || spec.spent || spec.retains_grad)
        throw Apart();
    Own& own = own_.emplace_back();
    own.made_by = definitions(program.graph);
    for (size_t n = 0; n < program.graph.nodes.size(); ++n) {
      const Node& node = program.graph.nodes[n];
      if (node.kind == NodeKind::Assert && node.index != kUnnumbered) own.asserts.push_back(n);
    }
    if (own.asserts.empty() || own.asserts.size() != program.cuts.size() ||
        traces_[p]->marks.size() != program.cuts.size())
      throw Apart();
    for (size_t d = 0; d < own.asserts.size(); ++d)
      if (!program.cuts[d] || program.cuts[d]->size() != traces_[p]->marks[d].values.size()) throw Apart();
  }

  bool expected(uint32_t p, uint32_t depth) const { return graph(p).nodes[own_[p].asserts[depth]].expected; }

  /// Places are the same where they read the same; all paths begin alike, and so come to the same first place.
  void find_places() {
    std::map<std::pair<uint32_t, std::vector<uint64_t>>, Place*> known;
    for (uint32_t p = 0; p < paths_.size(); ++p) {
      for (uint32_t d = 0; d < own_[p].asserts.size(); ++d) {
        Place*& place = known[{d, traces_[p]->marks[d].place}];
        if (!place) place = &places_.emplace_back(Place{d, {}, {}});
        place->paths.push_back(p);
        own_[p].places.push_back(place);
      }
    }
    if (own_[0].places[0]->paths.size() != paths_.size()) throw Apart();
    for (const Place& place : places_) {
      for (uint32_t p : place.paths) {
        const Place* const before = place.depth ? own_[p].places[place.depth - 1] : nullptr;
        const Place* const first = place.depth ? own_[place.paths[0]].places[place.depth - 1] : nullptr;
        meets_ |=
            before != first || (before && expected(p, place.depth - 1) != expected(place.paths[0], place.depth - 1));
        check_alike(place, p);
      }
    }
  }

  void check_alike(const Place& place, uint32_t p) const {
    const std::vector<ValueId>&a = cut(place.paths[0], place.depth), &b = cut(p, place.depth);
    if (a.size() != b.size()) throw Apart();
    for (size_t k = 0; k < a.size(); ++k) {
      const bool one = a[k] != kNoId, other = b[k] != kNoId;
      if (one != other || (one && !(graph(place.paths[0]).meta(a[k]) == graph(p).meta(b[k])))) throw Apart();
    }
  }

  // ---- what has to be handed on ----

  void find_needs() {
    std::vector<Place*> order;
    for (Place& place : places_) order.push_back(&place);
    std::stable_sort(order.begin(), order.end(), [](const Place* a, const Place* b) { return a->depth > b->depth; });
    for (Place* place : order) {
      for (uint32_t p : place->paths) {
        const size_t start = own_[p].asserts[place->depth] + 1;
        for (size_t n = start; n < end_of(p, place->depth); ++n)
          for_each_use(graph(p).nodes[n], [&](ValueId v) { need(*place, p, v, start); });
        if (is_last(p, place->depth)) {
          for (ValueId v : graph(p).outputs) need(*place, p, v, start);
          continue;
        }
        const Place& next = *own_[p].places[place->depth + 1];
        for (size_t k : next.needed) need(*place, p, cut(p, next.depth)[k], start);
        need(*place, p, truth(p, next.depth), start);
      }
    }
  }

  bool is_last(uint32_t p, uint32_t depth) const { return depth + 1 == own_[p].asserts.size(); }
  size_t end_of(uint32_t p, uint32_t depth) const {
    return is_last(p, depth) ? graph(p).nodes.size() : own_[p].asserts[depth + 1];
  }
  ValueId truth(uint32_t p, uint32_t depth) const {
    return std::get<Use>(graph(p).nodes[own_[p].asserts[depth]].args[0]).id;
  }

  /// A value that a path uses behind a place.
  void need(Place& place, uint32_t p, ValueId v, size_t start) {
    if (v == kNoId) throw Apart();
    if (const auto held = position(p, place.depth, v)) {
      place.needed.insert(*held);
      return;
    }
    const int32_t node = own_[p].made_by[v];
    if (node < 0 || static_cast<size_t>(node) >= start) return;
    if (!is_derived_again(graph(p).nodes[static_cast<size_t>(node)])) throw Apart();
    for_each_use(graph(p).nodes[static_cast<size_t>(node)], [&](ValueId used) { need(place, p, used, start); });
  }

  /// Which value of the mark it is. Two of them that are one value here may be two on another path.
  std::optional<size_t> position(uint32_t p, uint32_t depth, ValueId v) const {
    const std::vector<ValueId>& held = cut(p, depth);
    const auto found = std::find(held.begin(), held.end(), v);
    if (found == held.end()) return {};
    if (std::find(found + 1, held.end(), v) != held.end()) throw Apart();
    return static_cast<size_t>(found - held.begin());
  }

  // ---- segments ----

  /// From `from` (null: the beginning) on as path `p` does; returns the number of the segment.
  int emit(uint32_t p, Place* from, uint32_t depth) {
    const int number = static_cast<int>(segments_.size());
    segments_.emplace_back();
    const bool last = from && is_last(p, from->depth);
    Segment segment;
    segment.path = p;
    segment.last = last;
    segment.program = part(p, from, last ? nullptr : own_[p].places[depth]);
    if (last) {
      segments_[static_cast<size_t>(number)] = std::move(segment);
      return number;
    }
    Place& to = *own_[p].places[depth];
    segment.assert_index = graph(p).nodes[own_[p].asserts[depth]].index;
    if (!std::exchange(to.emitted, true)) {
      for (bool truth : {false, true}) {
        const auto there =
            std::find_if(to.paths.begin(), to.paths.end(), [&](uint32_t q) { return expected(q, depth) == truth; });
        if (there != to.paths.end()) to.next[truth] = emit(*there, &to, depth + 1);
      }
    }
    segment.next[0] = to.next[0];
    segment.next[1] = to.next[1];
    segments_[static_cast<size_t>(number)] = std::move(segment);
    return number;
  }

  Program part(uint32_t p, const Place* from, const Place* to) const {
    Program out = program(p);
    Graph& g = out.graph;
    const size_t start = from ? own_[p].asserts[from->depth] + 1 : 0;
    const size_t end = to ? own_[p].asserts[to->depth] : g.nodes.size();
    g.nodes.resize(end);
    std::vector<bool> taken(g.values.size(), false), wanted(g.values.size(), false);
    if (from) take(out, p, *from, taken);
    if (to) end_at(out, p, *to);
    wanted.resize(g.values.size(), false);
    for (ValueId v : g.outputs) wanted[v] = true;
    std::vector<bool> kept(g.nodes.size(), true);
    for (size_t n = g.nodes.size(); n-- > 0;) {
      const Node& node = g.nodes[n];
      if (n < start)
        kept[n] =
            std::any_of(node.results.begin(), node.results.end(), [&](ValueId v) { return wanted[v] && !taken[v]; });
      if (kept[n]) for_each_use(node, [&](ValueId v) { wanted[v] = true; });
    }
    size_t at = 0;
    std::erase_if(g.nodes, [&](const Node&) { return !kept[at++]; });
    return out;
  }

  /// What is handed on at a place comes in behind the inputs of the path's runs.
  void take(Program& out, uint32_t p, const Place& place, std::vector<bool>& taken) const {
    uint32_t tensors = paths_[p].tensors, scalars = paths_[p].scalars;
    Graph& g = out.graph;
    for (size_t k : place.needed) {
      const ValueId v = cut(p, place.depth)[k];
      const ValueMeta meta = g.meta(v);
      if (meta.kind == ValueKind::Handle) throw Apart();
      InputBinding in;
      in.kind = meta.is_tensor() ? InputBinding::Kind::Tensor : InputBinding::Kind::Scalar;
      in.index = meta.is_tensor() ? tensors++ : scalars++;
      if (meta.is_tensor()) in.strides = contiguous_strides(meta.sizes);
      taken[v] = true;
      g.inputs.push_back(v);
      g.input_names.resize(g.inputs.size());
      out.inputs.push_back(std::move(in));
    }
  }

  void end_at(Program& out, uint32_t p, const Place& place) const {
    Graph& g = out.graph;
    g.outputs.clear();
    out.tensors.clear();
    out.results.clear();
    out.calls = 0;
    for (size_t k : place.needed) hand_out(out, cut(p, place.depth)[k]);
    Node item;
    item.kind = NodeKind::Item;
    item.args = {Use{truth(p, place.depth)}};
    item.results = {g.add_value(ValueMeta::number(Scalar::Kind::Bool))};
    const ValueId made = item.results[0];
    g.nodes.push_back(std::move(item));
    hand_out(out, made);
  }

  const std::vector<const Trace*>& traces_;
  const std::vector<Path>& paths_;
  std::vector<Own> own_;
  std::deque<Place> places_;
  bool meets_ = false;
  std::vector<Segment> segments_;
};

}  // namespace

std::vector<Segment> join_paths(const std::vector<const Trace*>& traces, const std::vector<Path>& paths) {
  return Joiner(traces, paths).run();
}

}  // namespace terra::graph
