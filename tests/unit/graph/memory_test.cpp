// Where values lie and which way round: results in the memory of operands that nobody reads again, and copies of
// operands that many products read.
#include <catch2/catch.hpp>

#include <memory>
#include <utility>

#include "engine/autograd/autograd.h"
#include "engine/errors/errors.h"
#include "engine/memory/allocator.h"
#include "graph/cache/compiled.h"
#include "graph/executor/activation.h"
#include "graph/executor/planner.h"
#include "graph/ir/parse.h"
#include "graph/ir/print.h"
#include "graph/ir/verify.h"
#include "graph/passes/copy_transposed.h"
#include "tests/unit/graph/support.h"

using namespace terra;
using namespace terra::graph;

namespace {

size_t peak_bytes(const std::string& text) {
  Graph g = parse(text, {});
  PlanRequest request;
  for (ValueId input : g.inputs) request.input_strides.push_back(contiguous_strides(g.meta(input).sizes));
  for (size_t o = 0; o < g.outputs.size(); o++) request.roles.push_back({OutputRole::Kind::Fresh, 0});
  return make_plan(g, std::move(request)).peak_bytes;
}

/// `count` products of `rows` rows with the transposed second input or the last 128 of its columns, and what the pass
/// makes of them.
std::string products(int rows, int count, bool expected, bool part = false) {
  const std::string columns = part ? "128" : "200", operand = part ? "%3" : "%2";
  const std::string product = "f32[" + std::to_string(rows) + "," + columns + "] = mm(%0, " + operand + ")";
  std::string text = "graph \"g\"(%0: f32[" + std::to_string(rows) +
                     ",150], %1: f32[200,150]) { %2: f32[150,200] = t(%1) %3: f32[150,128] = narrow(%2, 1, 72, 128) ";
  std::string results;
  for (int i = 4; i < 4 + count; i++) {
    text += "%" + std::to_string(i) + ": " + product + " ";
    results += (results.empty() ? "%" : ", %") + std::to_string(i);
  }
  Graph g = parse(text + "return " + results + " }", {});
  CHECK(copy_transposed(g) == expected);
  verify(g, Stage::Optimized, "in a test");
  return print(g);
}

size_t occurrences(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) count++;
  return count;
}

}  // namespace

TEST_CASE("a row kernel's result lies where its dead operand did", "[memory]") {
  test::start();
  const std::string head =
      "graph \"g\"(%0: f32[64,64], %1: f32[64,1000], %2: i64[64]) { %3: f32[64,1000] = mm(%0, %1) ";
  const size_t scores = 64 * 1000 * 4;
  for (const char* op : {"softmax", "log_softmax"}) {
    const std::string call = std::string("%4: f32[64,1000] = ") + op;
    CHECK(peak_bytes(head + call + "(%3, 1) %5: f32[64] = sum(%4, (1), false) return %5 }") < 2 * scores);
    CHECK(peak_bytes(head + call +
                     "(%3, 1) %5: f32[64] = sum(%4, (1), false) %6: f32[64] = sum(%3, (1), false) "
                     "return %5, %6 }") >= 2 * scores);
  }
}

TEST_CASE("a transposed matrix that many small products read is copied once", "[passes]") {
  test::start();
  const std::string text = products(20, 12, true);
  CHECK(occurrences(text, "= clone(%2, none)") == 1);
  CHECK(occurrences(text, "mm(%0, %2)") == 0);
  CHECK(occurrences(text, "= mm(%0, ") == 12);
  const std::string of_parts = products(20, 12, true, true);
  CHECK(occurrences(of_parts, "= clone(%3, none)") == 1);
  CHECK(occurrences(of_parts, "clone(%2") == 0);
  CHECK(occurrences(of_parts, "mm(%0, %3)") == 0);
  products(20, 5, false);
  products(65, 12, false);
}

namespace {

/// With every buffer a large one.
struct EveryBufferLent {
  EveryBufferLent() : before(std::exchange(lent_bytes(), 1)) {}
  ~EveryBufferLent() { lent_bytes() = before; }
  const size_t before;
};

uint64_t live() { return memory::statistics().live_bytes; }

/// A graph that returns tensors of its own only, bound to megabyte inputs.
struct Bound {
  explicit Bound(const std::string& text, bool consumable = false) : graph(parse(text, {})) {
    PlanRequest request;
    for (size_t o = 0; o < graph.outputs.size(); o++) request.roles.push_back({OutputRole::Kind::Fresh, 0});
    if (consumable) request.consumable.assign(graph.inputs.size(), true);
    instance = std::make_unique<Instance>(make_plan(graph, std::move(request)));
    activation = std::make_unique<RootActivation>(*instance);
    for (size_t i = 0; i < graph.inputs.size(); i++) {
      const ValueMeta& meta = graph.meta(graph.inputs[i]);
      inputs.push_back(test::filled(meta.sizes, static_cast<uint32_t>(i + 1), meta.dtype));
      activation->bind_input(i, inputs.back()->data());
    }
    fresh.resize(graph.outputs.size());
  }

  Graph graph;
  std::unique_ptr<Instance> instance;
  std::unique_ptr<RootActivation> activation;
  std::vector<Tensor> inputs;
  std::vector<Ref<Storage>> fresh;
};

const std::string kProducts =
    "graph \"g\"(%0: f32[512,512]) { %1: f32[512,512] = mm(%0, %0) %2: f32[512,512] = mm(%1, %1) "
    "%3: f32[512,512] = mm(%2, %2) %4: f32[512,512] = mm(%3, %3) ";
constexpr uint64_t kMegabyte = 1 << 20;

}  // namespace

TEST_CASE("between runs a graph has no large memory, and in a run what is alive", "[memory]") {
  test::start();
  Bound b(kProducts + "return %4 }");
  const uint64_t before = live();
  for (int run = 0; run < 3; run++) {
    memory::reset_peak();
    REQUIRE(b.activation->run_body(nullptr, b.fresh).why == Stop::Why::None);
    b.activation->run_tail();
    CHECK(live() == before + kMegabyte);
    CHECK(memory::statistics().peak_bytes == before + 2 * kMegabyte);
    CHECK(b.instance->plan().peak_bytes == 2 * kMegabyte);
    b.fresh[0].reset();
    CHECK(live() == before);
  }
}

TEST_CASE("a run that ends early gives its memory back", "[memory]") {
  test::start();
  Bound b(
      kProducts +
      "%5: i64[512,512] = to_dtype(%4, :i64, none) %6: f32[512,512] = gather(%4, 1, %5) %7: f32[512,512] = mm(%6, %4) "
      "return %7 }");
  const uint64_t before = live();
  b.inputs[0]->data_as<float>()[0] = 1e9f;
  CHECK_THROWS_AS(b.activation->run_body(nullptr, b.fresh), Error);
  CHECK(live() == before);
  CHECK_FALSE(b.activation->is_settled());
}

TEST_CASE("an input that is used up goes behind its last reader", "[memory]") {
  test::start();
  for (const bool consumes : {false, true}) {
    Bound b(kProducts + "return %4 }", true);
    const uint64_t before = live();
    std::vector<TensorImpl*> consumed{consumes ? b.inputs[0].get() : nullptr};
    memory::reset_peak();
    b.activation->consume(consumed);
    REQUIRE(b.activation->run_body(nullptr, b.fresh).why == Stop::Why::None);
    b.activation->run_tail();
    CHECK(bool(b.inputs[0]->storage) == !consumes);
    CHECK(live() == before + (consumes ? 0 : kMegabyte));
  }
}

TEST_CASE("new gradients are made in the memory of old ones that nobody else has", "[memory]") {
  const EveryBufferLent lent;
  const auto make = [] {
    return std::vector<Tensor>{test::filled({8, 16}, 1), test::leaf(test::filled({32, 16}, 2)),
                               test::leaf(test::filled({4, 32}, 3))};
  };
  test::TraceMaker t(make());
  for (TraceId p : {1, 2}) t.write_grad(p, kNoValue);
  const TraceId h = t.call("tanh", {test::V{t.call("linear", {test::V{0}, test::V{1}})}});
  const TraceId loss = t.call("sum", {test::V{t.call("linear", {test::V{h}, test::V{2}})}});
  t.backward(loss);
  t.output(t.call("detach", {test::V{loss}}));
  const std::shared_ptr<Compiled> compiled = compile(t.trace);
  const std::vector<Tensor> inputs = make();
  const auto run = [&] {
    REQUIRE(test::run_once(*compiled, inputs).defined());
    return autograd::grad(inputs[1])->data();
  };
  const void* const first = run();
  const std::string expected = test::bits(autograd::grad(inputs[1]));
  CHECK(run() == first);
  CHECK(test::bits(autograd::grad(inputs[1])) == expected);
  const Tensor kept = autograd::grad(inputs[1]), part = kept.alias();
  inputs[0]->data_as<float>()[3] += 1;
  CHECK(run() != first);
  CHECK(test::bits(kept) == expected);
  CHECK(test::bits(autograd::grad(inputs[1])) != expected);
}
