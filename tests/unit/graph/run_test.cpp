// Compiled traces against eager execution: forwards, writes, views, asserts, scalars.
#include <catch2/catch.hpp>
#include <chrono>

#include "engine/errors/errors.h"
#include "engine/tensor/epoch.h"
#include "tests/unit/graph/support.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::graph::test;

TEST_CASE("an MLP forward", "[run]") {
  const auto make = [] {
    return std::vector<Tensor>{filled({8, 16}, 1), filled({32, 16}, 2), filled({32}, 3), filled({4, 32}, 4),
                               filled({4}, 5)};
  };
  TraceMaker t(make());
  const TraceId h = t.call("linear", {V{0}, V{1}, V{2}});
  const TraceId a = t.call("relu", {V{h}});
  const TraceId y = t.call("linear", {V{a}, V{3}, V{4}});
  t.output(t.call("softmax", {V{y}, Arg(1)}));
  require_same(t.trace, make);
}

TEST_CASE("elementwise with broadcasting, numbers and other dtypes", "[run]") {
  const auto make = [] {
    return std::vector<Tensor>{filled({5, 7}, 1), filled({7}, 2), filled({5, 1}, 3), filled({5, 7}, 4, DType::I64)};
  };
  TraceMaker t(make());
  const TraceId a = t.call("add", {V{0}, V{1}});
  const TraceId b = t.call("mul", {V{a}, V{2}});
  const TraceId c = t.call("sub", {Arg(1.5), V{b}});
  const TraceId d = t.call("mul", {V{c}, V{3}});
  const TraceId e = t.call("gt", {V{d}, Arg(0)});
  t.output(t.call("where", {V{e}, V{d}, V{0}}));
  t.output(c);
  t.output(e);
  require_same(t.trace, make);
}

TEST_CASE("writes through x.data change x and not its version", "[run]") {
  const auto make = [] { return std::vector<Tensor>{filled({4, 6}, 1)}; };
  TraceMaker t(make());
  const TraceId data = t.data(0);
  const TraceId row = t.call("select", {V{data}, Arg(0), Arg(1)});
  t.in_place("mul", {V{row}, Arg(3)});
  t.in_place("add", {V{data}, Arg(1)});
  t.output(t.call("sum", {V{0}}));
  t.output(data);
  require_same(t.trace, make);

  const std::vector<Tensor> inputs = make();
  const auto compiled = compile(t.trace);
  run_once(*compiled, inputs);
  CHECK(inputs[0]->storage->version() == 0);
  CHECK(bits(inputs[0]) != bits(make()[0]));
}

TEST_CASE("inputs that are said to be the same are read where they are by then", "[run]") {
  TraceMaker t({filled({4, 6}, 1), filled({4, 6}, 2)});
  t.output(t.call("mul", {V{0}, V{1}}));
  const auto compiled = compile(t.trace);
  const std::vector<Tensor> inputs = {filled({4, 6}, 3), filled({4, 6}, 4)};
  int host_object = 0;
  for (const Tensor& input : inputs) input->owner = &host_object;
  std::vector<RunOutput> outputs;
  const auto product = [&](const std::vector<Tensor>& given, const SameTensors& same) {
    const RunResult result = compiled->run(lend(given), {}, nullptr, outputs, nullptr, same);
    REQUIRE(result.status == RunStatus::Done);
    return bits(std::get<Tensor>(outputs[0]));
  };
  const auto expected = [&] { return bits((*find_op("mul"))(inputs[0], inputs[1])); };
  const SameTensors same{7, {}};
  CHECK(product(inputs, same) == expected());
  CHECK(product(inputs, same) == expected());

  const Tensor elsewhere = filled({4, 6}, 5);
  become(*inputs[1], elsewhere->storage, *elsewhere);
  CHECK(product(inputs, same) == expected());
  const Tensor larger = filled({8, 6}, 6);
  become(*inputs[0], larger->storage, *Tensor::view_of(larger->storage, DType::F32, Dims{4, 6}, Dims{6, 1}, 12));
  CHECK(product(inputs, same) == expected());

  // A run on copies finds out that an original has moved and nobody was told.
  const std::vector<Tensor> copies = {filled({4, 6}, 3), filled({4, 6}, 4)};
  const std::vector<TensorImpl*> originals = lend(inputs);
  const SameTensors of_copies{7, {}, originals};
  CHECK(product(copies, of_copies) == bits((*find_op("mul"))(copies[0], copies[1])));
  become(*inputs[1], filled({4, 6}, 7)->storage, *inputs[1]);
  CHECK_NOTHROW(product(copies, of_copies));
  inputs[1]->storage = filled({4, 6}, 8)->storage;
  CHECK_THROWS_WITH(product(copies, of_copies), Catch::Contains("has moved"));
  CHECK(product(inputs, {8, {}}) == expected());
  for (const Tensor& input : inputs) input->owner = nullptr;
}

TEST_CASE("transposed operands", "[run]") {
  const auto make = [] { return std::vector<Tensor>{filled({40, 70}, 1), filled({70, 40}, 2)}; };
  TraceMaker t(make());
  const TraceId a = t.call("t", {V{1}});
  const TraceId b = t.call("add", {V{0}, V{a}});
  t.output(t.call("exp", {V{b}}));
  t.output(a);
  require_same(t.trace, make);
}

TEST_CASE("in-place writes and views of inputs", "[run]") {
  const auto make = [] { return std::vector<Tensor>{filled({4, 6}, 1), filled({4, 6}, 2)}; };
  SECTION("the whole tensor, read before and after") {
    TraceMaker t(make());
    const TraceId before = t.call("mul", {V{0}, V{1}});
    t.in_place("add", {V{0}, V{1}});
    t.output(t.call("mul", {V{0}, V{before}}));
    require_same(t.trace, make);
  }
  SECTION("a row") {
    TraceMaker t(make());
    const TraceId row = t.call("select", {V{0}, Arg(0), Arg(1)});
    t.in_place("mul", {V{row}, Arg(3)});
    t.output(t.call("sum", {V{0}}));
    t.output(row);
    require_same(t.trace, make);
  }
  SECTION("a view of a view, seen through another view") {
    TraceMaker t(make());
    const TraceId tr = t.call("t", {V{0}});
    const TraceId part = t.call("narrow", {V{tr}, Arg(0), Arg(1), Arg(2)});
    t.in_place("copy", {V{part}, Arg(7.0)});
    t.output(t.call("add", {V{tr}, Arg(1)}));
    t.output(tr);
    CHECK_THROWS_AS(compile(t.trace), std::exception);  // copy wants a tensor
  }
  SECTION("narrow of a transpose") {
    TraceMaker t(make());
    const TraceId tr = t.call("t", {V{0}});
    const TraceId part = t.call("narrow", {V{tr}, Arg(0), Arg(1), Arg(2)});
    t.in_place("fill", {V{part}, Arg(7.0)});
    t.output(t.call("add", {V{tr}, Arg(1)}));
    t.output(tr);
    require_same(t.trace, make);
  }
  SECTION("two inputs swap values") {
    TraceMaker t(make());
    const TraceId old = t.call("clone", {V{0}});
    t.in_place("copy", {V{0}, V{1}});
    t.in_place("copy", {V{1}, V{old}});
    require_same(t.trace, make);
  }
}

TEST_CASE("inputs that share storage", "[run]") {
  const auto make = [] {
    const Tensor flat = filled({12}, 1);
    return std::vector<Tensor>{flat, Tensor::view_of(flat->storage, DType::F32, Dims{3, 2}, Dims{2, 1}, 3)};
  };
  TraceMaker t(make());
  t.in_place("mul", {V{1}, Arg(2)});
  t.output(t.call("add", {V{0}, Arg(1)}));
  t.in_place("add", {V{0}, Arg(5)});
  t.output(t.call("mul", {V{1}, Arg(1)}));
  require_same(t.trace, make);
}

TEST_CASE("host scalars", "[run]") {
  const auto make = [] { return std::vector<Tensor>{filled({9}, 1)}; };
  TraceMaker t(make());
  const TraceId s = t.scalar(Scalar::Kind::Float);
  const TraceId scaled = t.call("mul", {V{0}, V{s}});
  const TraceId total = t.call("sum", {V{scaled}});
  const TraceId number = t.item(total, Scalar::Kind::Float);
  t.output(t.call("add", {V{0}, V{number}}));
  t.output(number);
  require_same(t.trace, make, {Scalar(0.3)});
}

TEST_CASE("a failed assert publishes nothing", "[run]") {
  const auto make = [] { return std::vector<Tensor>{filled({6}, 1), filled({6}, 2)}; };
  TraceMaker t(make());
  t.in_place("add", {V{0}, V{1}});
  const TraceId total = t.call("sum", {V{1}});
  const TraceId positive = t.call("gt", {V{total}, Arg(1000)});
  t.assert_truth(positive, false);
  const TraceId again = t.call("lt", {V{total}, Arg(1000)});
  t.assert_truth(again, false);
  const auto compiled = compile(t.trace);
  const std::vector<Tensor> inputs = make();
  const std::string before = bits(inputs[0]);
  std::vector<RunOutput> outputs;
  const RunResult r = compiled->run(lend(inputs), {}, nullptr, outputs);
  CHECK(r.status == RunStatus::AssertFailed);
  CHECK(r.failed_assert == 1);
  CHECK(bits(inputs[0]) == before);
  CHECK(inputs[0]->version() == 0);
}

TEST_CASE("a refused run publishes nothing", "[run]") {
  const auto make = [] { return std::vector<Tensor>{filled({6}, 1)}; };
  TraceMaker t(make());
  t.in_place("mul", {V{0}, Arg(2)});
  const auto compiled = compile(t.trace);
  const std::vector<Tensor> inputs = make();
  const std::string before = bits(inputs[0]);
  std::vector<RunOutput> outputs;
  CHECK(compiled
            ->run(
                lend(inputs), {}, [] { return false; }, outputs)
            .status == RunStatus::Refused);
  CHECK(bits(inputs[0]) == before);
  CHECK(compiled
            ->run(
                lend(inputs), {}, [] { return true; }, outputs)
            .status == RunStatus::Done);
  CHECK(bits(inputs[0]) != before);
  CHECK(inputs[0]->version() == 1);
}

TEST_CASE("overhead of a step and of a run", "[.bench]") {
  const auto make = [] { return std::vector<Tensor>{filled({1}, 1)}; };
  for (int length : {0, 1000}) {
    TraceMaker t(make());
    TraceId x = 0;
    for (int k = 0; k < length; ++k) x = t.call(k % 2 ? "neg" : "sign", {V{x}});
    t.output(x);
    const auto compiled = compile(t.trace);
    const auto inputs = make();
    std::vector<RunOutput> outputs;
    double best = 1e9;
    for (int k = 0; k < 50; ++k) {
      const auto start = std::chrono::steady_clock::now();
      for (int r = 0; r < 20; ++r) compiled->run(lend(inputs), {}, nullptr, outputs);
      const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
      best = std::min(best, took.count() / 20);
    }
    WARN(compiled->node_count() << " nodes: " << best << " ns a run");
  }
}
