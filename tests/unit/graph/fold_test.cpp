// The parts of a region as one, and apart again.
#include "graph/gradient/fold.h"

#include <catch2/catch.hpp>

#include "engine/autograd/autograd.h"
#include "engine/ops/call.h"
#include "tests/unit/graph/support.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::graph::test;

namespace {

constexpr auto kInput = GradientTarget::Kind::Input, kRoot = GradientTarget::Kind::Root;

ProgramRoot root(uint32_t spec, uint32_t part, uint32_t place) {
  return {spec, part, place, {DType::F32, Dims{2}, false, Device()}, "AddBackward0", kNoValue};
}

/// x -> a; a, w -> inside; inside, x -> b: three parts, of which the program sees a and b.
struct Drawn {
  std::vector<ProgramRoot> roots = {root(0, 0, 0), root(ProgramRoot::kInside, 1, 0), root(1, 2, 0)};
  std::vector<ProgramPart> parts = {
      {{0}, 0, {{kInput, 0}}, {{{true}}, {{{true}, {true}, {}}}, {{2}}}},
      {{1}, 3, {{kRoot, 0}, {kInput, 1}}, {{{true, true}}, {{{true}, {false, true}, {}}}, {{4, 3}}}},
      {{2}, 8, {{kRoot, 1}, {kInput, 0}}, {{{true, true}}, {}, {{1, 1}}}},
  };
};

struct Step {
  Tensor x, w, h, y;
};

/// h = tanh(x * w), y = h * w.
Step run(Compiled& compiled) {
  Step s{leaf(filled({3, 4}, 1)), leaf(filled({3, 4}, 2)), {}, {}};
  std::vector<RunOutput> outputs;
  REQUIRE(compiled.run(lend(std::vector<Tensor>{s.x, s.w}), {}, nullptr, outputs).status == RunStatus::Done);
  s.h = std::get<Tensor>(outputs[0]);
  s.y = std::get<Tensor>(outputs[1]);
  return s;
}

std::shared_ptr<Compiled> compiled_step() {
  TraceMaker t({leaf(filled({3, 4}, 1)), leaf(filled({3, 4}, 2))});
  const TraceId h = t.call("tanh", {V{t.call("mul", {V{0}, V{1}})}});
  t.output(h);
  t.output(t.call("mul", {V{h}, V{1}}));
  return compile(t.trace);
}

/// What both results lead to is one node.
bool is_one(const Step& s) {
  return autograd::history(s.h).node->edges[0].node == autograd::history(s.y).node->edges[0].node;
}

std::vector<std::string> gradients(const Step& s) {
  const Tensor roots[] = {(*find_op("sum"))(s.y), (*find_op("sum"))((*find_op("mul"))(s.h, s.h))};
  autograd::backward(roots, {}, false, false);
  return {bits(autograd::grad(s.x)), bits(autograd::grad(s.w))};
}

}  // namespace

TEST_CASE("all parts have the roots that the program sees, and hand on to inputs", "[fold]") {
  const Drawn d;
  const ProgramPart all = fold(d.roots, d.parts);
  CHECK(all.roots == std::vector<uint32_t>{0, 2});
  REQUIRE(all.targets.size() == 2);
  CHECK((all.targets[0].index == 0 && all.targets[1].index == 1));
  CHECK(all.ways.leads == std::vector<std::vector<bool>>{{true, false}, {true, true}});
  CHECK(leads_on(all, d.parts) == std::vector<bool>{true, false});
}

TEST_CASE("calls of all parts are passed on the ways that lead through the parts, the last part first", "[fold]") {
  const Drawn d;
  const ProgramPart all = fold(d.roots, d.parts);
  REQUIRE(all.ways.saving.size() == 2);
  CHECK(all.ways.saving[0].roots == std::vector<bool>{true, true});
  CHECK(all.ways.saving[0].targets == std::vector<bool>{true, false});
  CHECK(all.ways.saving[1].roots == std::vector<bool>{false, true});
  CHECK(all.ways.saving[1].targets == std::vector<bool>{false, true});
  CHECK(all.ways.calls_before == std::vector<std::vector<uint32_t>>{{7, 0}, {7, 4}});
}

TEST_CASE("gradients for a root come to what it leads to", "[fold]") {
  const Drawn d;
  std::vector<bool> last = {false, false, true}, first = {true, false, false};
  close_over(last, d.parts);
  close_over(first, d.parts);
  CHECK(last == std::vector<bool>{true, true, true});
  CHECK(first == std::vector<bool>{true, false, false});
}

TEST_CASE("one node stands for all parts until somebody looks between them", "[fold]") {
  start();
  const auto compiled = compiled_step();
  const Step plain = run(*compiled), looked_at = run(*compiled);
  REQUIRE(is_one(plain));
  int passed = 0;
  autograd::add_hook(looked_at.y, [](const Tensor&) { return Tensor(); });
  CHECK(is_one(looked_at));  // nothing follows from it
  autograd::add_hook(looked_at.h, [&](const Tensor& g) {
    ++passed;
    return Tensor(g);
  });
  CHECK_FALSE(is_one(looked_at));
  CHECK(gradients(looked_at) == gradients(plain));
  CHECK(passed == 1);
  int apart = 0;
  while (!is_one(run(*compiled))) REQUIRE(++apart < 100);
  CHECK(apart > 0);
}

TEST_CASE("gradients of a result between parts are whole", "[fold]") {
  start();
  const auto compiled = compiled_step();
  const Step s = run(*compiled);
  REQUIRE(is_one(s));
  const Tensor roots[] = {(*find_op("sum"))(s.y), (*find_op("sum"))(s.h)}, wanted[] = {s.h};
  const std::vector<Tensor> g = autograd::gradients(roots, {}, wanted, true, false, false);
  const GradMode off(false);
  CHECK(bits(g[0]) == bits((*find_op("add"))((*find_op("full"))(Dims{3, 4}, 1.0, DType::F32), s.w)));
}
