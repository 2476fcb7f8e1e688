// Rounds of a loop become one record, which is replayed for any number of them.
#include <catch2/catch.hpp>

#include "engine/autograd/autograd.h"
#include "graph/trace/copy.h"
#include "graph/trace/numbers.h"
#include "graph/trace/roll.h"
#include "tests/unit/graph/support.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::graph::test;

namespace {

using Operation = NumberRecord::Op;

/// for t in range(n): h = h * w + t; kept.append(h). `rounds` says how often it came.
struct RolledLoop {
  explicit RolledLoop(int rounds) : t({filled({2, 3}, 1), leaf(filled({2, 3}, 2))}) {
    n = t.scalar(Scalar::Kind::Int, "n");
    t.trace.inputs[n].structural = true;
    t.trace.inputs[n].value = Scalar(int64_t{rounds});
    TraceId at = number(Operation::Add, {kNoValue, Scalar(int64_t{0})}, {kNoValue, Scalar(int64_t{0})});
    TraceId h = 0;
    for (int k = 0; k <= rounds; ++k) {
      plan.rounds.push_back(t.trace.records.size());
      (k == 0 ? plan.before : plan.after) = k < 2 ? std::vector<TraceId>{h, at} : plan.after;
      const TraceId comes = number(Operation::Less, {at, {}}, {n, {}});
      add(FactRecord{FactRecord::What::Number, comes, bits_of(Scalar(k < rounds))});
      if (k == rounds) break;
      last = t.call("mul", {V{h}, V{1}});
      h = t.call("add", {V{last}, V{at}});
      kept.push_back(h);
      at = number(Operation::Add, {at, {}}, {kNoValue, Scalar(int64_t{1})});
    }
    state = h;
  }

  TraceId number(Operation op, TraceNumber a, TraceNumber b) {
    const TraceId id = t.trace.values++;
    add(NumberRecord{op, a, b, id});
    return id;
  }
  template <class R>
  void add(R record) {
    TraceRecord r;
    r.what = std::move(record);
    t.trace.records.push_back(std::move(r));
  }
  /// torch.stack(kept)
  TraceId stacked() {
    const TraceId list = t.trace.values++;
    plan.grown.push_back({list, 0, 1});
    const TraceId result = t.call("stack", {L{kept}, Arg(0)});
    std::get<CallRecord>(t.trace.records.back().what).args[0].grown = list;
    return result;
  }
  Rolled roll() { return graph::roll(t.trace, plan, t.trace.outputs, t.trace.values); }

  TraceMaker t;
  TraceId n = 0, state = 0, last = 0;
  std::vector<TraceId> kept;
  LoopPlan plan;
};

/// The compiled trace of four rounds, rolled, against the trace of as many rounds as there are.
void require_same_for_all_counts(bool stacked) {
  RolledLoop four(4);
  four.t.output(stacked ? four.stacked() : four.state);
  REQUIRE(four.roll().count > 0);
  const auto compiled = compile(four.t.trace);
  for (int rounds : {4, 1, 7, 2, 30, 3}) {
    RolledLoop unrolled(rounds);
    unrolled.t.output(stacked ? unrolled.stacked() : unrolled.state);
    std::vector<std::string> results[2];
    for (bool eager : {false, true}) {
      const Tensor x = filled({2, 3}, 5), w = leaf(filled({2, 3}, 6));
      Tensor result;
      if (eager) {
        Replay replay(unrolled.t.trace);
        replay.set(0, x), replay.set(1, w), replay.set(2, Scalar(int64_t{rounds}));
        replay.run();
        result = replay.tensor(unrolled.t.trace.outputs[0]);
      } else {
        std::vector<RunOutput> outputs;
        REQUIRE(
            compiled
                ->run(lend(std::vector<Tensor>{x, w}), std::vector<Scalar>{Scalar(int64_t{rounds})}, nullptr, outputs)
                .status == RunStatus::Done);
        result = std::get<Tensor>(outputs[0]);
      }
      results[eager].push_back(bits(result));
      autograd::backward(std::vector<Tensor>{result}, std::vector<Tensor>{filled(result.sizes(), 9)}, false, false, {});
      results[eager].push_back(bits(autograd::grad(w)));
    }
    CHECK(results[0] == results[1]);
  }
}

}  // namespace

TEST_CASE("a rolled loop makes what as many rounds make, gradients included", "[loop]") {
  require_same_for_all_counts(false);
}

TEST_CASE("a list that each round appends to is as long as there are rounds", "[loop]") {
  require_same_for_all_counts(true);
}

TEST_CASE("a loop that comes no round leaves what it began with", "[loop]") {
  RolledLoop four(4);
  four.t.output(four.state);
  REQUIRE(four.roll().count > 0);
  Replay replay(four.t.trace);
  const Tensor x = filled({2, 3}, 5);
  replay.set(0, x), replay.set(1, leaf(filled({2, 3}, 6))), replay.set(2, Scalar(int64_t{0}));
  replay.run();
  CHECK(replay.tensor(four.t.trace.outputs[0]) == x);
}

TEST_CASE("the printed loop and its copy say what a round does", "[loop]") {
  RolledLoop four(4);
  four.t.output(four.stacked());
  const size_t before = four.t.trace.records.size();
  const Rolled rolled = four.roll();
  CHECK(four.t.trace.records.size() == before - rolled.count + 1);
  const std::string text = to_string(four.t.trace);
  CHECK(text.find("while %") != std::string::npos);
  CHECK(text.find("of each round") != std::string::npos);
  CHECK(to_string(copy_of(four.t.trace)) == text);
}

TEST_CASE("what was made in a round and isn't alive at the end keeps the rounds apart", "[loop]") {
  RolledLoop four(4);
  four.t.output(four.last);  // the product, not the sum that the next round gets
  const std::string before = to_string(four.t.trace);
  CHECK(four.roll().count == 0);
  CHECK(to_string(four.t.trace) == before);
}

TEST_CASE("a round that does something else keeps the rounds apart", "[loop]") {
  RolledLoop four(4);
  four.t.output(four.state);
  for (TraceRecord& r : four.t.trace.records)
    if (auto* call = std::get_if<CallRecord>(&r.what); call && call->results[0] == four.last) call->op = find_op("add");
  CHECK(four.roll().count == 0);
}

TEST_CASE("a trace refuses more rounds than a graph should have", "[loop]") {
  RolledLoop four(4);
  four.t.output(four.state);
  REQUIRE(four.roll().count > 0);
  const auto compiled = compile(four.t.trace);
  std::vector<RunOutput> outputs;
  const std::vector<Tensor> inputs{filled({2, 3}, 5), filled({2, 3}, 6)};
  CHECK(compiled->run(lend(inputs), std::vector<Scalar>{Scalar(int64_t{1} << 40)}, nullptr, outputs).status ==
        RunStatus::Refused);
  CHECK(compiled->refusal().find("too many rounds") != std::string::npos);
}
