// Products with one matrix that become one product.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "graph/ir/order.h"
#include "graph/ir/parse.h"
#include "graph/ir/print.h"
#include "graph/ir/verify.h"
#include "graph/passes/batch_products.h"
#include "graph/passes/drop_dead_code.h"
#include "graph/passes/merge_common.h"
#include "tests/unit/graph/support.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::graph::test;

namespace {

/// The body of a graph of four rows a: f32[1,64], matrices %4: f32[64,64] and %5: f32[128,64], a bias %6: f32[64] and a
/// weight %7: f32[64,128] as linear takes it.
std::string batched(const std::string& body, bool expected = true,
                    std::vector<std::pair<ValueId, uint32_t>> late_inputs = {}) {
  start();
  Graph g = parse(
      "graph \"g\"(%0: f32[1,64], %1: f32[1,64], %2: f32[1,64], %3: f32[2,64], %4: f32[64,64], %5: f32[128,64], "
      "%6: f32[64], %7: f32[64,128]) { " +
          body + " }",
      {});
  g.late_inputs = std::move(late_inputs);
  verify(g, Stage::Captured, "in a test");
  CHECK(batch_products(g) == expected);
  verify(g, Stage::Optimized, "in a test");
  merge_common(g);
  drop_dead_code(g);
  std::string text = print(g);
  text.erase(0, text.find('\n') + 1);
  return text;
}

/// Four products with %4 and their sines, which are what the graph returns.
const std::string kFour =
    "%8: f32[1,64] = mm(%0, %4) %9: f32[1,64] = mm(%1, %4) %10: f32[1,64] = mm(%2, %4) %11: f32[2,64] = mm(%3, %4) ";
const std::string kSines =
    "%12: f32[1,64] = sin(%8) %13: f32[1,64] = sin(%9) %14: f32[1,64] = sin(%10) %15: f32[2,64] = sin(%11) ";

}  // namespace

TEST_CASE("products that don't wait for each other become one", "[passes]") {
  CHECK(batched(kFour + kSines + "return %12, %13, %14, %15") ==
        lines({"%16: f32[5,64] = cat([%0, %1, %2, %3], 0)", "%17: f32[5,64] = mm(%16, %4)",
               "%8: f32[1,64] = narrow(%17, 0, 0, 1)", "%9: f32[1,64] = narrow(%17, 0, 1, 1)",
               "%10: f32[1,64] = narrow(%17, 0, 2, 1)", "%11: f32[2,64] = narrow(%17, 0, 3, 2)",
               "%12: f32[1,64] = sin(%8)", "%13: f32[1,64] = sin(%9)", "%14: f32[1,64] = sin(%10)",
               "%15: f32[2,64] = sin(%11)", "return %12, %13, %14, %15"}));
}

TEST_CASE("products that wait for each other, few ones and ones that are seen outside stay", "[passes]") {
  batched(kFour + kSines + "return %8, %9, %10, %11", false);
  batched(
      "%8: f32[1,64] = mm(%0, %4) %9: f32[1,64] = mm(%8, %4) %10: f32[1,64] = mm(%9, %4) "
      "%11: f32[1,64] = mm(%10, %4) %12: f32[1,64] = mm(%11, %4) %13: f32[1,64] = sin(%12) return %13",
      false);
  batched(
      "%8: f32[1,64] = mm(%0, %4) %9: f32[1,64] = mm(%1, %4) %10: f32[1,64] = mm(%2, %4) "
      "%12: f32[1,64] = sin(%8) %13: f32[1,64] = sin(%9) %14: f32[1,64] = sin(%10) return %12, %13, %14",
      false);
  batched(
      "%8: f32[1,64] = mm(%0, %4) %9: f32[1,64] = mm(%1, %4) %10: f32[1,64] = mm(%8, %4) "
      "%11: f32[1,64] = mm(%9, %4) %12: f32[1,64] = sin(%10) %13: f32[1,64] = sin(%11) return %12, %13",
      false);
}

TEST_CASE("products that wait for different parts of the run stay apart", "[passes]") {
  const std::string body = kFour + kSines + "return %12, %13, %14, %15";
  batched(body, false, {{0, 0}, {1, 0}, {2, 1}, {3, 1}});
  batched(body, false, {{3, 0}});
  CHECK(batched(body, true, {{0, 1}, {1, 1}, {2, 1}, {3, 1}}) == batched(body));
}

TEST_CASE("of rows that are concatenated those are multiplied together that wait for nothing", "[passes]") {
  std::string body = "%8: f32[1,64] = neg(%0) ", expected;
  int h = 8, next = 9;
  for (int t = 0; t < 4; t++) {
    body += fmt::format(
        "%{}: f32[1,128] = cat([%{}, %{}], 1) %{}: f32[1,64] = addmm(%6, %{}, %5, 1, 1) "
        "%{}: f32[1,64] = tanh(%{}) ",
        next, t % 3, h, next + 1, next, next + 2, next + 1);
    h = next + 2;
    next += 3;
  }
  const std::string text = batched(body + fmt::format("return %{}", h));
  INFO(text);
  CHECK(text.find("f32[4,64] = cat([%0, %1, %2, %0], 0)") != text.npos);
  CHECK(text.find("f32[64,64] = narrow(%5, 0, 0, 64)") != text.npos);
  CHECK(text.find("f32[64,64] = narrow(%5, 0, 64, 64)") != text.npos);
  CHECK(text.find("f32[4,64] = addmm(%6, ") != text.npos);
  CHECK(text.find("f32[1,128]") == text.npos);
}

TEST_CASE("linear's weight is cut along its columns", "[passes]") {
  std::string body = "%8: f32[1,64] = neg(%0) ";
  int h = 8, next = 9;
  for (int t = 0; t < 4; t++) {
    body += fmt::format(
        "%{}: f32[1,128] = cat([%{}, %{}], 1) %{}: f32[1,64] = linear(%{}, %7, %6) "
        "%{}: f32[1,64] = tanh(%{}) ",
        next, h, t % 3, next + 1, next, next + 2, next + 1);
    h = next + 2;
    next += 3;
  }
  const std::string text = batched(body + fmt::format("return %{}", h));
  INFO(text);
  CHECK(text.find("f32[64,64] = narrow(%7, 1, 64, 64)") != text.npos);
  CHECK(text.find("f32[4,64] = linear(") != text.npos);
  CHECK(text.find("f32[64,64] = t(") != text.npos);
}

TEST_CASE("of columns of results those are computed together that wait for nothing", "[passes]") {
  // As in the backward pass of a layer in time: half of each product goes on in time, half goes down.
  std::string body = "%8: f32[1,64] = neg(%0) %9: f32[128,64] = neg(%5) %10: f32[64,128] = t(%9) ", outputs;
  int h = 8, next = 11;
  for (int t = 0; t < 4; t++) {
    body += fmt::format(
        "%{}: f32[1,128] = mm(%{}, %10) %{}: f32[1,64] = narrow(%{}, 1, 0, 64) "
        "%{}: f32[1,64] = narrow(%{}, 1, 64, 64) %{}: f32[1,64] = tanh(%{}) %{}: f32[1,64] = sin(%{}) ",
        next, h, next + 1, next, next + 2, next, next + 3, next + 2, next + 4, next + 1);
    outputs += fmt::format("%{}, ", next + 4);
    h = next + 3;
    next += 5;
  }
  const std::string text = batched(body + "return " + outputs + fmt::format("%{}", h));
  INFO(text);
  CHECK(text.find("f32[64,64] = narrow(%10, 1, 0, 64)") != text.npos);
  CHECK(text.find("f32[4,64] = mm(") != text.npos);
}

TEST_CASE("a chain of steps has the results that it has without the pass", "[passes]") {
  start();
  const std::vector<Tensor> inputs = {leaf(filled({128, 64}, 1)), filled({4, 1, 64}, 2), leaf(filled({64}, 3)),
                                      filled({1, 64}, 4)};
  TraceMaker t(inputs);
  TraceId state = 3;
  for (int64_t step = 0; step < 4; step++) {
    const TraceId x = t.call("select", {V{1}, Arg(int64_t{0}), Arg(step)});
    const TraceId both = t.call("cat", {L{{x, state}}, Arg(int64_t{1})});
    state = t.call("tanh", {V{t.call("addmm", {V{2}, V{both}, V{0}, Arg(int64_t{1}), Arg(int64_t{1})})}});
  }
  t.backward(t.call("sum", {V{state}}));
  t.output(state);
  t.output(t.read_grad(0));
  t.output(t.read_grad(2));

  std::vector<std::vector<Tensor>> results;
  for (const char* passes : {"", "-batch"}) {
    setenv("TERRA_PASSES", passes, 1);
    const std::shared_ptr<Compiled> compiled = compile(t.trace);
    const bool has_batch = compiled->text().find("f32[4,64] = addmm(") != std::string::npos;
    CHECK(has_batch == (passes[0] == '\0'));
    std::vector<RunOutput> outputs;
    const std::vector<Tensor> given = {leaf(filled({128, 64}, 1)), inputs[1], leaf(filled({64}, 3)), inputs[3]};
    REQUIRE(compiled->run(lend(given), {}, nullptr, outputs).status == RunStatus::Done);
    results.emplace_back();
    for (const RunOutput& output : outputs) results.back().push_back(std::get<Tensor>(output));
  }
  unsetenv("TERRA_PASSES");
  for (size_t o = 0; o < 3; o++) {
    const auto* batched_bits = static_cast<const float*>(results[0][o]->data());
    const auto* plain_bits = static_cast<const float*>(results[1][o]->data());
    for (int64_t i = 0; i < results[0][o].numel(); i++)
      CHECK(batched_bits[i] == Approx(plain_bits[i]).epsilon(1e-4).margin(1e-4));
  }
}

TEST_CASE("nodes are put behind what they use and behind their chain", "[passes]") {
  start();
  Graph g = parse(
      "graph \"g\"(%0: f32[2]) { %1: f32[2] = sin(%0) %2: f32[2] = cos(%0) %3: f32[2] = add(%1, %2, 1) "
      "%4: f32[2] = neg(%3) return %4 }",
      {});
  std::rotate(g.nodes.begin(), g.nodes.begin() + 2, g.nodes.end());  // add, neg, sin, cos
  restore_order(g);
  verify(g, Stage::Captured, "in a test");
  CHECK(g.nodes[0].results[0] == 1);
  CHECK(g.nodes[1].results[0] == 2);
  CHECK(g.nodes[2].results[0] == 3);
  CHECK(g.nodes[3].results[0] == 4);
  g.nodes[0].args[0] = Use{4};
  CHECK_THROWS(restore_order(g));
}
