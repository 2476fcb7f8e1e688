// Graphs of traces as text, for people and tests.
#include <algorithm>

#include "graph/coexec/cases.h"
#include "graph/coexec/trace_graph.h"

namespace terra::coexec {
namespace {

class Names {
 public:
  Names(const TraceGraph& graph, const std::function<std::string(IdentityId)>& name) : graph_(graph), name_(name) {}

  /// A node that comes to the same place again on a way has a mark for each time.
  std::string of(NodeId id) const {
    const Node& node = graph_.node(id);
    switch (node.kind) {
      case Node::Kind::Entry: return "begin";
      case Node::Kind::Exit: return "end";
      case Node::Kind::Op: return name_(node.identity) + std::string(times(id), '\'');
      case Node::Kind::Loop: return loop(node.loop) + std::string(times(id), '\'');
    }
    return {};
  }

  static std::string loop(LoopId id) { return "loop" + std::to_string(id); }

 private:
  size_t times(NodeId id) const {
    const Node& node = graph_.node(id);
    const auto& nodes = graph_.region(node.region).nodes;
    return static_cast<size_t>(std::count_if(nodes.begin(), nodes.end(), [&](NodeId other) {
      const Node& o = graph_.node(other);
      return other < id && o.kind == node.kind && o.identity == node.identity && o.loop == node.loop;
    }));
  }

  const TraceGraph& graph_;
  const std::function<std::string(IdentityId)>& name_;
};

std::string text(const Source& source, const Names& names) {
  if (source.node == Source::kOutside) return "outside";
  std::string text = names.of(source.node);
  if (source.result) text += "." + std::to_string(source.result);
  if (source.rounds_back) text += "@-" + std::to_string(source.rounds_back);
  return text;
}

std::string text(const std::vector<std::vector<Source>>& operands, const Names& names) {
  std::string text = "(";
  for (const auto& operand : operands) {
    if (&operand != &operands[0]) text += ", ";
    for (const Source& source : operand) text += (&source != &operand[0] ? "|" : "") + coexec::text(source, names);
  }
  return text + ")";
}

/// "(a b)": where edges that enter a block come from.
std::string origins(const std::vector<Edge>& edges, const Names& names) {
  std::string text = "(";
  for (const Edge& edge : edges) text += (text.size() > 1 ? " " : "") + names.of(edge.from);
  return text + ")";
}

/// `line(region, indent)` for the region and then for the bodies of its loops, with their names above.
template <class Lines>
std::string regions(const TraceGraph& graph, const Names& names, RegionId region, const std::string& indent,
                    const Lines& lines) {
  std::string text = lines(region, indent);
  for (NodeId id : graph.region(region).nodes) {
    if (graph.node(id).kind != Node::Kind::Loop) continue;
    text += indent + names.of(id) + ":\n";
    text += regions(graph, names, graph.node(id).body, indent + "  ", lines);
  }
  return text;
}

}  // namespace

std::string to_string(const TraceGraph& graph, const std::function<std::string(IdentityId)>& name) {
  const Names names(graph, name);
  return regions(graph, names, TraceGraph::kIteration, "", [&](RegionId region, const std::string& indent) {
    std::string lines;
    for (NodeId id : graph.region(region).nodes) {
      const Node& node = graph.node(id);
      if (node.kind == Node::Kind::Exit) continue;
      lines += indent + names.of(id);
      if (!node.operands.empty()) lines += text(node.operands, names);
      lines += " ->";
      for (NodeId to : node.next) lines += " " + names.of(to);
      lines += "\n";
    }
    return lines;
  });
}

std::string draw_cases(const TraceGraph& graph, const std::function<std::string(IdentityId)>& name) {
  const Names names(graph, name);
  return regions(graph, names, TraceGraph::kIteration, "", [&](RegionId region, const std::string& indent) {
    std::string lines;
    size_t number = 0;
    for (const SwitchCase& at : assign_cases(graph, region)) {
      lines += indent + std::to_string(++number);
      std::string between = " ";
      for (const Case& one : at.cases) {
        lines += between;
        for (NodeId id : one.block) lines += names.of(id) + " ";
        lines += origins(one.entering, names);
        between = " | ";
      }
      for (const Edge& edge : at.passing) {
        lines += between + "- (" + names.of(edge.from) + " " + names.of(edge.to) + ")";
        between = " | ";
      }
      lines += "\n";
    }
    return lines;
  });
}

}  // namespace terra::coexec
