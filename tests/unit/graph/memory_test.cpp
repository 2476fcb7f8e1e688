// Where values lie and which way round: results in the memory of operands that nobody reads again, and copies of
// operands that many products read.
#include <catch2/catch.hpp>

#include "graph/executor/planner.h"
#include "graph/ir/parse.h"
#include "graph/ir/print.h"
#include "graph/ir/verify.h"
#include "graph/passes/copy_transposed.h"
#include "tests/unit/graph/support.h"

using namespace terra;
using namespace terra::graph;

namespace {

size_t arena_bytes(const std::string& text) {
  Graph g = parse(text, {});
  PlanRequest request;
  for (ValueId input : g.inputs) request.input_strides.push_back(contiguous_strides(g.meta(input).sizes));
  for (size_t o = 0; o < g.outputs.size(); o++) request.roles.push_back({OutputRole::Kind::Fresh, 0});
  return make_plan(g, std::move(request)).arena_bytes;
}

/// `count` products of `rows` rows with the transposed second input or the last 128 of its columns, and what the pass
/// makes of them.
std::string products(int rows, int count, bool expected, bool part = false) {
  const std::string columns = part ? "128" : "200", operand = part ? "%3" : "%2";
  const std::string product = "f32[" + std::to_string(rows) + "," + columns + "] = mm(%0, " + operand + ")";
  std::string text = "graph \"g\"(%0: f32[" + std::to_string(rows) +
                     ",150], %1: f32[200,150]) { %2: f32[150,200] = t(%1) %3: f32[150,128] = narrow(%2, 1, 72, 128) ";
  std::string results;
  for (int i = 4; i < 4 + count; i++) {
    text += "%" + std::to_string(i) + ": " + product + " ";
    results += (results.empty() ? "%" : ", %") + std::to_string(i);
  }
  Graph g = parse(text + "return " + results + " }", {});
  CHECK(copy_transposed(g) == expected);
  verify(g, Stage::Optimized, "in a test");
  return print(g);
}

size_t occurrences(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) count++;
  return count;
}

}  // namespace

TEST_CASE("a row kernel's result lies where its dead operand did", "[memory]") {
  test::start();
  const std::string head =
      "graph \"g\"(%0: f32[64,64], %1: f32[64,1000], %2: i64[64]) { %3: f32[64,1000] = mm(%0, %1) ";
  const size_t scores = 64 * 1000 * 4;
  for (const char* op : {"softmax", "log_softmax"}) {
    const std::string call = std::string("%4: f32[64,1000] = ") + op;
    CHECK(arena_bytes(head + call + "(%3, 1) %5: f32[64] = sum(%4, (1), false) return %5 }") < 2 * scores);
    CHECK(arena_bytes(head + call +
                      "(%3, 1) %5: f32[64] = sum(%4, (1), false) %6: f32[64] = sum(%3, (1), false) "
                      "return %5, %6 }") >= 2 * scores);
  }
}

TEST_CASE("a transposed matrix that many small products read is copied once", "[passes]") {
  test::start();
  const std::string text = products(20, 12, true);
  CHECK(occurrences(text, "= clone(%2)") == 1);
  CHECK(occurrences(text, "mm(%0, %2)") == 0);
  CHECK(occurrences(text, "= mm(%0, ") == 12);
  const std::string of_parts = products(20, 12, true, true);
  CHECK(occurrences(of_parts, "= clone(%3)") == 1);
  CHECK(occurrences(of_parts, "clone(%2)") == 0);
  CHECK(occurrences(of_parts, "mm(%0, %3)") == 0);
  products(20, 5, false);
  products(65, 12, false);
}
