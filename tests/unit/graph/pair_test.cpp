// The captured pair: a forward graph whose results carry an autograd node that runs a backward graph.
#include <catch2/catch.hpp>

#include "engine/autograd/autograd.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "tests/unit/graph/support.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::graph::test;

namespace {

Tensor op(const char* name, std::initializer_list<Arg> args) {
  std::vector<Tensor> results;
  call(*find_op(name), {args.begin(), args.size()}, results);
  return results.front();
}

std::vector<Tensor> state() {
  return {filled({8, 16}, 1), leaf(filled({32, 16}, 2)), leaf(filled({32}, 3)), leaf(filled({4, 32}, 4)),
          leaf(filled({4}, 5))};
}

Trace forward_trace() {
  TraceMaker t(state());
  const TraceId h = t.call("tanh", {V{t.call("linear", {V{0}, V{1}, V{2}})}});
  t.output(t.call("linear", {V{h}, V{3}, V{4}}));
  return std::move(t.trace);
}

Tensor run_one(Compiled& compiled, const std::vector<Tensor>& inputs) {
  std::vector<RunOutput> outputs;
  REQUIRE(compiled.run(lend(inputs), {}, nullptr, outputs).status == RunStatus::Done);
  return std::get<Tensor>(outputs[0]);
}

Tensor eager_one(const Trace& trace, const std::vector<Tensor>& inputs) {
  Replay replay(trace);
  for (TraceId i = 0; i < inputs.size(); ++i) replay.set(i, inputs[i]);
  replay.run();
  return replay.tensor(trace.outputs[0]);
}

Tensor loss_of(const Tensor& y) { return op("sum", {op("mul", {y, y})}); }

void backward(const Tensor& loss, bool retain = false) {
  const Tensor roots[] = {loss};
  autograd::backward(roots, {}, retain, false);
}

std::vector<std::string> grads_of(const std::vector<Tensor>& inputs) {
  std::vector<std::string> out;
  for (const Tensor& t : inputs) out.push_back(bits(autograd::grad(t)));
  return out;
}

}  // namespace

TEST_CASE("results that calls have saved are watched, and no others", "[pair]") {
  const auto make = [] { return std::vector<Tensor>{filled({4}, 1), leaf(filled({4}, 2))}; };
  TraceMaker t(make());
  const TraceId product = t.call("mul", {V{1}, V{0}});
  const TraceId y = t.call("exp", {V{product}});
  t.output(t.call("sum", {V{y}}));
  t.output(y);
  t.output(product);
  const auto compiled = compile(t.trace);
  const auto gradient_after =
      [&](const std::function<void(const std::vector<Tensor>&, const std::vector<Tensor>&)>& then) {
        const std::vector<Tensor> inputs = make();
        std::vector<RunOutput> outputs;
        REQUIRE(compiled->run(lend(inputs), {}, nullptr, outputs).status == RunStatus::Done);
        std::vector<Tensor> made;
        for (const RunOutput& output : outputs) made.push_back(std::get<Tensor>(output));
        {
          GradMode off(false);
          then(inputs, made);
        }
        backward(made[0]);
        return bits(autograd::grad(inputs[1]));
      };
  const auto write = [](const Tensor& target) {
    const Arg args[] = {Arg(target), Arg(2.0)};
    call_in_place(*find_op("mul"), args);
  };
  const std::string expected = gradient_after([](const auto&, const auto&) {});
  CHECK(gradient_after([&](const auto&, const auto& made) { write(made[2]); }) ==
        expected);  // the rule reads the result
  CHECK(gradient_after([&](const auto& inputs, const auto&) { write(inputs[1].alias()); }) ==
        expected);  // x needs none
  CHECK_THROWS_WITH(gradient_after([&](const auto&, const auto& made) { write(made[1]); }),
                    Catch::Contains("modified by an inplace operation") && Catch::Contains("output 0 of Exp,"));
  CHECK_THROWS_WITH(gradient_after([&](const auto&, const auto& made) {
                      write(op("narrow", {made[1], 0, 0, 1}));
                    }),
                    Catch::Contains("modified by an inplace operation"));
  CHECK_THROWS_WITH(gradient_after([&](const auto& inputs, const auto&) { write(inputs[0]); }),
                    Catch::Contains("modified by an inplace operation"));
}

TEST_CASE("gradients through a pair equal eager ones", "[pair]") {
  start();
  const Trace trace = forward_trace();
  const auto compiled = compile(trace);
  INFO(compiled->text());
  const auto ours = state(), theirs = state();
  const Tensor y = run_one(*compiled, ours), z = eager_one(trace, theirs);
  CHECK(bits(y) == bits(z));
  CHECK(y.requires_grad());
  CHECK(autograd::history(y).node->name() == autograd::history(z).node->name());
  backward(loss_of(y));
  backward(loss_of(z));
  CHECK(grads_of(ours) == grads_of(theirs));
}

TEST_CASE("one forward may run many times before backward", "[pair]") {
  start();
  const Trace trace = forward_trace();
  const auto compiled = compile(trace);
  auto ours = state(), theirs = state();
  std::vector<Tensor> losses, expected;
  for (uint32_t k = 0; k < 3; ++k) {
    ours[0] = theirs[0] = filled({8, 16}, 50 + k);
    losses.push_back(loss_of(run_one(*compiled, ours)));
    expected.push_back(loss_of(eager_one(trace, theirs)));
  }
  for (size_t k : {1u, 0u, 2u}) {
    backward(losses[k]);
    backward(expected[k]);
  }
  CHECK(grads_of(ours) == grads_of(theirs));
}

TEST_CASE("a pair below and above eager ops", "[pair]") {
  start();
  const auto make = [] { return std::vector<Tensor>{leaf(filled({6}, 1)), leaf(filled({6}, 2))}; };
  // The captured part takes a tensor with a history.
  auto with_history = make();
  with_history[0] = op("mul", {with_history[0], 2.0});
  TraceMaker t(with_history);
  REQUIRE_FALSE(t.trace.inputs[0].is_leaf);
  t.output(t.call("mul", {V{t.call("sigmoid", {V{0}})}, V{1}}));
  const auto compiled = compile(t.trace);
  const auto ours = make(), theirs = make();
  backward(loss_of(run_one(*compiled, {op("mul", {ours[0], 2.0}), ours[1]})));
  backward(loss_of(eager_one(t.trace, {op("mul", {theirs[0], 2.0}), theirs[1]})));
  CHECK(grads_of(ours) == grads_of(theirs));
}

TEST_CASE("saved inputs are checked by version", "[pair]") {
  start();
  const Trace trace = forward_trace();
  const auto compiled = compile(trace);
  const auto inputs = state();
  const Tensor loss = loss_of(run_one(*compiled, inputs));
  {
    GradMode off(false);
    find_op("mul")->in_place(inputs[3], 2.0);
  }
  CHECK_THROWS_WITH(backward(loss), Catch::Contains("modified by an inplace operation"));
}

TEST_CASE("a second backward needs retain_graph", "[pair]") {
  start();
  const Trace trace = forward_trace();
  const auto compiled = compile(trace);
  const Tensor loss = op("sum", {run_one(*compiled, state())});
  backward(loss, true);
  backward(loss);
  CHECK_THROWS_WITH(backward(loss), Catch::Contains("a second time"));
}

TEST_CASE("the gradient of a pair can be differentiated", "[pair]") {
  start();
  const Trace trace = forward_trace();
  const auto compiled = compile(trace);
  const auto second = [&](const std::vector<Tensor>& in, const Tensor& y) {
    const Tensor roots[] = {loss_of(y)}, wanted[] = {in[1]};
    const Tensor g = autograd::gradients(roots, {}, wanted, true, true, false)[0];
    backward(loss_of(g));
  };
  const auto ours = state(), theirs = state();
  second(ours, run_one(*compiled, ours));
  second(theirs, eager_one(trace, theirs));
  for (size_t i = 1; i < ours.size(); ++i) {  // sums of several terms are taken in another order
    const Tensor a = autograd::grad(ours[i]), b = autograd::grad(theirs[i]);
    REQUIRE(a.defined());
    REQUIRE(b.defined());
    for (int64_t k = 0; k < a.numel(); ++k)
      CHECK(a->data_as<float>()[k] == Approx(b->data_as<float>()[k]).epsilon(1e-4).margin(1e-2));
  }
}

TEST_CASE("several results have the names of their own ops", "[pair]") {
  start();
  const auto make = [] { return std::vector<Tensor>{leaf(filled({6}, 1))}; };
  TraceMaker t(make());
  const TraceId e = t.call("exp", {V{0}});
  t.output(e);
  t.output(t.call("sin", {V{e}}));
  const auto compiled = compile(t.trace);
  const auto ours = make(), theirs = make();
  std::vector<RunOutput> outputs;
  REQUIRE(compiled->run(lend(ours), {}, nullptr, outputs).status == RunStatus::Done);
  const Tensor a = std::get<Tensor>(outputs[0]), b = std::get<Tensor>(outputs[1]);
  CHECK(autograd::history(a).node->name() == "ExpBackward0");
  CHECK(autograd::history(b).node->name() == "SinBackward0");
  backward(op("sum", {op("add", {a, b})}));
  const Tensor x = op("exp", {theirs[0]});
  backward(op("sum", {op("add", {x, op("sin", {x})})}));
  CHECK(grads_of(ours) == grads_of(theirs));
}

TEST_CASE("gradients that arrive for some results leave the others' inputs alone", "[pair]") {
  start();
  const auto make = [] { return std::vector<Tensor>{leaf(filled({6}, 1)), leaf(filled({6}, 2))}; };
  TraceMaker t(make());
  t.output(t.call("exp", {V{0}}));
  t.output(t.call("exp", {V{1}}));
  const auto compiled = compile(t.trace);
  for (size_t used : {0u, 1u, 1u, 0u}) {  // first as the whole, then as expected, then as not expected
    const auto ours = make(), theirs = make();
    std::vector<RunOutput> outputs;
    REQUIRE(compiled->run(lend(ours), {}, nullptr, outputs).status == RunStatus::Done);
    backward(loss_of(std::get<Tensor>(outputs[used])));
    backward(loss_of(op("exp", {theirs[used]})));
    CHECK(grads_of(ours) == grads_of(theirs));
    CHECK_FALSE(autograd::grad(ours[1 - used]).defined());
    backward(loss_of(std::get<Tensor>(outputs[1 - used])));  // shares nothing with the one that was freed
    CHECK_THROWS_WITH(backward(loss_of(std::get<Tensor>(outputs[used]))), Catch::Contains("a second time"));
  }
}

TEST_CASE("a third derivative, and one from what an input held before it was written", "[pair]") {
  start();
  const auto make = [] { return std::vector<Tensor>{leaf(filled({6}, 1)), filled({6}, 2)}; };
  TraceMaker t(make());
  t.in_place("mul", {V{1}, Arg(0.5)});
  t.output(t.call("mul", {V{t.call("exp", {V{0}})}, V{t.call("clone", {V{1}})}}));
  const auto compiled = compile(t.trace);
  const auto third = [](const Tensor& x, Tensor y) {
    const Tensor wanted[] = {x};
    for (int k = 0; k < 3; ++k) {
      const Tensor roots[] = {op("sum", {y})};
      y = autograd::gradients(roots, {}, wanted, true, true, false)[0];
    }
    return bits(y);
  };
  const auto ours = make(), theirs = make();
  const Tensor y = run_one(*compiled, ours), z = eager_one(t.trace, theirs);
  CHECK(bits(ours[1]) == bits(theirs[1]));
  CHECK(third(ours[0], y) == third(theirs[0], z));
}

TEST_CASE("cheap values are computed again rather than kept", "[pair]") {
  start();
  const auto make = [] { return std::vector<Tensor>{filled({64, 64}, 1), leaf(filled({64, 64}, 2))}; };
  TraceMaker t(make());
  const TraceId m = t.call("mm", {V{0}, V{1}});
  TraceId y = m;
  for (int k = 0; k < 4; ++k) y = t.call("mul", {V{t.call("add", {V{y}, Arg(0.5)})}, V{y}});
  t.output(y);
  const auto compiled = compile(t.trace);
  const std::string text = compiled->text();
  INFO(text);
  const std::string forward = text.substr(0, text.find("\n}\n")), returns = forward.substr(forward.rfind("return"));
  CHECK(std::count(returns.begin(), returns.end(), '%') == 2);  // the result and one saved value
  const auto ours = make(), theirs = make();
  backward(loss_of(run_one(*compiled, ours)));
  backward(loss_of(eager_one(t.trace, theirs)));
  CHECK(grads_of(ours) == grads_of(theirs));
}

TEST_CASE("what gradients don't come to takes no part, as if its gradient were undefined", "[pair]") {
  const auto make = [] {
    return std::vector<Tensor>{leaf(values({3}, {1, -2, 3})), leaf(values({3}, {4, 5, 6})),
                               leaf(values({3}, {0, 0, 0}))};
  };
  TraceMaker t(make());
  t.output(t.call("mul", {V{0}, V{1}}));
  t.output(t.call("div", {V{0}, V{2}}));  // 0 * inf were NaN
  const auto compiled = compile(t.trace);
  for (int turn = 0; turn < 3; ++turn) {  // the first backward finds halves that were made for both
    const std::vector<Tensor> inputs = make();
    std::vector<RunOutput> outputs;
    REQUIRE(compiled->run(lend(inputs), {}, nullptr, outputs).status == RunStatus::Done);
    backward(op("sum", {std::get<Tensor>(outputs[0])}));
    CHECK(bits(autograd::grad(inputs[0])) == bits(values({3}, {4, 5, 6})));
    CHECK(bits(autograd::grad(inputs[1])) == bits(values({3}, {1, -2, 3})));
    CHECK(!autograd::grad(inputs[2]).defined());
  }
}
