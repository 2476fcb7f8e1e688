// Backward and optimizer steps inside one graph, against eager execution of the same trace.
#include <catch2/catch.hpp>

#include "engine/autograd/autograd.h"
#include "engine/random/generator.h"
#include "graph/cache/compiled.h"
#include "tests/unit/graph/support.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::graph::test;

namespace {

Tensor labels(int64_t n, int64_t classes) {
  start();
  Tensor t = Tensor::empty(Dims{n}, DType::I64);
  for (int64_t i = 0; i < n; ++i) t->data_as<int64_t>()[i] = (i * 7) % classes;
  return t;
}

/// x, labels, W1, b1, W2, b2, and momentum buffers of the four.
std::vector<Tensor> mlp_state() {
  std::vector<Tensor> in{filled({8, 16}, 1), labels(8, 4)};
  for (auto [sizes, seed] : {std::pair{Dims{32, 16}, 2u}, {Dims{32}, 3u}, {Dims{4, 32}, 4u}, {Dims{4}, 5u}})
    in.push_back(leaf(filled(sizes, seed)));
  for (auto [sizes, seed] : {std::pair{Dims{32, 16}, 6u}, {Dims{32}, 7u}, {Dims{4, 32}, 8u}, {Dims{4}, 9u}})
    in.push_back(filled(sizes, seed));
  return in;
}

TraceId mlp_loss(TraceMaker& t) {
  const TraceId h = t.call("relu", {V{t.call("linear", {V{0}, V{2}, V{3}})}});
  const TraceId y = t.call("linear", {V{h}, V{4}, V{5}});
  return t.call("cross_entropy", {V{y}, V{1}});
}

}  // namespace

TEST_CASE("backward leaves gradients", "[train]") {
  TraceMaker t(mlp_state());
  const TraceId loss = mlp_loss(t);
  t.backward(loss);
  t.output(t.call("detach", {V{loss}}));
  require_same(t.trace, mlp_state);
}

TEST_CASE("a whole training step with momentum", "[train]") {
  TraceMaker t(mlp_state());
  for (TraceId p : {2, 3, 4, 5}) t.write_grad(p, kNoValue);
  const TraceId loss = mlp_loss(t);
  t.backward(loss);
  t.grad_mode(false);
  std::vector<TraceId> grads;
  for (TraceId p : {2, 3, 4, 5}) grads.push_back(t.read_grad(p));
  t.call_many("sgd_update",
              {L{{2, 3, 4, 5}}, L{grads}, L{{6, 7, 8, 9}}, Arg(0.1), Arg(0.9), Arg(0.0), Arg(0.01), Arg(false),
               Arg(false), Arg(false)},
              0);
  t.grad_mode(true);
  t.output(t.item(loss, Scalar::Kind::Float));
  require_same(t.trace, mlp_state);
  // A second run starts from what the first one left.
  CHECK(run_compiled(t.trace, mlp_state, {}, 3).inputs != run_compiled(t.trace, mlp_state, {}, 1).inputs);
  CHECK(compile(t.trace)->text().find("sgd_update") != std::string::npos);
}

TEST_CASE("updates parameter by parameter become one", "[train]") {
  TraceMaker t(mlp_state());
  t.backward(mlp_loss(t));
  t.grad_mode(false);
  for (TraceId p : {2, 3, 4, 5})
    t.call_many("sgd_update",
                {L{{p}}, L{{t.read_grad(p)}}, L{{p + 4}}, Arg(0.1), Arg(0.9), Arg(0.0), Arg(0.0), Arg(false),
                 Arg(false), Arg(false)},
                0);
  t.grad_mode(true);
  const std::string text = compile(t.trace)->text();
  const size_t first = text.find("sgd_update");
  CHECK(first != std::string::npos);
  CHECK(text.find("sgd_update", first + 1) == std::string::npos);
  require_same(t.trace, mlp_state);
}

TEST_CASE("a loss that is returned after its backward still requires grad", "[train]") {
  TraceMaker t(mlp_state());
  const TraceId loss = mlp_loss(t);
  t.backward(loss);
  t.output(loss);
  require_same(t.trace, mlp_state);
  std::vector<RunOutput> outputs;
  REQUIRE(compile(t.trace)->run(lend(mlp_state()), {}, nullptr, outputs).status == RunStatus::Done);
  const Tensor roots[] = {std::get<Tensor>(outputs[0])};
  CHECK(roots[0].requires_grad());
  CHECK_THROWS_WITH(autograd::backward(roots, {}, false, false), Catch::Contains("a second time"));
}

TEST_CASE("gradients accumulate into .grad that was there", "[train]") {
  const auto make = [] {
    std::vector<Tensor> in = mlp_state();
    in.push_back(filled({4, 32}, 20));
    autograd::set_grad(in[4], in[10]);
    return in;
  };
  TraceMaker t(make());
  REQUIRE(t.trace.inputs[4].grad == 10);
  t.backward(mlp_loss(t));
  require_same(t.trace, make);
}

TEST_CASE("second derivatives in one graph", "[train]") {
  const auto make = [] { return std::vector<Tensor>{leaf(filled({5}, 1)), filled({5}, 2)}; };
  TraceMaker t(make());
  const TraceId y = t.call("mul", {V{t.call("sin", {V{0}})}, V{1}});
  const TraceId g = t.grad(t.call("sum", {V{y}}), {0}, true)[0];
  t.backward(t.call("sum", {V{t.call("mul", {V{g}, V{g}})}}));
  require_same(t.trace, make);
}

TEST_CASE("an SGD step written by hand runs on the parameter's memory", "[train]") {
  const auto make = [] { return std::vector<Tensor>{leaf(filled({64}, 1)), filled({64}, 2)}; };
  TraceMaker t(make());
  t.backward(t.call("sum", {V{t.call("mul", {V{0}, V{1}})}}));
  t.grad_mode(false);
  t.in_place("sub", {V{0}, V{t.call("mul", {V{t.read_grad(0)}, Arg(0.1)})}});
  t.grad_mode(true);
  require_same(t.trace, make);
}

TEST_CASE("batch norm with running statistics, dropout", "[train]") {
  const auto make = [] {
    default_generator().manual_seed(7);
    return std::vector<Tensor>{filled({6, 5}, 1),    filled({5}, 2),       values({5}, {1, 1, 1, 1, 1}),
                               leaf(filled({5}, 3)), leaf(filled({5}, 4)), filled({1}, 5, DType::I64)};
  };
  TraceMaker t(make());
  t.in_place("add", {V{5}, Arg(1)});
  const TraceId n = t.call("batch_norm", {V{0}, V{1}, V{2}, V{3}, V{4}, Arg(true), Arg(0.1), Arg(1e-5)});
  const TraceId d = t.call("dropout", {V{n}, Arg(0.4), Arg(true)});
  const TraceId e = t.call("dropout", {V{d}, Arg(0.5), Arg(true)});
  t.backward(t.call("sum", {V{t.call("mul", {V{e}, V{0}})}}));
  require_same(t.trace, make);
}

TEST_CASE("an abandoned run puts the random state back", "[train]") {
  const auto make = [] { return std::vector<Tensor>{filled({6}, 1)}; };
  TraceMaker t(make());
  t.output(t.call("dropout", {V{0}, Arg(0.5), Arg(true)}));
  const auto compiled = compile(t.trace);
  default_generator().manual_seed(3);
  std::vector<RunOutput> outputs;
  REQUIRE(compiled
              ->run(
                  lend(make()), {}, [] { return false; }, outputs)
              .status == RunStatus::Refused);
  REQUIRE(compiled->run(lend(make()), {}, nullptr, outputs).status == RunStatus::Done);
  const std::string first = bits(std::get<Tensor>(outputs[0]));
  default_generator().manual_seed(3);
  REQUIRE(compiled->run(lend(make()), {}, nullptr, outputs).status == RunStatus::Done);
  CHECK(bits(std::get<Tensor>(outputs[0])) == first);
  REQUIRE(compiled->run(lend(make()), {}, nullptr, outputs).status == RunStatus::Done);
  CHECK(bits(std::get<Tensor>(outputs[0])) != first);
}
