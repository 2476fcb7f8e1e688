// Backward halves of many runs of a pair at once: gradients are those of the runs one by one.
#include "graph/cache/pair_batch.h"

#include <catch2/catch.hpp>

#include "engine/autograd/autograd.h"
#include "engine/ops/call.h"
#include "graph/cache/rounding.h"
#include "recursive/batching/backward_rows.h"
#include "tests/unit/graph/support.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::graph::test;

namespace {

template <class... A>
Tensor op(const char* name, A&&... args) {
  return (*find_op(name))(std::forward<A>(args)...);
}

int batches = 0, rows = 0, errors = 0;

/// Looks at what runs, and may spoil it.
struct Spy final : RowsOfBackward {
  Spy(std::unique_ptr<RowsOfBackward> made, bool spoiled) : inner(std::move(made)), spoils(spoiled) {}
  Form form(size_t gradient) const override { return inner->form(gradient); }
  std::vector<Tensor> run(std::span<const Tensor> inputs, int64_t runs) override {
    ++batches;
    rows += static_cast<int>(runs);
    std::vector<Tensor> made = inner->run(inputs, runs);
    if (spoils) made.back() = op("add", made.back(), 1.0);
    return made;
  }
  const std::unique_ptr<RowsOfBackward> inner;
  const bool spoils;
};

template <bool spoils>
std::unique_ptr<RowsOfBackward> make_spy(const Program& backward, const SharedByRuns& shared) {
  std::unique_ptr<RowsOfBackward> made = recursive::make_backward_rows(backward, shared);
  return made ? std::make_unique<Spy>(std::move(made), spoils) : nullptr;
}

using Make = decltype(make_rows_of_backward);

/// h = tanh(linear(x, w, b) + h * s), y = (h @ v) of many chains; gradients of what requires them.
struct Chains {
  std::vector<Tensor> weights = {leaf(filled({6, 4}, 1)), leaf(filled({6}, 2)), leaf(filled({6, 5}, 3))};
  std::vector<Tensor> starts;

  std::vector<Tensor> gradients(Make make, int chains, int steps) {
    make_rows_of_backward = make;
    batches = rows = errors = 0;
    TraceMaker t({filled({2, 4}, 4), leaf(filled({2, 6}, 5)), weights[0], weights[1], weights[2]});
    const TraceId s = t.scalar(Scalar::Kind::Float);
    const TraceId linear = t.call("linear", {V{0}, V{2}, V{3}});
    const TraceId h = t.call("tanh", {V{t.call("add", {V{linear}, V{t.call("mul", {V{1}, V{s}})}})}});
    t.output(h);
    t.output(t.call("mm", {V{h}, V{4}}));
    const auto compiled = compile(t.trace);
    starts.clear();
    Tensor loss;
    for (int c = 0; c < chains; ++c) {
      Tensor state = starts.emplace_back(leaf(filled({2, 6}, static_cast<uint32_t>(100 + c))));
      for (int k = 0; k < steps; ++k) {
        const std::vector<Tensor> inputs = {filled({2, 4}, static_cast<uint32_t>(c * steps + k)), state, weights[0],
                                            weights[1], weights[2]};
        const Scalar scalars[] = {Scalar(0.5 + 0.01 * k)};
        std::vector<RunOutput> outputs;
        REQUIRE(compiled->run(lend(inputs), scalars, nullptr, outputs).status == RunStatus::Done);
        state = std::get<Tensor>(outputs[0]);
        const Tensor y = op("sum", std::get<Tensor>(outputs[1]));
        loss = loss.defined() ? op("add", loss, y) : y;
      }
    }
    const Tensor roots[] = {loss};
    autograd::backward(roots, {}, false, false);
    make_rows_of_backward = nullptr;
    std::vector<Tensor> found;
    for (const auto& all : {weights, starts})
      for (const Tensor& t : all) {
        found.push_back(autograd::grad(t));
        autograd::set_grad(t, Tensor());
      }
    return found;
  }
};

void require_near(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    INFO(i);
    REQUIRE(a[i].sizes() == b[i].sizes());
    CHECK(is_same_but_for_rounding(a[i], op("contiguous", b[i])->data()));
  }
}

}  // namespace

TEST_CASE("runs that gradients have come to go backward together", "[pair]") {
  start();
  Chains chains;
  const auto plain = chains.gradients(nullptr, 60, 3), batched = chains.gradients(make_spy<false>, 60, 3);
  CHECK(errors == 0);
  CHECK(batches == 1);  // the last level, behind two that have shown how many there are
  CHECK(rows == 60);
  require_near(plain, batched);
}

TEST_CASE("one run after the other leaves its products of weights to others", "[pair]") {
  start();
  Chains chains;
  const auto plain = chains.gradients(nullptr, 2, 200), batched = chains.gradients(make_spy<false>, 2, 200);
  CHECK(rows > 200);
  require_near(plain, batched);
}

TEST_CASE("gradients of leaves that come in rows have memory of their own", "[pair]") {
  start();
  Chains chains;
  const auto batched = chains.gradients(make_spy<false>, 200, 1);
  CHECK(rows == 200);
  for (size_t i = 4; i < batched.size(); ++i) CHECK(batched[i]->storage != batched[3]->storage);
}

TEST_CASE("a batch that comes out otherwise than its runs is noticed, and counts for nothing", "[pair]") {
  start();
  on_batch_error = [](const std::string&) { ++errors; };
  Chains chains;
  const auto plain = chains.gradients(nullptr, 200, 1), spoiled = chains.gradients(make_spy<true>, 200, 1);
  on_batch_error = nullptr;
  CHECK(errors == 1);
  require_near(plain, spoiled);
}
