// One compiled trace under many sizes, offsets and structural numbers, against eager execution.
#include <catch2/catch.hpp>

#include "engine/autograd/autograd.h"
#include "engine/ops/call.h"
#include "graph/trace/numbers.h"
#include "tests/unit/graph/support.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::graph::test;

namespace {

Tensor run_one(Compiled& compiled, const std::vector<Tensor>& inputs, const std::vector<Scalar>& scalars = {}) {
  std::vector<RunOutput> outputs;
  REQUIRE(compiled.run(lend(inputs), scalars, nullptr, outputs).status == RunStatus::Done);
  return std::get<Tensor>(outputs[0]);
}

RunStatus status_of(Compiled& compiled, const std::vector<Tensor>& inputs, const std::vector<Scalar>& scalars = {}) {
  std::vector<RunOutput> outputs;
  return compiled.run(lend(inputs), scalars, nullptr, outputs).status;
}

Tensor eager(const Trace& trace, const std::vector<Tensor>& inputs, const std::vector<Scalar>& scalars = {}) {
  Replay replay(trace);
  size_t tensor = 0, scalar = 0;
  for (TraceId i = 0; i < trace.inputs.size(); ++i) {
    if (trace.inputs[i].kind == TraceInput::Kind::Tensor)
      replay.set(i, inputs[tensor++]);
    else
      replay.set(i, scalars[scalar++]);
  }
  replay.run();
  return replay.tensor(trace.outputs[0]);
}

template <class R>
void add_record(Trace& trace, R record) {
  TraceRecord r;
  r.what = std::move(record);
  trace.records.push_back(std::move(r));
}

}  // namespace

TEST_CASE("a batch of any size, one instance each", "[shaped]") {
  TraceMaker t({filled({8, 6}, 1), filled({4, 6}, 2), filled({4}, 3)});
  t.trace.inputs[0].free_sizes = true;
  t.output(t.call("relu", {V{t.call("linear", {V{0}, V{1}, V{2}})}}));
  const auto compiled = compile(t.trace);
  for (int64_t n : {8, 5, 1, 0, 5, 8, 3, 5}) {
    const std::vector<Tensor> inputs{filled({n, 6}, 7), filled({4, 6}, 2), filled({4}, 3)};
    CHECK(bits(run_one(*compiled, inputs)) == bits(eager(t.trace, inputs)));
  }
  CHECK(compiled->instances() == 5);
  CHECK(status_of(*compiled, {filled({8, 5}, 7), filled({4, 6}, 2), filled({4}, 3)}) == RunStatus::Refused);
  CHECK(!compiled->refusal().empty());
  CHECK(compiled->instances() == 5);
}

TEST_CASE("gradients of each size belong to the run that saved for them", "[shaped]") {
  TraceMaker t({filled({8, 6}, 1), leaf(filled({4, 6}, 2))});
  t.trace.inputs[0].free_sizes = true;
  t.output(t.call("sum", {V{t.call("tanh", {V{t.call("linear", {V{0}, V{1}, Arg()})}})}}));
  const auto compiled = compile(t.trace);
  const Tensor weight = leaf(filled({4, 6}, 2)), same = leaf(filled({4, 6}, 2));
  std::vector<Tensor> losses, expected;
  for (int64_t n : {8, 3, 2}) {
    losses.push_back(run_one(*compiled, {filled({n, 6}, 9), weight}));
    expected.push_back(eager(t.trace, {filled({n, 6}, 9), same}));
  }
  for (size_t i = losses.size(); i-- > 0;) {
    for (const Tensor& loss : {losses[i], expected[i]})
      autograd::backward(std::vector<Tensor>{loss}, std::vector<Tensor>{Tensor()}, false, false, {});
    CHECK(bits(autograd::grad(weight)) == bits(autograd::grad(same)));
  }
}

TEST_CASE("an offset is no fact", "[shaped]") {
  const Tensor data = filled({10, 4}, 1);
  const auto rows = [&](int64_t first) { return (*find_op("narrow"))(data, 0, first, int64_t{3}); };
  TraceMaker t({rows(0)});
  t.output(t.call("t", {V{t.call("narrow", {V{0}, Arg(0), Arg(1), Arg(2)})}}));
  const auto compiled = compile(t.trace);
  for (int64_t first : {0, 7, 2}) {
    const Tensor given = rows(first), result = run_one(*compiled, {given});
    CHECK(bits(result) == bits(eager(t.trace, {given})));
    CHECK(result->storage == data->storage);
  }
  CHECK(compiled->instances() == 1);
}

TEST_CASE("structural numbers", "[shaped]") {
  TraceMaker t({filled({8, 6}, 1)});
  const TraceId n = t.scalar(Scalar::Kind::Int, "n");
  t.trace.inputs[n].structural = true;
  t.trace.inputs[n].value = Scalar(int64_t{3});
  t.output(t.call("mul", {V{t.call("narrow", {V{0}, Arg(0), Arg(0), V{n}})}, V{n}}));
  const auto compiled = compile(t.trace);
  for (int64_t k : {3, 0, 8, 1, 3}) {
    const std::vector<Tensor> inputs{filled({8, 6}, 1)};
    CHECK(bits(run_one(*compiled, inputs, {Scalar(k)})) == bits(eager(t.trace, inputs, {Scalar(k)})));
  }
  CHECK(compiled->instances() == 4);
  CHECK(status_of(*compiled, {filled({8, 6}, 1)}, {Scalar(int64_t{9})}) == RunStatus::Refused);
}

TEST_CASE("arithmetic on sizes, and what was relied on", "[shaped]") {
  TraceMaker t({filled({8, 6}, 1)});
  t.trace.inputs[0].free_sizes = true;
  const TraceId rows = t.trace.values++, half = t.trace.values++, large = t.trace.values++;
  add_record(t.trace, SizeRecord{0, 0, rows});
  add_record(t.trace, NumberRecord{NumberRecord::Op::FloorDivide, {rows, {}}, {kNoValue, Scalar(int64_t{2})}, half});
  add_record(t.trace, NumberRecord{NumberRecord::Op::Greater, {rows, {}}, {kNoValue, Scalar(int64_t{4})}, large});
  add_record(t.trace, FactRecord{FactRecord::What::Number, large, bits_of(Scalar(true))});
  const TraceId y = t.call("view", {V{0}, Arg()});
  auto& view = std::get<CallRecord>(t.trace.records.back().what);
  view.args[1].kind = TraceArg::Kind::Integers;
  view.args[1].integers = {{half, {}}, {kNoValue, Scalar(int64_t{-1})}};
  t.output(y);
  t.output(half);
  const auto compiled = compile(t.trace);
  for (int64_t n : {8, 6, 10}) {
    std::vector<RunOutput> outputs;
    REQUIRE(compiled->run(lend(std::vector<Tensor>{filled({n, 6}, 1)}), {}, nullptr, outputs).status ==
            RunStatus::Done);
    CHECK(std::get<Tensor>(outputs[0]).sizes() == Dims{n / 2, 12});
    CHECK(std::get<Scalar>(outputs[1]).to_int() == n / 2);
  }
  CHECK(status_of(*compiled, {filled({4, 6}, 1)}) == RunStatus::Refused);   // the comparison goes the other way
  CHECK(status_of(*compiled, {filled({7, 6}, 1)}) == RunStatus::Done);      // 7 // 2 rows of 14
  CHECK(status_of(*compiled, {filled({11, 6}, 1)}) == RunStatus::Refused);  // 66 elements don't make 5 rows
}

TEST_CASE("sizes that never come twice are refused in the end", "[shaped]") {
  TraceMaker t({filled({2, 1}, 1)});
  t.trace.inputs[0].free_sizes = true;
  t.output(t.call("neg", {V{0}}));
  const auto compiled = compile(t.trace);
  int served = 0;
  for (int64_t n = 3; n < 303; ++n) served += status_of(*compiled, {filled({n, 1}, 1)}) == RunStatus::Done;
  CHECK(served >= 64);
  CHECK(served < 200);
  CHECK(compiled->instances() <= 64);
  CHECK(status_of(*compiled, {filled({302, 1}, 1)}) == RunStatus::Busy);
}
