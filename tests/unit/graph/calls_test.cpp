// Graphs that call graphs of a table, and themselves.
#include <algorithm>
#include <catch2/catch.hpp>
#include <utility>

#include "engine/errors/errors.h"
#include "engine/memory/allocator.h"
#include "graph/executor/call_stack.h"
#include "graph/ir/parse.h"
#include "graph/ir/print.h"
#include "graph/ir/verify.h"
#include "graph/passes/pipeline.h"
#include "tests/unit/graph/run_graph.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::graph::test;

namespace {

Tensor integer(int64_t value) {
  Tensor t = Tensor::empty(Dims{}, DType::I64);
  *t->data_as<int64_t>() = value;
  return t;
}

/// %1 comes to so many times the step function, by a call for each: `%5` of `%1` before the call, `%7` of `%6` behind.
std::string chain(const std::string& before, const std::string& behind) {
  return R"(graph "main"(%0: scalar int, %1: f32[2]) { %2: f32[2] = $call @chain(%0, %1) return %2 }
    graph @chain(%0: scalar int, %1: f32[2]) {
      %2: i64[] = $as_tensor(%0)
      %3: bool[] = gt(%2, 0)
      %4: f32[2] = $switch(%3, %0, %1)
        { graph "done"(%0: scalar int, %1: f32[2]) { return %1 } }
        { graph "more"(%0: scalar int, %1: f32[2]) {
            %2: i64[] = $as_tensor(%0)
            %3: i64[] = sub(%2, 1, 1)
            %4: scalar int = $item(%3) )" +
         before + " %6: f32[2] = $call @chain(%4, %5) " + behind + " return %7 } } return %4 }";
}

/// Fibonacci numbers by two calls each, which a tensor decides about.
const char* const kFibonacci = R"(graph "main"(%0: i64[]) { %1: i64[] = $call @fib(%0) return %1 }
  graph @fib(%0: i64[]) {
    %1: bool[] = lt(%0, 2)
    %2: i64[] = $switch(%1, %0)
      { graph "sum"(%0: i64[]) {
          %1: i64[] = sub(%0, 1, 1)
          %2: i64[] = $call @fib(%1)
          %3: i64[] = sub(%0, 2, 1)
          %4: i64[] = $call @fib(%3)
          %5: i64[] = add(%2, %4, 1)
          return %5 } }
      { graph "itself"(%0: i64[]) { return %0 } }
    return %2 })";

struct EveryBufferLent {
  EveryBufferLent() : before(std::exchange(lent_bytes(), 1)) {}
  ~EveryBufferLent() { lent_bytes() = before; }
  const size_t before;
};

}  // namespace

TEST_CASE("graphs of a table are text that parses back", "[calls]") {
  const char* text = R"(graph "f"(%0: f32[2]) {
  %1: f32[2] = $call @g(%0)
  %2: f32[2] = $call @"with a space"(%1)
  return %2
}
graph @g(%0: f32[2]) {
  %1: f32[2] = constant 0
  %2: f32[2] = add(%0, %1, 1)
  return %2
}
graph @"with a space"(%0: f32[2]) {
  %1: f32[2] = $call @g(%0)
  return %1
}
)";
  ParseContext context;
  context.constants = {values({2}, {1, 2})};
  CHECK(print(parsed(text, context)) == text);
  CHECK_THROWS_WITH(parse("graph \"f\"() { $call @g() return }"),
                    Catch::Contains("expected the name of a graph that follows"));
  CHECK_THROWS_WITH(parse("graph \"f\"() { return } graph @g() { return } graph @g() { return }"),
                    Catch::Contains("expected another name"));
}

TEST_CASE("a call has the operands and results of what it calls", "[calls]") {
  start();
  const auto violation = [](const std::string& call) {
    return find_violation(
        parse(
            "graph \"f\"(%0: f32[2], %1: f32[3]) {" + call +
            " return } graph @g(%0: f32[2]) { %1: f32[2] = neg(%0) return %1 }"
            " graph @h(%0: f32[2]) { %1: bool[] = any(%0, none, false) $assert(%1) expect true index 0 @1.1 return }"),
        Stage::Captured);
  };
  CHECK(violation("%2: f32[2] = $call @g(%0)").empty());
  CHECK_THAT(violation("%2: f32[2] = $call @g(%1)"), Catch::Contains("operand 0 of \"g\" has another dtype or shape"));
  CHECK_THAT(violation("%2: f32[3] = $call @g(%0)"), Catch::Contains("result 0 of \"g\" has another dtype or shape"));
  CHECK_THAT(violation("%2: f32[2] = $call @g(%0, %0)"), Catch::Contains("\"g\" takes 1 operands, not 2"));
  CHECK_THAT(violation("$call @g(%0)"), Catch::Contains("\"g\" has 1 results, not 0"));
  CHECK_THAT(violation("$call @h(%0)"), Catch::Contains("the call of a graph with effects is one itself"));
  CHECK(violation("$call @h(%0) @1.1").empty());
  GraphTable table;
  const GraphId missing = table.declare("later");
  CHECK(table.declare("later") != missing);
  CHECK(table.name(1) == "later.2");
  CHECK_THROWS_WITH(table.at(missing), Catch::Contains("\"later\" is called, and was never defined"));
}

TEST_CASE("a graph calls itself until a number says that it is enough", "[calls]") {
  BoundGraph program(chain("%5: f32[2] = add(%1, 1, 1)", "%7: f32[2] = mul(%6, 2)"));
  const Tensor x = values({2}, {1, -3});
  CHECK(bits(program({Scalar(int64_t{0}), x})[0]) == bits(x));
  CHECK(bits(program({Scalar(int64_t{3}), x})[0]) == bits(values({2}, {32, 0})));
  CHECK(bits(program({Scalar(int64_t{1}), x})[0]) == bits(values({2}, {4, -4})));
}

TEST_CASE("the depth of calls isn't bounded by the stack of the thread", "[calls]") {
  BoundGraph program(chain("%5: f32[2] = add(%1, 1, 1)", "%7: f32[2] = add(%6, %1, 1)"));
  program.compared = true;  // it would take long on the null device
  const int64_t depth = 100'000;
  const uint64_t live = memory::statistics().live_bytes;
  const std::vector<Tensor> made = program({Scalar(depth), values({2}, {0, 0})});
  // Each level adds what it was given behind the call: 0 + 1 + ... + (depth - 1), on top of depth.
  double sum = static_cast<double>(depth);
  float expected = static_cast<float>(depth);
  for (int64_t level = depth - 1; level >= 0; --level) {
    expected += static_cast<float>(level);
    sum += static_cast<double>(level);
  }
  CHECK(made[0]->data_as<float>()[0] == expected);
  CHECK(expected == Approx(sum).epsilon(1e-3));
  CHECK(memory::statistics().live_bytes < live + 1000);
}

TEST_CASE("calls of one graph stand beside each other, as a tensor decides", "[calls]") {
  BoundGraph program(kFibonacci);
  int64_t a = 0, b = 1;
  for (int64_t n = 0; n < 18; ++n) {
    CHECK(*program({integer(n)})[0]->data_as<int64_t>() == a);
    b = std::exchange(a, b) + b;
  }
}

TEST_CASE("activations have blocks of the allocator of their own", "[calls]") {
  start();
  const uint64_t before = memory::statistics().live_bytes;
  {
    const EveryBufferLent lent;
    BoundGraph fibonacci(kFibonacci), adding(chain("%5: f32[2] = add(%1, 1, 1)", "%7: f32[2] = mul(%6, %1)"));
    CHECK(*fibonacci({integer(10)})[0]->data_as<int64_t>() == 55);
    CHECK(bits(adding({Scalar(int64_t{3}), values({2}, {1, 2})})[0]) == bits(values({2}, {4 * 6, 5 * 24})));
  }
  CHECK(memory::statistics().live_bytes == before);
}

TEST_CASE("calls that don't end are an error", "[calls]") {
  const size_t before = std::exchange(most_bytes_of_calls(), 1 << 20);
  BoundGraph program(
      "graph \"main\"(%0: f32[2]) { %1: f32[2] = $call @f(%0) return %1 }"
      " graph @f(%0: f32[2]) { %1: f32[2] = $call @f(%0) return %1 }");
  for (int run = 0; run < 2; ++run)
    CHECK_THROWS_WITH(program({values({2}, {1, 2})}), Catch::Contains("do the calls ever end?"));
  most_bytes_of_calls() = before;
}

TEST_CASE("graphs call each other", "[calls]") {
  const auto other = [](const char* name, const char* callee, const char* at_zero) {
    return std::string("graph @") + name + R"((%0: scalar int) {
      %1: i64[] = $as_tensor(%0)
      %2: bool[] = gt(%1, 0)
      %3: scalar bool = $item(%2)
      %4: i64[] = sub(%1, 1, 1)
      %5: scalar int = $item(%4)
      %6: scalar bool = $switch(%3, %5)
        { graph "zero"(%0: scalar int) { %1: bool[] = )" +
           at_zero + R"( %2: scalar bool = $item(%1) return %2 } }
        { graph "more"(%0: scalar int) { %1: scalar bool = $call @)" +
           callee + "(%0) return %1 } } return %6 } ";
  };
  BoundGraph even("graph \"main\"(%0: scalar int) { %1: scalar bool = $call @even(%0) return %1 } " +
                  other("even", "odd", "full((), true, :bool)") + other("odd", "even", "full((), false, :bool)"));
  for (int64_t n = 0; n < 9; ++n) CHECK(*even({Scalar(n)})[0]->data_as<double>() == (n % 2 ? 0 : 1));
}

TEST_CASE("a loop calls what runs a loop that calls", "[calls]") {
  // f(n) = 1 + f(0) + ... + f(n - 1) = 2^n, the sum by a loop.
  BoundGraph program(R"(graph "main"(%0: i64[]) { %1: i64[] = $call @f(%0) return %1 }
    graph @f(%0: i64[]) {
      %1: i64[] = full((), 0, :i64)
      %2: i64[] = full((), 1, :i64)
      %3: i64[], %4: i64[] = $while(%1, %2, %0)
        { graph "more"(%0: i64[], %1: i64[], %2: i64[]) { %3: bool[] = lt(%0, %2) return %3 } }
        { graph "step"(%0: i64[], %1: i64[], %2: i64[]) {
            %3: i64[] = $call @f(%0)
            %4: i64[] = add(%1, %3, 1)
            %5: i64[] = add(%0, 1, 1)
            return %5, %4 } }
      return %4 })");
  for (int64_t n = 0; n < 9; ++n) CHECK(*program({integer(n)})[0]->data_as<int64_t>() == int64_t{1} << n);
}

TEST_CASE("a loop hands numbers from round to round", "[calls]") {
  BoundGraph program(R"(graph "main"(%0: scalar int, %1: scalar int) {
    %2: scalar int = $while(%0, %1)
      { graph "more"(%0: scalar int, %1: scalar int) {
          %2: i64[] = $as_tensor(%0) %3: i64[] = $as_tensor(%1) %4: bool[] = lt(%2, %3)
          %5: scalar bool = $item(%4) return %5 } }
      { graph "step"(%0: scalar int, %1: scalar int) {
          %2: i64[] = $as_tensor(%0) %3: i64[] = mul(%2, 3) %4: scalar int = $item(%3) return %4 } }
    return %2 })");
  CHECK(*program({Scalar(int64_t{2}), Scalar(int64_t{100})})[0]->data_as<double>() == 162);
  CHECK(*program({Scalar(int64_t{2}), Scalar(int64_t{1})})[0]->data_as<double>() == 2);
}

TEST_CASE("what ends a deep call ends the run, which may be run again", "[calls]") {
  const std::string refuses = "%5: f32[2] = add(%1, -1, 1) ";
  SECTION("an assert") {
    std::string text = chain(refuses +
                                 "%8: bool[2] = gt(%5, 0) %9: bool[] = all(%8, none, false) "
                                 "$assert(%9) expect true index 7 @1.1",
                             "%7: f32[2] = neg(%6)");
    for (const char* call : {"$call @chain(%0, %1)", "$call @chain(%4, %5)"})
      text.insert(text.find(call) + std::string(call).size(), " @1.2");
    Graph g = parse(text);
    // The switch has an effect inside.
    GraphTable table = *g.table;
    Graph callee = table.at(0);
    for (Node& n : callee.nodes)
      if (n.kind == NodeKind::Switch) n.chain = kAssertChain, n.ticket = 1;
    table.define(0, std::move(callee));
    g.table = std::make_shared<GraphTable>(std::move(table));
    verify(g, Stage::Optimized, "with an assert");
    BoundGraph program(g);
    CHECK(program({Scalar(int64_t{50}), values({2}, {20, 30})}).empty());
    CHECK(program.stop.why == Stop::Why::AssertFailed);
    CHECK(program.stop.assert_index == 7);
    CHECK(bits(program({Scalar(int64_t{3}), values({2}, {20, 30})})[0]) == bits(values({2}, {-17, -27})));
  }
  SECTION("an error") {
    BoundGraph program(chain("%5: f32[2] = add(%1, -1, 1)",
                             "%8: i64[2] = to_dtype(%1, :i64, none) %7: f32[2] = gather(%6, 0, %8, false)"));
    const uint64_t live = memory::statistics().live_bytes;
    CHECK_THROWS_AS(program({Scalar(int64_t{50}), values({2}, {1, 1})}), Error);
    CHECK(memory::statistics().live_bytes == live);
    CHECK(bits(program({Scalar(int64_t{1}), values({2}, {1, 0})})[0]) == bits(values({2}, {-1, 0})));
  }
  SECTION("an interruption") {
    static int left;
    BoundGraph program(chain("%5: f32[2] = add(%1, 1, 1)", "%7: f32[2] = neg(%6)"));
    left = 1000;
    CHECK(program({Scalar(int64_t{1000}), values({2}, {0, 0})}, [] { return --left < 0; }).empty());
    CHECK(program.stop.why == Stop::Why::Interrupted);
    CHECK(bits(program({Scalar(int64_t{2}), values({2}, {0, 0})})[0]) == bits(values({2}, {2, 2})));
  }
}

TEST_CASE("passes go into graphs that are called, and drop those that aren't", "[calls]") {
  Graph g = parsed(R"(graph "main"(%0: f32[2]) {
    %1: f32[2] = $call @used(%0)
    %2: f32[2] = $call @used(%0)
    %3: f32[2] = $call @unused(%0)
    %4: f32[2] = add(%1, %2, 1)
    return %4 }
    graph @unused(%0: f32[2]) { %1: f32[2] = $call @unused.too(%0) return %1 }
    graph @unused.too(%0: f32[2]) { return %0 }
    graph @used(%0: f32[2]) { %1: f32[2] = mul(%0, 1) %2: f32[2] = exp(%1) %3: f32[2] = neg(%2) return %3 })");
  BoundGraph before(g);
  const Tensor x = values({2}, {0.5f, -1});
  const std::string expected = bits(before({x})[0]);
  optimize(g, Phase::Whole);
  optimize(g, Phase::Part);
  verify(g, Stage::Optimized, "optimized");
  CHECK(std::count_if(g.nodes.begin(), g.nodes.end(), [](const Node& n) { return n.kind == NodeKind::Call; }) == 1);
  CHECK(!g.table->find(g.table->id_of("unused")));
  CHECK(!g.table->find(g.table->id_of("unused.too")));
  CHECK(g.table->at(g.table->id_of("used")).nodes.size() == 1);
  BoundGraph after(g);
  CHECK(bits(after({x})[0]) == expected);
}
