// Pictures of merged traces: each line is a switch, its cases with where they are entered from, and who passes by.
#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

#include "graph/coexec/cases.h"
#include "graph/coexec/walk.h"
#include "tests/unit/graph/coexec/written_traces.h"

using namespace terra::coexec;
using namespace terra::coexec::test;

TEST_CASE("a straight line is one block", "[cases]") {
  CHECK(cases_of({"a b c", "a b c"}) == lines({"1 a b c (begin)"}));
}

TEST_CASE("a diamond parts and meets again", "[cases]") {
  CHECK(cases_of({"a b d", "a c d"}) == lines({
                                            "1 a (begin)",
                                            "2 b (a) | c (a)",
                                            "3 d (b c)",
                                        }));
}

TEST_CASE("a way that skips a level passes it by", "[cases]") {
  CHECK(cases_of({"a b c d", "a d"}) == lines({
                                            "1 a (begin)",
                                            "2 b c (a) | - (a d)",
                                            "3 d (c a)",
                                        }));
  // Of a longer way and a shorter one the shorter one passes by where it has nothing to do.
  CHECK(cases_of({"a b c f", "a b d c f", "a e f"}) == lines({
                                                           "1 a (begin)",
                                                           "2 b (a) | e (a)",
                                                           "3 d (b) | - (b c) | - (e f)",
                                                           "4 c (b d) | - (e f)",
                                                           "5 f (c e)",
                                                       }));
}

TEST_CASE("a branch of three ways", "[cases]") {
  CHECK(cases_of({"a b e", "a c e", "a d e"}) == lines({
                                                     "1 a (begin)",
                                                     "2 b (a) | c (a) | d (a)",
                                                     "3 e (b c d)",
                                                 }));
}

TEST_CASE("ways that begin and end differently", "[cases]") {
  CHECK(cases_of({"a c", "b c", "b"}) == lines({
                                             "1 a (begin) | b (begin)",
                                             "2 c (a b) | - (b end)",
                                         }));
}

TEST_CASE("a loop inside of a branch", "[cases]") {
  CHECK(cases_of({"a L{b c|b c|b c} e", "a d e", "a L{b c} e"}) == lines({
                                                                       "1 a (begin)",
                                                                       "2 loop11 (a) | d (a)",
                                                                       "3 e (loop11 d)",
                                                                       "loop11:",
                                                                       "  1 b c (begin)",
                                                                   }));
}

TEST_CASE("a branch inside of a loop", "[cases]") {
  CHECK(cases_of({"a L{b c e|b d e} f", "a L{b d e} f"}) == lines({
                                                                "1 a loop11 f (begin)",
                                                                "loop11:",
                                                                "  1 b (begin)",
                                                                "  2 c (b) | d (b)",
                                                                "  3 e (c d)",
                                                            }));
}

TEST_CASE("a loop without a round is passed by", "[cases]") {
  CHECK(cases_of({"a L{b|b} c", "a c"}) == lines({
                                               "1 a (begin)",
                                               "2 loop11 (a) | - (a c)",
                                               "3 c (loop11 a)",
                                               "loop11:",
                                               "  1 b (begin)",
                                           }));
}

namespace {

/// What a way does at each switch: the blocks that it enters, where no switch has two answers.
std::vector<NodeId> way_by_cases(const TraceGraph& graph, const std::vector<NodeId>& way) {
  std::vector<Edge> edges;
  const Region& region = graph.region(TraceGraph::kIteration);
  NodeId at = region.entry;
  for (NodeId id : way) edges.push_back({at, id}), at = id;
  edges.push_back({at, region.exit});
  const auto takes = [&](const Edge& edge) { return std::count(edges.begin(), edges.end(), edge) > 0; };
  std::vector<NodeId> done;
  for (const SwitchCase& at_switch : assign_cases(graph, TraceGraph::kIteration)) {
    size_t answers = std::count_if(at_switch.passing.begin(), at_switch.passing.end(), takes);
    for (const Case& one : at_switch.cases) {
      if (!std::any_of(one.entering.begin(), one.entering.end(), takes)) continue;
      answers++;
      done.insert(done.end(), one.block.begin(), one.block.end());
    }
    CHECK(answers == 1);
  }
  return done;
}

}  // namespace

TEST_CASE("switches cover every trace, each node in one block", "[cases]") {
  std::mt19937 draw(7);
  for (int round = 0; round < 200; round++) {
    std::vector<LinearTrace> traces;
    TraceGraph graph;
    for (int i = 0; i < 6; i++) {
      LinearTrace trace;
      for (uint32_t id = 0; id < 12; id++) {
        const uint32_t drawn = draw() % 8;
        if (drawn < 4) trace.push_back({id, {}, {}});
        if (drawn == 4) trace.push_back({static_cast<IdentityId>(draw() % 12), {}, {}});  // out of order, or again
      }
      graph.merge(trace);
      traces.push_back(std::move(trace));
    }
    std::vector<NodeId> in_blocks;
    for (const SwitchCase& at : assign_cases(graph, TraceGraph::kIteration)) {
      for (const Case& one : at.cases) in_blocks.insert(in_blocks.end(), one.block.begin(), one.block.end());
    }
    std::sort(in_blocks.begin(), in_blocks.end());
    const auto& nodes = graph.region(TraceGraph::kIteration).nodes;
    CHECK(in_blocks == std::vector<NodeId>(nodes.begin() + 2, nodes.end()));
    for (const LinearTrace& trace : traces) {
      CHECK_FALSE(graph.merge(trace));
      Walk walk(graph);
      std::vector<NodeId> way;
      for (const Record& record : trace) way.push_back(walk.advance(record).value());
      CHECK(walk.finish());
      CHECK(way_by_cases(graph, way) == way);
    }
  }
}
