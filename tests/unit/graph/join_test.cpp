// Paths that meet again behind a branch run as segments, in ways that no path went as a whole.
#include <catch2/catch.hpp>

#include <array>

#include "graph/cache/switched.h"
#include "tests/unit/graph/support.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::graph::test;

namespace {

/// a = x * 2 if sum(x) > 0 else x - 1; a = a + y if sum(y) > 0 else a * y; return a
Trace path(bool first, bool second, uint64_t place = 7) {
  TraceMaker t({filled({3}, 1), filled({3}, 2)});
  const auto decide = [&](TraceId of, bool truth, TraceMark mark) {
    t.assert_truth(t.call("gt", {V{t.call("sum", {V{of}})}, Arg(0.0)}), truth);
    t.trace.marks.push_back(std::move(mark));
  };
  decide(0, first, {{1}, {}});
  TraceId a = first ? t.call("mul", {V{0}, Arg(2.0)}) : t.call("sub", {V{0}, Arg(1.0)});
  decide(1, second, {{place}, {a}});
  a = second ? t.call("add", {V{a}, V{1}}) : t.call("mul", {V{a}, V{1}});
  t.output(a);
  return std::move(t.trace);
}

Tensor signed_values(bool positive, float by) {
  const float s = positive ? by : -by;
  return values({3}, {s, 2 * s, 3 * s});
}

}  // namespace

TEST_CASE("two paths that meet serve four ways", "[join]") {
  const Trace both = path(true, true), none = path(false, false);
  const auto joined = compile_joined({&both, &none});
  REQUIRE(joined);
  for (bool first : {false, true}) {
    for (bool second : {false, true}) {
      PathInputs inputs;
      const std::vector<Tensor> tensors = {signed_values(first, 1.5f), signed_values(second, 0.5f)};
      for (const Tensor& t : tensors) inputs.tensors.push_back(t.get());
      uint32_t end = 9, committed = 9;
      std::vector<RunOutput> outputs;
      const Switched::Caller caller{[&](uint32_t) { return &inputs; }, [&](uint32_t p) { return committed = p, true; }};
      REQUIRE(joined->run(0, caller, outputs, end).status == RunStatus::Done);
      CHECK(end == (second ? 0 : 1));
      CHECK(committed == end);
      const Trace way = path(first, second);
      Replay eager(way);
      eager.set(0, tensors[0]), eager.set(1, tensors[1]);
      eager.run();
      CHECK(eager.failed_assert() == -1);
      CHECK(bits(std::get<Tensor>(outputs[0])) == bits(eager.tensor(way.outputs[0])));
    }
  }
}

TEST_CASE("a way that nobody went is told", "[join]") {
  const Trace one = path(true, true), other = path(false, true);
  const auto joined = compile_joined({&one, &other});
  REQUIRE(joined);
  PathInputs inputs;
  const std::vector<Tensor> tensors = {signed_values(true, 1), signed_values(false, 1)};
  for (const Tensor& t : tensors) inputs.tensors.push_back(t.get());
  uint32_t end = 9;
  std::vector<RunOutput> outputs;
  CHECK(joined->run(0, {[&](uint32_t) { return &inputs; }, nullptr}, outputs, end).status == RunStatus::AssertFailed);
}

TEST_CASE("a run says between which paths it changes, and takes over their scalars", "[join]") {
  const auto scaled = [](bool first, bool second) {  // what one side of the first branch leaves is scalar 0
    TraceMaker t({filled({3}, 1), filled({3}, 2)});
    const TraceId scale = t.scalar(Scalar::Kind::Float);
    const auto decide = [&](TraceId of, bool truth, TraceMark mark) {
      t.assert_truth(t.call("gt", {V{t.call("sum", {V{of}})}, Arg(0.0)}), truth);
      t.trace.marks.push_back(std::move(mark));
    };
    decide(0, first, {{1}, {}});
    decide(1, second, {{7}, {}});
    t.output(t.call(second ? "mul" : "add", {V{1}, V{scale}}));
    return std::move(t.trace);
  };
  const Trace both = scaled(true, true), none = scaled(false, false);
  const auto joined = compile_joined({&both, &none});
  REQUIRE(joined);
  const std::vector<Tensor> tensors = {signed_values(false, 1), signed_values(true, 1)};
  PathInputs inputs[2];
  for (PathInputs& of : inputs) {
    for (const Tensor& t : tensors) of.tensors.push_back(t.get());
    of.scalars = {Scalar(1.0)};
  }
  std::vector<std::array<uint32_t, 3>> arrivals;
  bool agrees = true;
  const Switched::Caller caller{[&](uint32_t p) { return &inputs[p]; }, nullptr,
                                [&](uint32_t from, uint32_t path, uint32_t place) {
                                  arrivals.push_back({from, path, place});
                                  if (place == 1) inputs[path].scalars[0] = Scalar(5.0);
                                  return agrees;
                                }};
  std::vector<RunOutput> outputs;
  uint32_t end = 9;
  REQUIRE(joined->run(0, caller, outputs, end).status == RunStatus::Done);
  CHECK(arrivals == std::vector<std::array<uint32_t, 3>>{{0, 1, 0}, {1, 0, 1}});
  CHECK(bits(std::get<Tensor>(outputs[0])) == bits(values({3}, {5, 10, 15})));
  agrees = false;
  CHECK(joined->run(0, caller, outputs, end).status == RunStatus::Refused);
}

TEST_CASE("paths that come to unlike places, or write, aren't joined", "[join]") {
  const Trace both = path(true, true), none = path(false, false), elsewhere = path(false, false, 8);
  CHECK(!compile_joined({&both, &elsewhere}));
  Trace writes = path(false, false);
  CHECK(compile_joined({&both, &writes}));
  TraceMaker first({filled({3}, 1), filled({3}, 2)});
  first.in_place("mul", {V{0}, V{1}});
  writes.records.insert(writes.records.begin(), std::move(first.trace.records[0]));
  CHECK(!compile_joined({&both, &writes}));
}
