#include "graph/coexec/walk.h"

#include <algorithm>

namespace terra::coexec {
namespace {

bool same_thing(const Node& a, const Node& b) {
  return a.kind == b.kind && a.identity == b.identity && a.loop == b.loop;
}

}  // namespace

Walk::Walk(const TraceGraph& graph) : graph_(graph) { restart(); }
Walk::Walk(TraceGraph& graph, Grow) : graph_(graph), grow_(&graph) { restart(); }

Walk::Walk(TraceGraph& graph, Grow, NodeId at, std::span<const LoopRound> loops) : graph_(graph), grow_(&graph) {
  for (RegionId region = graph.node(at).region;; at = graph.region(region).loop, region = graph.node(at).region) {
    places_.insert(places_.begin(), {region, at, {}});
    if (region == TraceGraph::kIteration) break;
  }
  constexpr uint32_t left = ~0u;  // no run of a loop has that number
  for (size_t i = 1; i < places_.size(); i++) {
    const LoopId loop = graph.node(graph.region(places_[i].region).loop).loop;
    places_[i].in = i <= loops.size() && loops[i - 1].loop == loop ? loops[i - 1] : LoopRound{loop, left, 0};
  }
}

void Walk::restart() {
  places_ = {{TraceGraph::kIteration, graph_.region(TraceGraph::kIteration).entry, {}}};
  placed_.clear();
}

bool Walk::connect(NodeId to) {
  const NodeId from = places_.back().at;
  const auto& next = graph_.node(from).next;
  if (std::find(next.begin(), next.end(), to) == next.end()) {
    if (!grow_) return false;
    grow_->add_edge(from, to);
    added_ = true;
  }
  places_.back().at = to;
  return true;
}

/// Of the region: what ways that come to `like` later or elsewhere do there, unless the present way comes from it.
NodeId Walk::find_or_add(const Node& like) {
  const Place& here = places_.back();
  for (NodeId id : graph_.region(here.region).nodes) {
    if (same_thing(graph_.node(id), like) && !graph_.leads_to(id, here.at)) return id;
  }
  Node node = like;
  node.region = here.region;
  if (node.kind != Node::Kind::Loop) return grow_->add_node(std::move(node));
  const RegionId body = node.body = grow_->add_region();
  return grow_->regions_[body].loop = grow_->add_node(std::move(node));
}

bool Walk::step(const Node& like) {
  for (NodeId id : graph_.node(places_.back().at).next) {
    if (!same_thing(graph_.node(id), like)) continue;
    places_.back().at = id;
    return true;
  }
  return grow_ && connect(find_or_add(like));
}

/// The innermost loop: a round of it ends.
bool Walk::leave() { return connect(graph_.region(places_.back().region).exit); }

/// From the loops that the walk is in to these.
bool Walk::enter_loops(std::span<const LoopRound> loops) {
  size_t same = 0;
  while (same < loops.size() && same + 1 < places_.size() && places_[same + 1].in.same_run(loops[same])) same++;
  while (places_.size() > same + 1) {
    if (!leave()) return false;
    places_.pop_back();
  }
  if (same && places_.back().in != loops[same - 1]) {
    if (!leave()) return false;
    places_.back() = {places_.back().region, graph_.region(places_.back().region).entry, loops[same - 1]};
  }
  for (const LoopRound& loop : loops.subspan(same)) {
    if (!step({.kind = Node::Kind::Loop, .loop = loop.loop})) return false;
    const RegionId body = graph_.node(places_.back().at).body;
    places_.push_back({body, graph_.region(body).entry, loop});
  }
  return true;
}

Source Walk::source(const Operand& operand, const Record& of) const {
  if (operand.record == Operand::kOutside) return {};
  const Placed& producer = placed_[operand.record];
  Source source{producer.node, operand.result, 0};
  const size_t both = std::min(producer.loops.size(), of.loops.size());
  for (size_t i = 0; i < both && producer.loops[i].same_run(of.loops[i]); i++)
    source.rounds_back = of.loops[i].round - producer.loops[i].round;
  return source;
}

bool Walk::take_operands(const Record& record) {
  const NodeId at = places_.back().at;
  for (size_t i = 0; i < record.operands.size(); i++) {
    const Source from = source(record.operands[i], record);
    const auto& known = graph_.node(at).operands;
    if (i < known.size() && std::find(known[i].begin(), known[i].end(), from) != known[i].end()) continue;
    if (!grow_) return false;
    auto& operands = grow_->nodes_[at].operands;
    if (i >= operands.size()) operands.resize(i + 1);
    operands[i].push_back(from);
    added_ = true;
  }
  return true;
}

std::optional<NodeId> Walk::advance(const Record& record) {
  const std::vector<Place> before = places_;
  if (!enter_loops(record.loops) || !step({.kind = Node::Kind::Op, .identity = record.identity}) ||
      !take_operands(record)) {
    places_ = before;
    return std::nullopt;
  }
  placed_.push_back({places_.back().at, record.loops});
  return placed_.back().node;
}

bool Walk::finish() {
  const std::vector<Place> before = places_;
  if (enter_loops({}) && leave()) return true;
  places_ = before;
  return false;
}

}  // namespace terra::coexec
