// Paths of one region merged into one graph with switches, against the separate graphs of the paths.
#include <algorithm>
#include <catch2/catch.hpp>

#include "engine/errors/errors.h"
#include "engine/random/generator.h"
#include "graph/cache/switched.h"
#include "tests/unit/graph/support.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::graph::test;

namespace {

/// The truths that a path met, in order; writes the trace of that path.
using WritePath = std::function<void(TraceMaker& t, const std::vector<bool>& truths)>;

struct Region {
  Region(MakeInputs first, WritePath write, std::vector<std::vector<bool>> paths) {
    for (const auto& truths : paths) {
      TraceMaker t(first());
      write(t, truths);
      traces.push_back(std::move(t.trace));
    }
    std::vector<const Trace*> all;
    for (const Trace& trace : traces) all.push_back(&trace);
    merged = compile_switch(all);
  }

  struct Result {
    RunResult run;
    uint32_t path = 0;
    Outcome outcome;
    size_t asked = 0;  ///< paths whose guards were looked at
  };

  Result run(const MakeInputs& make, uint32_t likely, const std::function<bool(uint32_t)>& agree = nullptr) {
    const std::vector<Tensor> inputs = make();
    const PathInputs given{lend(inputs), {}};
    std::vector<RunOutput> outputs;
    Result result;
    const Switched::Caller caller{[&](uint32_t) {
                                    ++result.asked;
                                    return &given;
                                  },
                                  agree};
    result.run = merged->run(likely, caller, outputs, result.path);
    if (result.run.status != RunStatus::Done) outputs.clear();
    result.outcome = outcome_of(inputs, outputs);
    return result;
  }

  /// On these inputs exactly one of the separate graphs comes to its end; the merged one does the same.
  void require_agreement(const MakeInputs& make) {
    INFO(merged->text());
    int taken = -1;
    Outcome expected;
    for (uint32_t path = 0; path < traces.size(); ++path) {
      default_generator().manual_seed(7);
      const std::vector<Tensor> inputs = make();
      std::vector<RunOutput> outputs;
      if (compile(traces[path])->run(lend(inputs), {}, nullptr, outputs).status != RunStatus::Done) continue;
      REQUIRE(taken < 0);
      taken = static_cast<int>(path);
      expected = outcome_of(inputs, outputs);
    }
    REQUIRE(taken >= 0);
    for (uint32_t likely = 0; likely < traces.size(); ++likely) {
      default_generator().manual_seed(7);
      const Result result = run(make, likely);
      REQUIRE(result.run.status == RunStatus::Done);
      CHECK(result.path == static_cast<uint32_t>(taken));
      CHECK(result.outcome.outputs == expected.outputs);
      CHECK(result.outcome.inputs == expected.inputs);
      CHECK(result.outcome.grads == expected.grads);
    }
  }

  std::vector<Trace> traces;
  std::shared_ptr<Switched> merged;
};

MakeInputs numbers(float a, float b = 1) {
  return [a, b] { return std::vector<Tensor>{values({3}, {a, a + 1, a - 0.5f}), values({3}, {b, b * 2, 0.25f})}; };
}

/// `tensor` is positive: the truth of its sum.
TraceId positive(TraceMaker& t, TraceId tensor) { return t.call("gt", {V{t.call("sum", {V{tensor}})}, Arg(0)}); }

}  // namespace

TEST_CASE("two paths share what precedes the branch", "[switch]") {
  Region r(numbers(1),
           [](TraceMaker& t, const std::vector<bool>& truths) {
             const TraceId shared = t.call("exp", {V{0}});
             t.assert_truth(positive(t, 0), truths[0]);
             t.output(truths[0] ? t.call("mul", {V{shared}, V{1}}) : t.call("sub", {V{shared}, Arg(2.0)}));
             if (truths[0]) t.output(shared);
           },
           {{true}, {false}});
  r.require_agreement(numbers(1));
  r.require_agreement(numbers(-4));
  CHECK(r.run(numbers(1), 0).asked == 1);  // the guards of one path are enough while the likely one is taken
  CHECK(r.run(numbers(-4), 0).asked == 2);

  const std::string text = r.merged->text();
  INFO(text);
  CHECK(text == R"(graph "test"(%0 "x0": f32[3]) {
  %2: f32[3] = exp(%0)
  %3: f32[] = sum(%0, none, false)
  %4: bool[] = gt(%3, 0)
  %6: scalar bool = $item(%4)
  return %2, %6
}
if true:
  graph "test"(%0 "x0": f32[3], %1 "x1": f32[3], %2: f32[3]) {
    %5: f32[3] = mul(%2, %1)
    return %5, %2
  }
if false:
  graph "test"(%0 "x0": f32[3], %1 "x1": f32[3], %2: f32[3]) {
    %5: f32[3] = sub(%2, 2.0, 1)
    return %5
  }
)");
}

TEST_CASE("nested branches and paths that end early", "[switch]") {
  Region r(numbers(1),
           [](TraceMaker& t, const std::vector<bool>& truths) {
             TraceId y = t.call("mul", {V{0}, V{1}});
             t.assert_truth(positive(t, 0), truths[0]);
             if (!truths[0]) return t.output(t.call("neg", {V{y}}));
             const TraceId z = t.call("add", {V{y}, V{1}});
             t.assert_truth(positive(t, 1), truths[1]);
             t.output(truths[1] ? t.call("div", {V{z}, V{0}}) : y);
             t.output(z);
           },
           {{true, true}, {true, false}, {false}});
  for (float a : {1.0f, -4.0f})
    for (float b : {1.0f, -3.0f}) r.require_agreement(numbers(a, b));
}

TEST_CASE("views of inputs are derived on each side", "[switch]") {
  const auto make = [](float sign) {
    return [sign] { return std::vector<Tensor>{values({1}, {sign}), filled({4, 6}, 3)}; };
  };
  Region r(make(1),
           [](TraceMaker& t, const std::vector<bool>& truths) {
             const TraceId turned = t.call("t", {V{1}});
             t.assert_truth(t.call("gt", {V{0}, Arg(0)}), truths[0]);
             t.output(t.call(truths[0] ? "exp" : "neg", {V{turned}}));
             t.output(turned);
           },
           {{true}, {false}});
  r.require_agreement(make(1));
  r.require_agreement(make(-1));
  CHECK(r.merged->text().find("t(%1)") > r.merged->text().find("if true:"));
}

TEST_CASE("writes on one side only, before the branch and after it", "[switch]") {
  Region r(numbers(1),
           [](TraceMaker& t, const std::vector<bool>& truths) {
             t.in_place("mul", {V{1}, Arg(0.5)});
             t.assert_truth(positive(t, 0), truths[0]);
             if (truths[0]) t.in_place("add", {V{0}, V{1}});
             t.output(t.call("mul", {V{0}, V{1}}));
           },
           {{true}, {false}});
  r.require_agreement(numbers(1));
  r.require_agreement(numbers(-4));
  const Region::Result refused = r.run(numbers(1), 0, [](uint32_t) { return false; });
  CHECK(refused.run.status == RunStatus::Refused);
  CHECK(refused.outcome.inputs == outcome_of(numbers(1)(), {}).inputs);  // nothing was published
}

TEST_CASE("inputs that share their memory, and results that cross two branches", "[switch]") {
  const auto make = [](float a, float b) {
    return [a, b] {
      static const Op* select = find_op("select");
      const Tensor whole = values({2, 3}, {a, 1, 2, b, 4, 5});
      return std::vector<Tensor>{whole, values({3}, {b, 1, 1}), (*select)(whole, 0, 1)};
    };
  };
  Region r(make(9, 9),
           [](TraceMaker& t, const std::vector<bool>& truths) {
             const TraceId e = t.call("exp", {V{2}});
             t.in_place("add", {V{2}, V{1}});
             t.assert_truth(positive(t, 0), truths[0]);
             const TraceId f = t.call("mul", {V{e}, Arg(truths[0] ? 2.0 : 3.0)});
             t.assert_truth(positive(t, 1), truths[1]);
             t.in_place("mul", {V{0}, Arg(truths[1] ? 0.5 : 0.25)});
             t.output(t.call("add", {V{f}, V{e}}));
             t.output(t.call("sum", {V{0}}));
           },
           {{true, true}, {true, false}, {false, true}, {false, false}});
  for (float a : {9.0f, -90.0f})
    for (float b : {9.0f, -9.0f}) r.require_agreement(make(a, b));
}

TEST_CASE("random draws before the branch and on one side", "[switch]") {
  Region r(numbers(1),
           [](TraceMaker& t, const std::vector<bool>& truths) {
             const TraceId noise = t.call("rand_like", {V{0}});
             t.assert_truth(positive(t, 0), truths[0]);
             TraceId y = t.call("add", {V{0}, V{noise}});
             if (truths[0]) y = t.call("add", {V{y}, V{t.call("rand_like", {V{0}})}});
             t.output(y);
           },
           {{true}, {false}});
  r.require_agreement(numbers(1));
  r.require_agreement(numbers(-4));
  default_generator().manual_seed(3);
  const RandomState before = default_generator().state();
  r.run(numbers(1), 0, [](uint32_t) { return false; });
  const RandomState& after = default_generator().state();
  CHECK((after.left == before.left && after.next == before.next));  // a refused run has drawn nothing
  CHECK(std::equal(before.words, std::end(before.words), after.words));
}

TEST_CASE("a gradient step on one side", "[switch]") {
  const auto make = [](float x) {
    return [x] { return std::vector<Tensor>{values({3}, {x, 1, 2}), leaf(values({3}, {1, 2, 3}))}; };
  };
  Region r(make(1),
           [](TraceMaker& t, const std::vector<bool>& truths) {
             const TraceId loss = t.call("sum", {V{t.call("mul", {V{0}, V{1}})}});
             t.assert_truth(t.call("gt", {V{loss}, Arg(0)}), truths[0]);
             if (truths[0]) {
               t.backward(loss);
               t.grad_mode(false);
               const TraceId grad = t.read_grad(1);
               t.in_place("sub", {V{1}, V{grad}});
               t.grad_mode(true);
             }
             t.grad_mode(false);
             t.output(t.call("mul", {V{loss}, Arg(2.0)}));
             t.grad_mode(true);
           },
           {{true}, {false}});
  r.require_agreement(make(1));
  r.require_agreement(make(-40));
}

TEST_CASE("asserts that all paths share, and inputs laid out otherwise", "[switch]") {
  Region r(numbers(1),
           [](TraceMaker& t, const std::vector<bool>& truths) {
             t.assert_truth(positive(t, 1), true);
             t.assert_truth(positive(t, 0), truths[0]);
             t.output(truths[0] ? t.call("exp", {V{0}}) : V{1}.id);
           },
           {{true}, {false}});
  const Region::Result failed = r.run(numbers(1, -5), 1);
  CHECK(failed.run.status == RunStatus::AssertFailed);
  CHECK(failed.run.failed_assert == 0);
  const auto longer = [] { return std::vector<Tensor>{filled({4}, 1), filled({4}, 2)}; };
  CHECK(r.run(longer, 0).run.status == RunStatus::Refused);
}

TEST_CASE("what isn't one region is refused", "[switch]") {
  const auto trace = [](bool expected, const char* op) {
    TraceMaker t(numbers(1)());
    const TraceId y = t.call(op, {V{0}});
    t.assert_truth(positive(t, 0), expected);
    t.output(y);
    return std::move(t.trace);
  };
  const Trace a = trace(true, "exp"), b = trace(false, "neg"), c = trace(true, "exp");
  CHECK_THROWS_AS(compile_switch({&a, &b}), InternalError);
  CHECK_THROWS_AS(compile_switch({&a, &c}), InternalError);
}
