// Rounds of a loop that went different ways become rounds of one loop, with a branch as a `switch` node.
#include <catch2/catch.hpp>

#include "engine/ops/call.h"
#include "graph/trace/roll.h"
#include "tests/unit/graph/support.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::graph::test;

namespace {

/// do { h = h * 0.75; if (sum(h) > 2) h = h * w; s = sum(h) } while (s > 1), of which each round went as `ways` says.
struct RolledLoop {
  enum What { Plain, FromInput, WritesBehind, WritesInside, Contradicts };

  explicit RolledLoop(const std::vector<bool>& ways, What what = Plain)
      : t({filled({3}, 1), values({3}, {0.5f, 0.4f, 0.3f})}) {
    TraceId h = what == FromInput ? 0 : t.call("mul", {V{0}, Arg(8.0)});
    plan.by_value = true;
    for (size_t k = 0; k < ways.size(); ++k) {
      plan.rounds.push_back(t.trace.records.size());
      plan.held.push_back({h});
      if (what != FromInput) h = t.call("mul", {V{h}, Arg(0.75)});
      ask(t.call("gt", {V{t.call("sum", {V{h}})}, Arg(2.0)}), ways[k], 0, h);
      if (ways[k] && what == WritesInside)
        t.in_place("mul", {V{h}, V{1}});
      else if (ways[k])
        inside = t.call("mul", {V{h}, V{1}}), h = t.call("clone", {V{inside}});
      if (what == Contradicts && ways[k] && k > 0) h = t.call("neg", {V{h}});
      if (what == WritesBehind) t.in_place("mul", {V{h}, Arg(0.5)});
      ask(t.call("gt", {V{t.call("sum", {V{h}})}, Arg(1.0)}), k + 1 < ways.size(), 1, h);
    }
    plan.end = t.trace.records.size();
    state = h;
  }

  void ask(TraceId truth, bool is, LoopPlan::State place, TraceId h) {
    plan.places.push_back({t.trace.records.size(), place, {h, truth}});
    t.assert_truth(truth, is);
  }
  Rolled roll() { return graph::roll(t.trace, plan, t.trace.outputs, t.trace.values); }

  TraceMaker t;
  TraceId state = 0, inside = 0;
  LoopPlan plan;
};

Tensor times(const Tensor& a, const Tensor& b) {
  static const Op* mul = find_op("mul");
  return (*mul)(a, b);
}
Tensor times(const Tensor& a, double factor) {
  static const Op* mul = find_op("mul");
  return (*mul)(a, factor);
}
float sum(const Tensor& t) {
  static const Op* op = find_op("sum");
  return *(*op)(t)->data_as<float>();
}

Tensor eagerly(const Tensor& x, const Tensor& w) {
  Tensor h = times(x, 8.0);
  do {
    h = times(h, 0.75);
    if (sum(h) > 2) h = times(h, w);
  } while (sum(h) > 1);
  return h;
}

}  // namespace

TEST_CASE("rounds that went different ways become one loop", "[branches in loops]") {
  const std::vector<std::vector<bool>> patterns = {
      {true, false, false}, {false, true}, {true, true, false, true}, {false, false, true, false}};
  for (const auto& ways : patterns) {
    RolledLoop program(ways);
    program.t.output(program.state);
    const Rolled rolled = program.roll();
    REQUIRE(rolled.count > 0);
    CHECK(rolled.asserts == 2 * ways.size());
    CHECK(to_string(program.t.trace).find("branch on") != std::string::npos);
    const auto compiled = compile(program.t.trace);
    CHECK(compiled->text().find("switch") != std::string::npos);
    for (double factor : {1.0, 40.0, 0.01, 1e6, 3.0, 0.11}) {
      const Tensor x = times(filled({3}, 1), factor), w = values({3}, {0.5f, 0.4f, 0.3f});
      Replay replay(program.t.trace);
      replay.set(0, x), replay.set(1, w);
      replay.run();
      const std::string expected = bits(eagerly(x, w));
      CHECK(bits(replay.tensor(program.t.trace.outputs[0])) == expected);
      CHECK(bits(run_once(*compiled, {x, w})) == expected);
    }
  }
}

TEST_CASE("branches that went one way only, or contradict each other, are none", "[branches in loops]") {
  RolledLoop one({true, true, true});
  one.t.output(one.state);
  CHECK(one.roll().count == 0);

  RolledLoop other({true, false, true, false}, RolledLoop::Contradicts);
  other.t.output(other.state);
  const size_t records = other.t.trace.records.size();
  CHECK(other.roll().count == 0);
  CHECK(other.t.trace.records.size() == records);
}

TEST_CASE("what a way made for itself isn't there behind the loop", "[branches in loops]") {
  RolledLoop program({true, false, true});
  program.t.output(program.t.call("add", {V{program.state}, V{program.inside}}));
  CHECK(program.roll().count == 0);
}

TEST_CASE("a result that may be the program's own tensor is refused", "[branches in loops]") {
  RolledLoop program({true, false, true}, RolledLoop::FromInput);
  program.t.output(program.state);
  REQUIRE(program.roll().count > 0);
  CHECK_THROWS_AS(compile(program.t.trace), LoopRefused);
}

TEST_CASE("nobody writes into what a branch may have left as it was", "[branches in loops]") {
  for (auto what : {RolledLoop::WritesBehind, RolledLoop::WritesInside}) {
    RolledLoop program({true, false, true, false}, what);
    program.t.output(program.state);
    REQUIRE(program.roll().count > 0);
    CHECK_THROWS_AS(compile(program.t.trace), LoopRefused);
  }
}

TEST_CASE("a branch in a loop that leads to gradients is none of the graph", "[branches in loops]") {
  RolledLoop program({true, false, true});
  program.t.trace.inputs[1].requires_grad = true;
  program.t.output(program.state);
  REQUIRE(program.roll().count > 0);
  CHECK_THROWS_AS(compile(program.t.trace), LoopRefused);
}
