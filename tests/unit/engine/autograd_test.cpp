// The tape, through the public op calls: values are checked against the formula written by hand.
#include "engine/autograd/autograd.h"

#include <catch2/catch.hpp>

#include "engine/autograd/weight_products.h"
#include "engine/eager/eager.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"

using namespace terra;

namespace {

const Op& op(std::string_view name) {
  eager::start();
  const Op* found = find_op(name);
  REQUIRE(found != nullptr);
  return *found;
}

Tensor vector_of(std::initializer_list<double> values, bool requires_grad = false) {
  const Tensor t = Tensor::empty(Dims{static_cast<int64_t>(values.size())}, DType::F64);
  std::copy(values.begin(), values.end(), t->data_as<double>());
  if (requires_grad) autograd::set_requires_grad(t, true);
  return t;
}

std::vector<double> values(const Tensor& t) {
  REQUIRE(t.defined());
  const Tensor flat = op("clone")(t);
  return {flat->data_as<double>(), flat->data_as<double>() + flat.numel()};
}

void backward(const Tensor& root, bool retain = false, bool create = false) {
  const Tensor roots[] = {root};
  autograd::backward(roots, {}, retain, create);
}

}  // namespace

TEST_CASE("gradients accumulate into leaves") {
  const Tensor x = vector_of({1, 2, 3}, true), y = vector_of({4, 5, 6}, true);
  const auto loss = [&] { return op("sum")(op("mul")(op("mul")(x, y), x)); };
  backward(loss());
  CHECK(values(autograd::grad(x)) == std::vector<double>{8, 20, 36});
  CHECK(values(autograd::grad(y)) == std::vector<double>{1, 4, 9});
  backward(loss());
  CHECK(values(autograd::grad(y)) == std::vector<double>{2, 8, 18});
}

TEST_CASE("a number or a broadcast operand gets a gradient of its own shape") {
  const Tensor x = vector_of({1, 2, 3}, true), b = vector_of({10}, true);
  backward(op("sum")(op("add")(op("mul")(x, 3.0), b)));
  CHECK(values(autograd::grad(x)) == std::vector<double>{3, 3, 3});
  CHECK(values(autograd::grad(b)) == std::vector<double>{3});
}

TEST_CASE("braces without numbers stand for a number that isn't given") {
  const Tensor x = vector_of({-2, 0.5, 3}, true);
  const Tensor y = op("clamp")(x, {}, 1.0);
  CHECK(values(y) == std::vector<double>{-2, 0.5, 1});
  backward(op("sum")(y));
  CHECK(values(autograd::grad(x)) == std::vector<double>{1, 1, 0});
}

TEST_CASE("second derivatives come from the same rules") {
  const Tensor x = vector_of({2, 3}, true);
  const Tensor cube = op("mul")(op("mul")(x, x), x);
  const Tensor roots[] = {op("sum")(cube)}, inputs[] = {x};
  const std::vector<Tensor> first = autograd::gradients(roots, {}, inputs, true, true, false);
  CHECK(values(first[0]) == std::vector<double>{12, 27});
  const Tensor roots2[] = {op("sum")(first[0])};
  CHECK(values(autograd::gradients(roots2, {}, inputs, false, false, false)[0]) == std::vector<double>{12, 18});
}

TEST_CASE("a saved tensor that was written since is noticed") {
  const Tensor x = vector_of({1, 2}, true), w = vector_of({3, 4});
  const Tensor loss = op("sum")(op("mul")(x, w));
  op("add").in_place(w, 1.0);
  CHECK_THROWS_WITH(backward(loss), Catch::Matchers::Contains("modified by an inplace operation") &&
                                        Catch::Matchers::Contains("is at version 1; expected version 0 instead"));
}

TEST_CASE("an in-place op continues the history of its tensor") {
  const Tensor x = vector_of({1, 2}, true);
  const Tensor y = op("mul")(x, 2.0);
  op("add").in_place(y, x);
  op("mul").in_place(y, 5.0);
  backward(op("sum")(y));
  CHECK(values(autograd::grad(x)) == std::vector<double>{15, 15});
}

TEST_CASE("a leaf that requires grad can't be written, and neither can a view of it") {
  const Tensor x = vector_of({1, 2, 3}, true);
  CHECK_THROWS_WITH(op("mul").in_place(x, 2.0),
                    "a leaf Variable that requires grad is being used in an in-place operation.");
  const Tensor view = op("narrow")(x, 0, 0, 2);
  CHECK_THROWS_WITH(op("mul").in_place(view, 2.0),
                    "a view of a leaf Variable that requires grad is being used in an in-place operation.");
  GradMode off(false);
  op("mul").in_place(x, 2.0);
  CHECK(values(x) == std::vector<double>{2, 4, 6});
}

TEST_CASE("writing a view changes the history of its base and of its siblings") {
  const Tensor x = vector_of({1, 2, 3}, true), w = vector_of({7, 8}, true);
  const Tensor y = op("mul")(x, 2.0);
  const Tensor whole = op("narrow")(y, 0, 0, 3);
  const Tensor slice = op("narrow")(y, 0, 1, 2);
  op("mul").in_place(slice, w);
  backward(op("sum")(whole));
  CHECK(values(autograd::grad(x)) == std::vector<double>{2, 14, 16});
  CHECK(values(autograd::grad(w)) == std::vector<double>{4, 6});
}

TEST_CASE("hooks see and may replace gradients") {
  const Tensor x = vector_of({1, 2}, true);
  const Tensor y = op("mul")(x, 3.0);
  std::vector<double> seen;
  autograd::add_hook(y, [&](const Tensor& g) {
    seen = values(g);
    return op("mul")(g, 10.0);
  });
  const uint64_t id = autograd::add_hook(x, [](const Tensor& g) { return op("neg")(g); });
  autograd::retain_grad(y);
  backward(op("sum")(y), true);
  CHECK(seen == std::vector<double>{1, 1});
  CHECK(values(autograd::grad(x)) == std::vector<double>{-30, -30});
  CHECK(values(autograd::grad(y)) == std::vector<double>{10, 10});
  autograd::remove_hook(x, id);
  autograd::set_grad(x, Tensor());
  backward(op("sum")(y));
  CHECK(values(autograd::grad(x)) == std::vector<double>{30, 30});
}

TEST_CASE("retained gradients come behind all hooks, are added up, and follow a write in place") {
  const Tensor x = vector_of({1, 2}, true);
  const Tensor y = op("mul")(x, 3.0);
  const auto times = [](double factor) { return [factor](const Tensor& g) { return op("mul")(g, factor); }; };
  autograd::add_hook(y, times(2));
  autograd::retain_grad(y);
  const uint64_t before = autograd::add_hook(y, times(5));
  CHECK(autograd::has_hook(y, before));
  backward(op("sum")(y), true);
  CHECK(values(autograd::grad(y)) == std::vector<double>{10, 10});
  backward(op("sum")(y), true);
  CHECK(values(autograd::grad(y)) == std::vector<double>{20, 20});
  autograd::set_grad(y, vector_of({1, 1}));
  backward(op("sum")(y));
  CHECK(values(autograd::grad(y)) == std::vector<double>{11, 11});
  CHECK(values(autograd::grad(x)) == std::vector<double>{90, 90});

  const Tensor z = op("mul")(x, 3.0);
  autograd::add_hook(z, times(2));
  autograd::retain_grad(z);
  op("mul").in_place(z, 4.0);
  CHECK(!autograd::has_hook(z, before));
  autograd::set_grad(x, Tensor());
  backward(op("sum")(z));
  CHECK(values(autograd::grad(z)) == std::vector<double>{1, 1});
  CHECK(values(autograd::grad(x)) == std::vector<double>{24, 24});
}

TEST_CASE("what gradients() is asked for has passed its hooks where the pass ends there") {
  const Tensor x = vector_of({1, 2}, true);
  const Tensor y = op("mul")(x, 3.0);
  autograd::add_hook(x, [](const Tensor& g) { return op("add")(g, 100.0); });
  autograd::add_hook(y, [](const Tensor& g) { return op("mul")(g, 10.0); });
  const auto gradient = [](const Tensor& root, const Tensor& of) {
    const Tensor roots[] = {root}, inputs[] = {of};
    return values(autograd::gradients(roots, {}, inputs, true, false, false)[0]);
  };
  const Tensor loss = op("sum")(y);
  CHECK(gradient(loss, y) == std::vector<double>{10, 10});
  CHECK(gradient(loss, x) == std::vector<double>{130, 130});
}

TEST_CASE("backward twice needs retain_graph") {
  const Tensor x = vector_of({1, 2}, true);
  const Tensor loss = op("sum")(op("mul")(x, x));
  backward(loss, true);
  backward(loss);
  CHECK_THROWS_WITH(backward(loss), Catch::Matchers::Contains("backward through the graph a second time"));
}

TEST_CASE("products with a weight wait until there are many rows") {
  const auto rows = [](int64_t n, double value) { return op("full")(Dims{n, 2}, value, DType::F64); };
  const Tensor first = op("full")(Dims{2, 2}, 1.0, DType::F64), second = op("clone")(first);
  for (const Tensor& weight : {first, second}) autograd::set_requires_grad(weight, true);
  const autograd::Edge one = autograd::gradient_edge(first), other = autograd::gradient_edge(second);
  REQUIRE(one.node);

  autograd::WeightProducts products;
  CHECK(products.empty());
  CHECK_FALSE(products.add(one, {rows(200, 1.0), rows(200, 2.0)}));
  CHECK_FALSE(products.add(other, {rows(200, 1.0), rows(200, 1.0)}));
  CHECK_FALSE(products.add(one, {rows(55, 1.0), rows(55, 2.0)}));
  CHECK(products.add(one, {rows(1, 4.0), rows(1, 10.0)}));
  REQUIRE(products.has(one.node.get()));
  autograd::Edge weight;
  CHECK(values(products.take(one.node.get(), weight)) == std::vector<double>(4, 255 * 2 + 40));
  CHECK(weight.node == one.node);
  CHECK_FALSE(products.has(one.node.get()));
  CHECK(products.any() == other.node.get());
  CHECK(values(products.take(other.node.get(), weight)) == std::vector<double>(4, 200));
  CHECK(products.empty());
}

TEST_CASE("a weight that is used often gets the sum over its uses") {
  constexpr int64_t n = 32;
  const Tensor w = op("full")(Dims{n, n}, 0.5, DType::F64), x = op("full")(Dims{1, n}, 2.0, DType::F64);
  autograd::set_requires_grad(w, true);
  Tensor total = op("sum")(op("linear")(x, w));
  constexpr int uses = 600;
  for (int i = 1; i < uses; ++i) total = op("add")(total, op("sum")(i % 2 ? op("mm")(x, w) : op("linear")(x, w)));
  backward(total);
  CHECK(values(autograd::grad(w)) == std::vector<double>(n * n, 2.0 * uses));
}

TEST_CASE("an unused input is an error unless allowed") {
  const Tensor x = vector_of({1}, true), z = vector_of({1}, true);
  const Tensor roots[] = {op("sum")(op("mul")(x, 2.0))}, inputs[] = {z};
  CHECK_THROWS_WITH(autograd::gradients(roots, {}, inputs, true, false, false),
                    Catch::Matchers::Contains("appears to not have been used in the graph"));
  CHECK_FALSE(autograd::gradients(roots, {}, inputs, false, false, true)[0].defined());
}

TEST_CASE("a chain of a hundred thousand nodes is walked and freed without recursion") {
  const Tensor x = vector_of({1}, true);
  Tensor y = op("mul")(x, 1.0);
  for (int i = 0; i < 100'000; ++i) y = op("add")(y, 0.0);
  const Tensor roots[] = {y};
  autograd::backward(roots, {}, true, false);
  CHECK(values(autograd::grad(x)) == std::vector<double>{1});
  y = Tensor();
}

TEST_CASE("no history is kept without gradients") {
  const Tensor x = vector_of({1, 2}, true);
  GradMode off(false);
  const Tensor y = op("mul")(x, 2.0);
  CHECK_FALSE(y.requires_grad());
  CHECK(autograd::is_leaf(y));
}
