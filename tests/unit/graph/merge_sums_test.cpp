// Sums of small terms that become one product, one row sum, one concatenation.
#include <catch2/catch.hpp>

#include "graph/ir/parse.h"
#include "graph/ir/print.h"
#include "graph/ir/verify.h"
#include "graph/passes/drop_dead_code.h"
#include "graph/passes/merge_sums.h"
#include "graph/passes/narrow_products.h"
#include "tests/unit/graph/support.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::graph::test;

namespace {

/// The body of a graph of a: f32[2,30], b: f32[2,40], c: f32[3,30], d: f32[3,40], s: f32[30,40].
std::string merged(const std::string& body, bool expected = true) {
  start();
  Graph g = parse(
      "graph \"g\"(%0: f32[2,30], %1: f32[2,40], %2: f32[3,30], %3: f32[3,40], %4: f32[30,40]) { " + body + " }", {});
  verify(g, Stage::Captured, "in a test");
  CHECK(merge_sums(g) == expected);
  verify(g, Stage::Optimized, "in a test");
  drop_dead_code(g);
  std::string text = print(g);
  text.erase(0, text.find('\n') + 1);
  return text;
}

constexpr const char* kProducts =
    "%5: f32[30,2] = t(%0) %6: f32[30,40] = mm(%5, %1) %7: f32[30,3] = t(%2) %8: f32[30,40] = mm(%7, %3) ";

}  // namespace

TEST_CASE("products of transposed operands become one product", "[passes]") {
  CHECK(merged(std::string(kProducts) + "%9: f32[30,40] = add(%6, %8, 1) return %9") ==
        lines({"%10: f32[5,40] = cat([%1, %3], 0)", "%11: f32[5,30] = cat([%0, %2], 0)", "%12: f32[30,5] = t(%11)",
               "%9: f32[30,40] = mm(%12, %10)", "return %9"}));
}

TEST_CASE("other terms of the sum stay", "[passes]") {
  CHECK(
      merged(std::string(kProducts) + "%9: f32[30,40] = add(%6, %4, 1) %10: f32[30,40] = add(%9, %8, 1) return %10") ==
      lines({"%11: f32[5,40] = cat([%1, %3], 0)", "%12: f32[5,30] = cat([%0, %2], 0)", "%13: f32[30,5] = t(%12)",
             "%14: f32[30,40] = mm(%13, %11)", "%10: f32[30,40] = add(%14, %4, 1)", "return %10"}));
}

TEST_CASE("products that somebody else sees, scaled or long ones stay", "[passes]") {
  merged(std::string(kProducts) + "%9: f32[30,40] = add(%6, %8, 1) return %9, %6", false);
  merged(std::string(kProducts) + "%9: f32[30,40] = add(%6, %8, 2) return %9", false);
  merged(
      "%5: f32[40,2] = t(%1) %6: f32[2,2] = mm(%1, %5) %7: f32[40,3] = t(%3) %8: f32[40,2] = narrow(%7, 1, 0, 2) "
      "%9: f32[2,2] = mm(%1, %8) %10: f32[2,2] = add(%6, %9, 1) return %10",
      false);
}

TEST_CASE("row sums become one row sum", "[passes]") {
  CHECK(merged("%5: f32[40] = sum(%1, (0), false) %6: f32[40] = sum(%3, (0), false) %7: f32[40] = add(%5, %6, 1) "
               "return %7") ==
        lines({"%8: f32[5,40] = cat([%1, %3], 0)", "%7: f32[40] = sum(%8, (0), false)", "return %7"}));
}

TEST_CASE("slices that tile the whole become a concatenation", "[passes]") {
  const std::string slices =
      "%5: f32[5,30] = pad_slice(%2, (5, 30), 0, 2, 1) %6: f32[5,30] = pad_slice(%0, (5, 30), 0, 0, 1) "
      "%7: f32[5,30] = add(%5, %6, 1) return %7";
  CHECK(merged(slices) == lines({"%7: f32[5,30] = cat([%0, %2], 0)", "return %7"}));
  merged(
      "%5: f32[6,30] = pad_slice(%2, (6, 30), 0, 3, 1) %6: f32[6,30] = pad_slice(%0, (6, 30), 0, 0, 1) "
      "%7: f32[6,30] = add(%5, %6, 1) return %7",
      false);
}

TEST_CASE("of a product only what is wanted is computed", "[passes]") {
  start();
  const auto narrowed = [](const std::string& body, bool expected) {
    Graph g = parse("graph \"g\"(%0: f32[2,30], %1: f32[30,40]) { %2: f32[2,40] = mm(%0, %1) " + body + " }", {});
    CHECK(narrow_products(g) == expected);
    verify(g, Stage::Optimized, "in a test");
    std::string text = print(g);
    return text.erase(0, text.find('\n') + 1);
  };
  CHECK(narrowed("%3: f32[2,7] = narrow(%2, 1, 5, 7) return %3", true) ==
        lines({"%4: f32[30,7] = narrow(%1, 1, 5, 7)", "%3: f32[2,7] = mm(%0, %4)", "return %3"}));
  CHECK(narrowed("%3: f32[1,40] = narrow(%2, 0, 1, 1) return %3", true) ==
        lines({"%4: f32[1,30] = narrow(%0, 0, 1, 1)", "%3: f32[1,40] = mm(%4, %1)", "return %3"}));
  narrowed("%3: f32[2,7] = narrow(%2, 1, 5, 7) %4: f32[2,33] = narrow(%2, 1, 7, 33) return %3, %4", false);
}

TEST_CASE("a weight that is used at every step has the gradient that it has without the pass", "[passes]") {
  start();
  const std::vector<Tensor> inputs = {leaf(filled({24, 24}, 1)), filled({2, 24}, 2)};
  TraceMaker t(inputs);
  TraceId state = 1;
  for (int step = 0; step < 5; step++) state = t.call("tanh", {V{t.call("matmul", {V{state}, V{0}})}});
  t.backward(t.call("sum", {V{state}}));
  t.output(t.read_grad(0));

  std::vector<Tensor> gradients;
  std::vector<size_t> products;
  for (const char* passes : {"", "-sums"}) {
    setenv("TERRA_PASSES", passes, 1);
    const std::shared_ptr<Compiled> compiled = compile(t.trace);
    std::vector<RunOutput> outputs;
    REQUIRE(
        compiled->run(lend(std::vector<Tensor>{leaf(filled({24, 24}, 1)), inputs[1]}), {}, nullptr, outputs).status ==
        RunStatus::Done);
    gradients.push_back(std::get<Tensor>(outputs[0]));
    const std::string text = compiled->text();
    products.push_back(0);
    for (size_t at = text.find("f32[24,24] = mm("); at != text.npos; at = text.find("f32[24,24] = mm(", at + 1))
      products.back()++;
  }
  unsetenv("TERRA_PASSES");
  CHECK(products == std::vector<size_t>{1, 5});
  const auto* merged_bits = static_cast<const float*>(gradients[0]->data());
  const auto* plain_bits = static_cast<const float*>(gradients[1]->data());
  for (int64_t i = 0; i < 24 * 24; i++) CHECK(merged_bits[i] == Approx(plain_bits[i]).epsilon(1e-4).margin(1e-6));
}
