// Merging traces, and following one through what is known.
#include <catch2/catch.hpp>

#include "graph/coexec/walk.h"
#include "tests/unit/graph/coexec/written_traces.h"

using namespace terra::coexec;
using namespace terra::coexec::test;

TEST_CASE("a trace that is known adds nothing", "[trace graph]") {
  TraceGraph graph;
  CHECK(graph.merge(trace("a b c")));
  CHECK_FALSE(graph.merge(trace("a b c")));
  CHECK(graph.merge(trace("a d c")));
  CHECK_FALSE(graph.merge(trace("a b c")));
  CHECK_FALSE(graph.merge(trace("a d c")));
  CHECK(graph.merge(trace("a c")));  // an edge more
  CHECK(graph.merge(trace("a d")));  // an end more
  CHECK_FALSE(graph.merge(trace("a d")));
}

TEST_CASE("ways meet where they do the same, and never go in a circle", "[trace graph]") {
  CHECK(graph_of({"a b c", "a c b"}) == lines({
                                            "begin -> a",
                                            "a -> b c",
                                            "b -> c",
                                            "c -> end b'",
                                            "b' -> end",
                                        }));
}

TEST_CASE("an op that comes again without a loop has a node for each time", "[trace graph]") {
  CHECK(graph_of({"a a b a"}) == lines({
                                     "begin -> a",
                                     "a -> a'",
                                     "a' -> b",
                                     "b -> a''",
                                     "a'' -> end",
                                 }));
}

TEST_CASE("loops fold", "[trace graph]") {
  TraceGraph graph;
  CHECK(graph.merge(trace("a L{b|b|b} c")));
  CHECK_FALSE(graph.merge(trace("a L{b} c")));
  CHECK_FALSE(graph.merge(trace("a L{b|b|b|b|b|b} c")));
  CHECK(graph.merge(trace("a L{b|b d} c")));
  CHECK(to_string(graph, name_of) == lines({
                                         "begin -> a",
                                         "a -> loop11",
                                         "loop11 -> c",
                                         "c -> end",
                                         "loop11:",
                                         "  begin -> b",
                                         "  b -> end d",
                                         "  d -> end",
                                     }));
}

TEST_CASE("a loop inside of a loop", "[trace graph]") {
  CHECK(graph_of({"L{a M{b|b} c|a M{b} c}"}) == lines({
                                                    "begin -> loop11",
                                                    "loop11 -> end",
                                                    "loop11:",
                                                    "  begin -> a",
                                                    "  a -> loop12",
                                                    "  loop12 -> c",
                                                    "  c -> end",
                                                    "  loop12:",
                                                    "    begin -> b",
                                                    "    b -> end",
                                                }));
}

TEST_CASE("a loop that is come to twice has two nodes", "[trace graph]") {
  CHECK(graph_of({"L{a|a} b L{a}"}) == lines({
                                           "begin -> loop11",
                                           "loop11 -> b",
                                           "b -> loop11'",
                                           "loop11' -> end",
                                           "loop11:",
                                           "  begin -> a",
                                           "  a -> end",
                                           "loop11':",
                                           "  begin -> a",
                                           "  a -> end",
                                       }));
}

TEST_CASE("operands say which way they came by, and in which round", "[trace graph]") {
  CHECK(graph_of({"a b(a) d(b,-)", "a c(a) d(c,-)"}) == lines({
                                                            "begin -> a",
                                                            "a -> b c",
                                                            "b(a) -> d",
                                                            "d(b|c, outside) -> end",
                                                            "c(a) -> d",
                                                        }));
  CHECK(graph_of({"a L{b(a)|b(b)|b(b)} c(b)"}) == lines({
                                                      "begin -> a",
                                                      "a -> loop11",
                                                      "loop11 -> c",
                                                      "c(b) -> end",
                                                      "loop11:",
                                                      "  begin -> b",
                                                      "  b(a|b@-1) -> end",
                                                  }));
}

namespace {

/// How many records of the trace the graph knows, one after the other.
size_t matched(const TraceGraph& graph, const std::string& text) {
  Walk walk(graph);
  size_t count = 0;
  for (const Record& record : trace(text)) {
    if (!walk.advance(record)) return count;
    count++;
  }
  return count + (walk.finish() ? 1 : 0);
}

}  // namespace

TEST_CASE("a known successor or a divergence", "[walk]") {
  const TraceGraph graph = merged({"a b d e", "a c d f"});
  CHECK(matched(graph, "a b d e") == 5);
  CHECK(matched(graph, "a b d f") == 5);  // ways that meet go on as any of them did
  CHECK(matched(graph, "a c d e") == 5);
  CHECK(matched(graph, "a d e") == 1);
  CHECK(matched(graph, "b") == 0);
  CHECK(matched(graph, "a b d") == 3);  // nothing ended there
  CHECK(matched(graph, "a b d L{e}") == 3);
}

TEST_CASE("rounds of a loop match any number of them", "[walk]") {
  const TraceGraph graph = merged({"a L{b c|b} d"});
  CHECK(matched(graph, "a L{b|b|b c|b} d") == 7 + 1);
  CHECK(matched(graph, "a L{b|c} d") == 2);
  CHECK(matched(graph, "a d") == 1);
  CHECK(matched(graph, "a L{b} L{b} d") == 2);  // the loop has been left
  CHECK(matched(graph, "a M{b} d") == 1);
}

TEST_CASE("an operand from elsewhere is a divergence", "[walk]") {
  const TraceGraph graph = merged({"a b c(a) L{d(c)|d(d)}"});
  CHECK(matched(graph, "a b c(a) L{d(c)|d(d)|d(d)}") == 7);
  CHECK(matched(graph, "a b c(b)") == 2);
  CHECK(matched(graph, "a b c(-)") == 2);
  CHECK(matched(graph, "a b c(a) L{d(c)|d(a)}") == 4);
}

TEST_CASE("a walk that diverges stays where it is", "[walk]") {
  const TraceGraph graph = merged({"a L{b} c"});
  Walk walk(graph);
  const LinearTrace known = trace("a L{b} c"), other = trace("a L{b} d");
  REQUIRE(walk.advance(known[0]));
  REQUIRE(walk.advance(known[1]));
  CHECK_FALSE(walk.advance(other[2]));
  CHECK_FALSE(walk.finish());
  CHECK(walk.advance(known[2]));
  CHECK(walk.finish());
  walk.restart();
  CHECK(walk.advance(known[0]));
}

TEST_CASE("a trace that goes on from a node grows the graph from there", "[walk]") {
  TraceGraph graph = merged({"a L{b c} d"});
  const auto grow_behind = [&graph](char op, const std::string& text) {
    const LinearTrace rest = trace(text);
    for (NodeId id = 0; id < graph.size(); id++) {
      if (graph.node(id).kind != Node::Kind::Op || name_of(graph.node(id).identity) != std::string(1, op)) continue;
      Walk walk(graph, Walk::Grow{}, id, rest[0].loops);
      for (const Record& record : rest) walk.advance(record);
      CHECK(walk.finish());
      CHECK(walk.has_added());
      return;
    }
  };
  grow_behind('b', "L{e} d");  // in the round that b was in
  CHECK(matched(graph, "a L{b e|b c} d") == 7);
  CHECK(matched(graph, "a L{b e}") == 3);
  grow_behind('c', "f");  // behind the loop
  CHECK(matched(graph, "a L{b c} f") == 5);
  CHECK(matched(graph, "a L{b e} f") == 5);
  grow_behind('a', "d");
  CHECK(matched(graph, "a d") == 3);
}
