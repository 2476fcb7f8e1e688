// Each pass on small graphs, before and after.
#include <catch2/catch.hpp>

#include "graph/executor/arena.h"
#include "graph/ir/parse.h"
#include "graph/ir/print.h"
#include "graph/ir/verify.h"
#include "graph/passes/drop_dead_code.h"
#include "graph/passes/fold_constants.h"
#include "graph/passes/fuse_elementwise.h"
#include "graph/passes/merge_common.h"
#include "graph/passes/simplify.h"
#include "tests/unit/graph/support.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::graph::test;

namespace {

/// The body of a graph of x: f32[2,3], y: f32[2,3], z: f32[3,2], b: f32[3].
Graph around(const std::string& body, const ParseContext& context = {}) {
  start();
  Graph g = parse("graph \"g\"(%0: f32[2,3], %1: f32[2,3], %2: f32[3,2], %3: f32[3]) { " + body + " }", context);
  verify(g, Stage::Captured, "in a test");
  return g;
}

void check_simplifies(const std::string& before, const std::string& after) {
  Graph g = around(before);
  simplify(g);
  drop_dead_code(g);
  INFO(before);
  CHECK(print(g) == print(around(after)));
}

void check_stays(const std::string& body) {
  Graph g = around(body);
  CHECK_FALSE(simplify(g));
}

}  // namespace

TEST_CASE("simplify", "[passes]") {
  check_simplifies("%4: f32[2,3] = view(%0, (2, 3)) return %4", "return %0");
  check_simplifies("%4: f32[3,2] = t(%0) %5: f32[2,3] = t(%4) return %5", "return %0");
  check_simplifies("%4: f32[6] = view(%0, (6)) %5: f32[3,2] = view(%4, (3, 2)) return %5",
                   "%5: f32[3,2] = view(%0, (3, 2)) return %5");
  check_simplifies("%4: f32[2,3] = to_dtype(%0, :f32, none) return %4", "return %0");
  check_simplifies("%4: f32[2,3] = neg(%0) %5: f32[2,3] = clone(%4, none) return %5",
                   "%4: f32[2,3] = neg(%0) return %4");
  check_simplifies("%4: f32[2,3] = copy(%0, %1, false) return %4", "return %1");
  check_simplifies("%4: f32[2,3] = copy(%0, %3, false) return %4", "%4: f32[2,3] = expand(%3, (2, 3)) return %4");
  check_simplifies("%4: f32[2,3] = pad_slice(%0, (2, 3), 0, 0, 1) return %4", "return %0");
  check_simplifies("%4: f32[2,3] = mul(%0, 1) return %4", "return %0");
  check_simplifies("%4: f32[2,3] = true_divide(%0, 1.0) return %4", "return %0");
  check_simplifies("%4: f32[2,3] = sub(%0, 0.0, 1) return %4", "return %0");
  check_simplifies("%4: f32[2,3] = neg(%0) %5: f32[2,3] = neg(%4) return %5", "return %0");
  check_simplifies(
      "%4: f32[3] = select(%0, 0, 1) %5: f32[3] = neg(%4) %6: f32[2,3] = $write_view select(%0, %5, 0, 1) "
      "%7: f32[3] = select(%6, 0, 1) return %7",
      "%4: f32[3] = select(%0, 0, 1) %5: f32[3] = neg(%4) return %5");
  check_simplifies(
      "%4: f32[2,3] = $write_view select(%0, %3, 0, 1) %5: f32[3] = neg(%3) "
      "%6: f32[2,3] = $write_view select(%4, %5, 0, 1) return %6",
      "%5: f32[3] = neg(%3) %6: f32[2,3] = $write_view select(%0, %5, 0, 1) return %6");
  check_simplifies("%4: f32[2,3] = $write_view t(%0, %2) return %4", "%4: f32[2,3] = t(%2) return %4");
}

TEST_CASE("fusing makes no groups that wait for each other", "[passes]") {
  // %4 and %8 are one group, which waits for %5; what %11 adds to %5 waits for that group.
  Graph g = around(
      "%4: f32[2,3] = tanh(%0) %5: f32[2,3] = exp(%1) %6: f32[3,2] = t(%5) %7: f32[2,3] = t(%6) "
      "%8: f32[2,3] = add(%4, %7, 1) %9: f32[3,2] = t(%4) %10: f32[2,3] = t(%9) %11: f32[2,3] = add(%5, %10, 1) "
      "return %8, %11");
  CHECK(fuse_elementwise(g));
  CHECK_NOTHROW(verify(g, Stage::Optimized, "fused"));
}

TEST_CASE("fusing keeps every effect", "[passes]") {
  // Groups of numbers and of matrices wait for each other by way of sums; the second assert for the first.
  start();
  Graph g = parse(
      "graph \"g\"(%0: i64[], %1: f32[2,2]) { %2: f32[] = to_dtype(%0, :f32, none) %3: f32[2,2] = add(%1, %2, 1) "
      "%4: f32[2,2] = abs(%3) %5: f32[] = sum(%4, none, false) %6: bool[] = gt(%5, %2) $assert(%6) expect true index 0 "
      "@1.1 %7: f32[2,2] = mul(%1, 0.1) %8: f32[2,2] = add(%3, %7, 1) %9: f32[2,2] = mul(%1, 0.5) "
      "%10: f32[2,2] = abs(%9) %11: f32[] = sum(%10, none, false) %12: bool[] = gt(%11, %2) $assert(%12) expect true "
      "index 1 @1.2 %13: f32[2,2] = add(%9, %7, 1) %14: f32[2,2] = mul(%8, 0.5) %15: f32[2,2] = abs(%14) "
      "%16: f32[] = sum(%15, none, false) %17: bool[] = gt(%16, %2) $assert(%17) expect true index 2 @1.3 "
      "return %13 }",
      {});
  CHECK(fuse_elementwise(g));
  CHECK_NOTHROW(verify(g, Stage::Optimized, "fused"));
  CHECK(std::ranges::count(g.nodes, NodeKind::Assert, &Node::kind) == 3);
}

TEST_CASE("simplify keeps signed zeros, infinities and sums", "[passes]") {
  check_stays("%4: f32[2,3] = add(%0, 0.0, 1) return %4");
  check_stays("%4: f32[2,3] = sub(%0, -0.0, 1) return %4");
  check_stays("%4: f32[2,3] = mul(%0, 0) return %4");
  check_stays("%4: f32[2,3] = sub(%0, %0, 1) return %4");
  check_stays("%4: f32[3,2] = view(%0, (3, 2)) %5: f32[2,3] = t(%4) return %5");
}

TEST_CASE("ones of a gradient vanish", "[passes]") {
  start();
  Graph g =
      around("%4: f32[] = full((), 1.0, :f32) %5: f32[2,3] = expand(%4, (2, 3)) %6: f32[2,3] = mul(%5, %0) return %6");
  simplify(g);
  drop_dead_code(g);
  CHECK(print(g) == print(around("return %0")));
}

TEST_CASE("merge_common merges what is equal, and nothing random", "[passes]") {
  Graph g = around(
      "%4: f32[2,3] = mul(%0, %1) %5: f32[2,3] = mul(%0, %1) %6: f32[2,3] = mul(%0, 2) %7: f32[2,3] = mul(%0, 2.0) "
      "%8: f32[2,3] = sub(%4, %5, 1) return %8, %6, %7");
  CHECK(merge_common(g));
  CHECK(print(g) == print(around("%4: f32[2,3] = mul(%0, %1) %6: f32[2,3] = mul(%0, 2) %7: f32[2,3] = mul(%0, 2.0) "
                                 "%8: f32[2,3] = sub(%4, %4, 1) return %8, %6, %7")));
  Graph r =
      around("%4: f32[3] = rand((3), none, generator) @3.1 %5: f32[3] = rand((3), none, generator) @3.2 return %4, %5");
  CHECK_FALSE(merge_common(r));
  r.outputs.clear();
  CHECK_FALSE(drop_dead_code(r));  // a draw moves the stream
}

TEST_CASE("fold_constants computes what depends on constants only", "[passes]") {
  start();
  Graph g = around("%4: f32[2] = constant 0 %5: f32[2] = mul(%4, 2) %6: f32[2] = exp(%5) return %6",
                   {{values({2}, {0, 0})}, nullptr});
  CHECK(fold_constants(g));
  drop_dead_code(g);
  CHECK(g.nodes.empty());
  CHECK(bits(g.constants.back().second) == bits(values({2}, {1, 1})));
}

TEST_CASE("fuse_elementwise joins chains and respects what lies between", "[passes]") {
  Graph g = around("%4: f32[2,3] = mul(%0, %1) %5: f32[2,3] = add(%4, %3, 1) %6: f32[2,3] = tanh(%5) return %6");
  CHECK(fuse_elementwise(g));
  REQUIRE(g.nodes.size() == 1);
  CHECK(g.nodes[0].kind == NodeKind::Fused);
  CHECK(g.nodes[0].bodies[0]->nodes.size() == 3);
  verify(g, Stage::Optimized, "fused");
  CHECK(print(parse(print(g))) == print(g));

  // exp feeds a product whose result meets exp's again: the product must run between the two.
  Graph between = around(
      "%4: f32[2,3] = exp(%0) %5: f32[3,3] = mm(%2, %4) %6: f32[2,3] = mm(%4, %5) "
      "%7: f32[2,3] = mul(%4, %6) return %7");
  CHECK_FALSE(fuse_elementwise(between));
}

TEST_CASE("the arena packs by lifetime", "[passes]") {
  std::vector<ArenaBlock> blocks = {{100, 0, 1, 0}, {200, 1, 2, 0}, {100, 2, 3, 0}, {64, 0, 3, 0}};
  const size_t total = pack(blocks);
  CHECK(total == 256 + 128 + 64);
  for (size_t a = 0; a < blocks.size(); ++a)
    for (size_t b = a + 1; b < blocks.size(); ++b) {
      const bool together = blocks[a].first <= blocks[b].last && blocks[b].first <= blocks[a].last;
      const bool overlap = blocks[a].offset < blocks[b].offset + blocks[b].bytes &&
                           blocks[b].offset < blocks[a].offset + blocks[a].bytes;
      CHECK_FALSE((together && overlap));
    }
}
