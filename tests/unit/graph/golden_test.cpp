// The printed graph of a LeNet-shaped training step, as a reader should be able to follow it: structure only.
#include <catch2/catch.hpp>

#include "graph/cache/compiled.h"
#include "tests/unit/graph/support.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::graph::test;

TEST_CASE("the graph of a convolutional training step", "[golden]") {
  const auto make = [] {
    Tensor y = Tensor::empty(Dims{2}, DType::I64);
    y->data_as<int64_t>()[0] = 1;
    y->data_as<int64_t>()[1] = 3;
    return std::vector<Tensor>{filled({2, 1, 8, 8}, 1),       y,
                               leaf(filled({4, 1, 3, 3}, 2)), leaf(filled({4}, 3)),
                               leaf(filled({5, 64}, 4)),      leaf(filled({5}, 5))};
  };
  start();
  TraceMaker t(make());
  const TraceId c = t.call("conv2d", {V{0}, V{2}, V{3}, Arg({1, 1}), Arg({1, 1})});
  const TraceId p = t.call("max_pool2d", {V{t.call("relu", {V{c}})}, Arg({2, 2})});
  const TraceId y = t.call("linear", {V{t.call("flatten", {V{p}, Arg(1)})}, V{4}, V{5}});
  const TraceId loss = t.call("cross_entropy", {V{y}, V{1}});
  t.backward(loss);
  t.grad_mode(false);
  std::vector<TraceId> grads;
  for (TraceId w : {2, 3, 4, 5}) grads.push_back(t.read_grad(w));
  t.call_many(
      "sgd_update",
      {L{{2, 3, 4, 5}}, L{grads}, L{{}}, Arg(0.1), Arg(0.0), Arg(0.0), Arg(0.0), Arg(false), Arg(false), Arg(false)},
      0);
  t.grad_mode(true);
  t.output(t.item(loss, Scalar::Kind::Float));
  require_same(t.trace, make);

  // Ops in the order of the program: forward, then gradients from the loss back to the input, then one update. No
  // gradient of the images; no ones, clones or copies left.
  const std::string text = compile(t.trace)->text();
  INFO(text);
  size_t at = 0;
  for (const char* op : {"conv2d(", "relu(", "max_pool2d_with_indices(", "view(", "linear(", "log_softmax(",
                         "nll_loss_forward(", "cross_entropy_backward(", "max_pool2d_backward(", "threshold_backward(",
                         "conv2d_backward_weight(", "sgd_update(", "return"}) {
    INFO(op);
    const size_t found = text.find(op, at);
    REQUIRE(found != std::string::npos);
    at = found;
  }
  for (const char* op : {"conv2d_backward_input", "clone(", "copy(", "full(", "expand("}) {
    INFO(op);
    CHECK(text.find(op) == std::string::npos);
  }
}
