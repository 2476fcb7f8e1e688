// Text form, verifier, control flow.
#include <catch2/catch.hpp>

#include "engine/errors/errors.h"
#include "graph/executor/activation.h"
#include "graph/executor/planner.h"
#include "graph/ir/parse.h"
#include "graph/ir/print.h"
#include "graph/ir/verify.h"
#include "tests/unit/graph/support.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::graph::test;

namespace {

/// Runs a graph on contiguous tensors; returns its tensor results.
std::vector<Tensor> run_graph(const Graph& g, const std::vector<Tensor>& inputs) {
  PlanRequest request;
  for (ValueId v : g.outputs)
    request.roles.push_back({g.meta(v).is_tensor() ? OutputRole::Kind::Fresh : OutputRole::Kind::Scalar, 0});
  Instance instance(make_plan(g, std::move(request)));
  RootActivation activation(instance);
  for (size_t i = 0; i < inputs.size(); ++i) activation.bind_input(i, inputs[i]->data());
  std::vector<Tensor> outputs;
  for (size_t o = 0; o < g.outputs.size(); ++o) {
    outputs.push_back(Tensor::empty(g.meta(g.outputs[o]).sizes, g.meta(g.outputs[o]).dtype));
    activation.bind_fresh(o, outputs.back()->data());
  }
  REQUIRE(activation.run_body(nullptr).why == Stop::Why::None);
  activation.run_tail();
  return outputs;
}

Graph parsed(const char* text) {
  start();
  Graph g = parse(text);
  verify(g, Stage::Optimized, "parsed");
  return g;
}

}  // namespace

TEST_CASE("text that was printed parses back", "[ir]") {
  const char* text = R"(graph "f"(%0 "x": f32[2,3], %1 "lr": scalar float, %2 "n": handle) {
  %3: f32[2,3] = mul(%0, 0.5)
  %4: f32[] = $as_tensor(%1)
  %5: f32[2,3] = sub(%3, inf, 1)
  %6: f32[4,3] = cat([%3, %5], 0)
  %7: f32[3,2] = view(%3, (3, 2))
  %8: bool[2,3] = gt(%3, -0.0)
  %9: scalar float = $item(%4)
  $assert(%8) expect true index 0 @1.1  # a file.py:12
  %10: f32[2,3] = $write_view t(%3, %7)
  %11: scalar int = $host_call(%2, %9) index 3 @2.1
  %12: c64[2] = view_as_complex(%7)
  %13: c128[2] = to_dtype(%12, :c128, none)
  %14: c64[2] = mul(%12, 0.5_-2.0j)
  %15: f32[2,3] = mul(%0, 5e-324)
  %16: u64[3,2] = to_dtype(%7, :u64, none)
  %17: u64[3,2] = mul(%16, 18446744073709551615)
  %18: i64[3,2] = to_dtype(%17, :i64, none)
  %19: i64[3,2] = mul(%18, -9223372036854775808)
  return %6, %9
}
)";
  start();
  CHECK(print(parse(text)) == text);
}

TEST_CASE("constants are numbered as they are met, those of nested graphs too", "[ir]") {
  start();
  const char* text = R"(graph "f"() {
  %0: f32[1] = constant 0
  %1: f32[2] = $switch() { graph "b"() {
    %0: f32[2] = constant 1
    return %0
  } }
  return %0, %1
}
)";
  const Graph g = parse(text, {.constants = {values({1}, {1}), values({2}, {2, 3})}});
  CHECK(print(g) == text);
  CHECK(constants_of(g).size() == 2);
  CHECK_THROWS_AS(parse(text, {.constants = {values({1}, {1})}}), Error);
}

TEST_CASE("what isn't a graph is refused with line and column", "[ir]") {
  start();
  CHECK_THROWS_WITH(parse("graph \"f\"(%0: f32[2]) {\n  %1: f32[2] = no_such_op(%0)\n  return %1 }"),
                    "graph text, line 2, column 26: expected the name of an op");
  CHECK_THROWS_AS(parse("graph"), Error);
  CHECK_THROWS_AS(parse("graph \"f\"() { return %0 } rest"), Error);
  CHECK_THROWS_AS(parse("graph \"f\"(%99999999999: f32[]) { return }"), Error);
}

TEST_CASE("the verifier finds what a stage forbids", "[ir]") {
  start();
  const auto violation = [](const char* text, Stage stage = Stage::Captured) {
    return find_violation(parse(text), stage);
  };
  CHECK(violation("graph \"f\"(%0: f32[2]) { return %0 }").empty());
  CHECK_THAT(violation("graph \"f\"(%0: f32[2]) { %1: f32[2] = neg(%2) return %1 }"),
             Catch::Contains("before it is defined"));
  CHECK_THAT(violation("graph \"f\"(%0: f32[2]) { %0: f32[2] = neg(%0) return %0 }"), Catch::Contains("defined twice"));
  CHECK_THAT(violation("graph \"f\"(%0: f32[2]) { %1: f32[2] = mul(%0) return %1 }"),
             Catch::Contains("has 1 arguments"));
  CHECK_THAT(violation("graph \"f\"(%0: f32[2]) { %1: f32[2] = neg((1)) return %1 }"),
             Catch::Contains("'self' can't be (1)"));
  CHECK_THAT(violation("graph \"f\"(%0: f32[]) { $assert(%0) expect true index 0 return }"),
             Catch::Contains("assert chain"));
  CHECK_THAT(violation("graph \"f\"(%0: f32[]) { $assert(%0) index 0 @1.2 $assert(%0) index 1 @1.2 return }"),
             Catch::Contains("don't ascend"));
  CHECK_THAT(violation("graph \"f\"() { $host_call() index 0 @2.1 return }", Stage::Portable),
             Catch::Contains("may not stand"));
  CHECK_THAT(violation("graph \"f\"(%0: handle) { return }", Stage::Portable),
             Catch::Contains("an object of the host"));
  CHECK_THAT(violation("graph \"f\"() { %0: scalar float = $item(3) return }"), Catch::Contains("is no value"));
  CHECK_THAT(violation("graph \"f\"(%0: f32[2]) { %1: f32[2] = $write_view t(%0, %0, 1) return %1 }"),
             Catch::Contains("where the view takes 2"));
  CHECK_THAT(
      violation(
          "graph \"f\"(%0: f32[2]) { %1: f32[2] = $fused(%0) { graph \"b\"(%0: f32[2]) { return %0 } } return %1 }"),
      Catch::Contains("may not stand"));
  CHECK_THAT(
      violation("graph \"f\"(%0: f32[2]) { %1: f32[3] = $call @b(%0) return %1 } graph @b(%0: f32[2]) { return %0 }"),
      Catch::Contains("another dtype or shape"));
}

TEST_CASE("a switch runs one case, or its exit", "[ir]") {
  const Graph g = parsed(R"(graph "f"(%0: i64[], %1: f32[3]) {
    %2: f32[3] = $switch(%0, %1)
      { graph "zero"(%0: f32[3]) { %1: f32[3] = neg(%0) return %1 } }
      { graph "one"(%0: f32[3]) { %1: f32[3] = add(%0, 10, 1) return %1 } }
      { graph "exit"(%0: f32[3]) { return %0 } }
    return %2 })");
  const Tensor x = values({3}, {1, 2, 3});
  for (auto [selector, expected] :
       {std::pair{0, std::vector<float>{-1, -2, -3}}, {1, {11, 12, 13}}, {7, {1, 2, 3}}, {-1, {1, 2, 3}}}) {
    Tensor s = Tensor::empty(Dims{}, DType::I64);
    *s->data_as<int64_t>() = selector;
    CHECK(bits(run_graph(g, {s, x})[0]) == bits(values({3}, expected)));
  }
}

TEST_CASE("a while loop runs until its condition fails", "[ir]") {
  const Graph g = parsed(R"(graph "f"(%0: f32[2], %1: f32[]) {
    %2: f32[2], %3: f32[] = $while(%0, %1)
      { graph "more"(%0: f32[2], %1: f32[]) { %2: bool[] = lt(%1, 5) return %2 } }
      { graph "step"(%0: f32[2], %1: f32[]) { %2: f32[2] = mul(%0, 2) %3: f32[] = add(%1, 1, 1) return %2, %3 } }
    return %2, %3 })");
  CHECK(bits(run_graph(g, {values({2}, {1, 3}), values({}, {0})})[0]) == bits(values({2}, {32, 96})));
  CHECK(bits(run_graph(g, {values({2}, {1, 3}), values({}, {9})})[0]) == bits(values({2}, {1, 3})));
}

TEST_CASE("a call runs a graph, on strided operands too", "[ir]") {
  const Graph g = parsed(R"(graph "f"(%0: f32[2,3]) {
    %1: f32[3,2] = t(%0)
    %2: f32[3,2] = $call @b(%1)
    return %2 }
    graph @b(%0: f32[3,2]) { %1: f32[3,2] = neg(%0) return %1 })");
  CHECK(bits(run_graph(g, {values({2, 3}, {1, 2, 3, 4, 5, 6})})[0]) == bits(values({3, 2}, {-1, -4, -2, -5, -3, -6})));
}
