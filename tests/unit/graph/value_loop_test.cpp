// Loops that a tensor's value ends become `while` nodes.
#include <catch2/catch.hpp>

#include "graph/trace/roll.h"
#include "tests/unit/graph/support.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::graph::test;

namespace {

/// do { h = h * w } while (sum(h) > 1), and in place where `writes`: x itself is halved.
struct RolledLoop {
  explicit RolledLoop(int rounds, bool writes = false) : t({filled({3}, 1), values({3}, {0.5f, 0.4f, 0.3f})}) {
    TraceId h = writes ? 0 : t.call("mul", {V{0}, Arg(8.0)});
    plan.by_value = true;
    for (int k = 0; k < rounds; ++k) {
      plan.rounds.push_back(t.trace.records.size());
      if (k == 0) plan.before = {h};
      if (k == 1) plan.after = {h};
      if (writes)
        t.in_place("mul", {V{0}, V{1}});
      else
        h = t.call("mul", {V{h}, V{1}});
      const TraceId sum = t.call("sum", {V{h}});
      t.assert_truth(t.call("gt", {V{sum}, Arg(1.0)}), k + 1 < rounds);
    }
    state = h;
  }
  Rolled roll() { return graph::roll(t.trace, plan, t.trace.outputs, t.trace.values); }

  TraceMaker t;
  TraceId state = 0;
  LoopPlan plan;
};

Tensor times(const Tensor& t, float factor) {
  static const Op* mul = find_op("mul");
  return (*mul)(t, static_cast<double>(factor));
}

}  // namespace

TEST_CASE("one graph runs a loop as often as a tensor's value wants", "[value loop]") {
  RolledLoop program(3);
  program.t.output(program.state);
  const Rolled rolled = program.roll();
  REQUIRE(rolled.count > 0);
  CHECK(rolled.asserts == 3);
  const auto compiled = compile(program.t.trace);
  CHECK(compiled->text().find("$while") != std::string::npos);
  for (float factor : {1.f, 40.f, 0.01f, 1e6f, 3.f}) {
    Replay replay(program.t.trace);
    const Tensor x = times(filled({3}, 1), factor), w = values({3}, {0.5f, 0.4f, 0.3f});
    replay.set(0, x), replay.set(1, w);
    replay.run();
    CHECK(bits(run_once(*compiled, {x, w})) == bits(replay.tensor(program.t.trace.outputs[0])));
  }
}

TEST_CASE("a loop that writes counts its writes", "[value loop]") {
  RolledLoop program(3, true);
  program.t.output(program.t.call("neg", {V{0}}));
  REQUIRE(program.roll().count > 0);
  const auto compiled = compile(program.t.trace);
  for (float factor : {1.f, 40.f, 0.01f, 1e6f}) {
    const Tensor x = times(filled({3}, 1), factor), y = times(filled({3}, 1), factor);
    const Tensor w = values({3}, {0.5f, 0.4f, 0.3f});
    Replay replay(program.t.trace);
    replay.set(0, y), replay.set(1, w);
    replay.run();
    const uint32_t before = x->storage->version(), eager = y->storage->version();
    CHECK(bits(run_once(*compiled, {x, w})) == bits(replay.tensor(program.t.trace.outputs[0])));
    CHECK(bits(x) == bits(y));
    CHECK(x->storage->version() - before == eager);
  }
}

TEST_CASE("a loop whose values lead to gradients is no loop of the graph", "[value loop]") {
  RolledLoop program(3);
  program.t.trace.inputs[1].requires_grad = true;
  program.t.output(program.state);
  REQUIRE(program.roll().count > 0);
  CHECK_THROWS_AS(compile(program.t.trace), LoopRefused);
}

TEST_CASE("what a loop begins with may be used behind it", "[value loop]") {
  RolledLoop program(3);
  program.t.output(program.t.call("add", {V{program.state}, V{program.plan.before[0]}}));
  REQUIRE(program.roll().count > 0);
  const auto compiled = compile(program.t.trace);
  for (float factor : {0.01f, 40.f}) {
    Replay replay(program.t.trace);
    const Tensor x = times(filled({3}, 1), factor), w = values({3}, {0.5f, 0.4f, 0.3f});
    replay.set(0, x), replay.set(1, w);
    replay.run();
    CHECK(bits(run_once(*compiled, {x, w})) == bits(replay.tensor(program.t.trace.outputs[0])));
  }
}

TEST_CASE("a run that is interrupted in an endless loop has done nothing", "[value loop]") {
  RolledLoop program(3);
  program.t.output(program.state);
  REQUIRE(program.roll().count > 0);
  const auto compiled = compile(program.t.trace);
  static int asked;
  asked = 0;
  set_interrupt_poll([] { return ++asked > 500; });
  std::vector<RunOutput> outputs;
  const std::vector<Tensor> inputs = {values({3}, {1, 1, 1}), values({3}, {1, 1, 1})};
  const RunResult result = compiled->run(lend(inputs), {}, nullptr, outputs);
  set_interrupt_poll(nullptr);
  CHECK(result.status == RunStatus::Interrupted);
}
