// What may come next, through the ends and beginnings of loops and iterations.
#include <catch2/catch.hpp>

#include "graph/coexec/successors.h"
#include "tests/unit/graph/coexec/written_traces.h"

using namespace terra::coexec;
using namespace terra::coexec::test;

namespace {

/// "b d, then a": those of the next iteration stand behind.
std::string behind(const TraceGraph& graph, char op) {
  std::string here, next;
  for (NodeId id = 0; id < graph.size(); id++) {
    if (graph.node(id).kind != Node::Kind::Op || name_of(graph.node(id).identity) != std::string(1, op)) continue;
    for (const Successor& s : successors(graph, id)) {
      std::string& text = s.next_iteration ? next : here;
      text += (text.empty() ? "" : " ") + name_of(graph.node(s.op).identity);
    }
  }
  return here + (next.empty() ? "" : ", then " + next);
}

}  // namespace

TEST_CASE("behind a branch and at the end", "[successors]") {
  const TraceGraph graph = merged({"a b d", "a c d", "a c"});
  CHECK(behind(graph, 'a') == "b c");
  CHECK(behind(graph, 'b') == "d");
  CHECK(behind(graph, 'c') == "d, then a");
  CHECK(behind(graph, 'd') == ", then a");
  CHECK(successors(graph, graph.region(TraceGraph::kIteration).entry).size() == 1);
}

TEST_CASE("into a loop, around it and out of it", "[successors]") {
  const TraceGraph graph = merged({"a L{b M{c} d|b d} e", "a e"});
  CHECK(behind(graph, 'a') == "b e");
  CHECK(behind(graph, 'b') == "c d");
  CHECK(behind(graph, 'c') == "c d");
  CHECK(behind(graph, 'd') == "b e");
  CHECK(behind(graph, 'e') == ", then a");
  CHECK(behind(merged({"L{a|a}"}), 'a') == "a");  // another round, or another iteration: the same op
}
