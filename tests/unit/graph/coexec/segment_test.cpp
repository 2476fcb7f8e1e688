// Calls that are put off: nobody can tell, but for the time at which they are computed.
#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <functional>

#include "engine/autograd/autograd.h"
#include "engine/eager/eager.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/ops/program_emitter.h"
#include "engine/tensor/transfer.h"
#include "graph/coexec/segment.h"

using namespace terra;
using coexec::Segment;
using Way = coexec::Segment::Way;

namespace {

template <class... A>
Tensor op(const char* name, A&&... args) {
  return (*find_op(name))(std::forward<A>(args)...);
}

Tensor filled(Dims sizes, float first) {
  Tensor t = Tensor::empty(sizes, DType::F32);
  for (int64_t i = 0; i < t.numel(); i++) t->data_as<float>()[i] = first + 0.25f * static_cast<float>(i % 7);
  return t;
}
Tensor leaf(Tensor t) {
  autograd::set_requires_grad(t, true);
  return t;
}

/// The elements in order, whatever the strides.
std::vector<float> values(const Tensor& t) {
  const GradMode off(false);
  const Tensor dense = op("clone", op("contiguous", t.alias()));
  const auto* data = dense->data_as<float>();
  return {data, data + dense.numel()};
}

/// What a program of a few lines returns, call by call and put off, a number of times; computed inline, and beside.
using Lines = std::function<std::vector<Tensor>(int round)>;
void require_same(const Lines& lines, int rounds = 6, uint64_t by_graph = 1) {
  eager::start();
  const Way way = GENERATE(Way::Inline, Way::Beside, Way::Serial);
  INFO("way " << static_cast<int>(way));
  std::vector<std::vector<float>> plain;
  for (int i = 0; i < rounds; i++)
    for (const Tensor& t : lines(i)) plain.push_back(values(t));
  Segment segment;
  segment.open(true);
  segment.run(way);
  std::vector<std::vector<Tensor>> results;
  {
    const EmitterScope scope(segment);
    for (int i = 0; i < rounds; i++) {
      results.push_back(lines(i));
      segment.end_iteration();
    }
  }
  std::vector<std::vector<float>> put_off;
  for (const auto& round : results)
    for (const Tensor& t : round) put_off.push_back(values(t));
  REQUIRE(put_off.size() == plain.size());
  for (size_t i = 0; i < plain.size(); i++) {
    REQUIRE(put_off[i].size() == plain[i].size());
    for (size_t j = 0; j < plain[i].size(); j++) CHECK(put_off[i][j] == Approx(plain[i][j]).epsilon(1e-5));
  }
  CHECK(segment.counts().put_off > 0);
  CHECK(segment.counts().by_graph >= by_graph);
  CHECK((segment.counts().jobs > 0) == (way != Way::Inline));
}

}  // namespace

TEST_CASE("a result has everything but bytes until somebody asks", "[segment]") {
  eager::start();
  Segment segment;
  const EmitterScope scope(segment);
  const Tensor x = filled({2, 3}, 1), before = op("exp", x);
  segment.open(true);
  op("exp", x);  // of a kind that has run
  const Tensor y = op("exp", x);
  CHECK(y->storage->deferral() == &segment);
  CHECK(y.sizes() == Dims{2, 3});
  CHECK(y.strides() == Dims{3, 1});
  CHECK(segment.counts().settled == 0);
  CHECK(values(y) == values(before));
  CHECK(segment.counts().settled == 1);
  CHECK_FALSE(y->storage->deferral());
  CHECK_FALSE(x->storage->deferral());
}

TEST_CASE("a chain of calls becomes a graph", "[segment]") {
  require_same([](int i) {
    const Tensor x = filled({4, 5}, static_cast<float>(i)), w = filled({5, 3}, 0.5f);
    const Tensor h = op("relu", op("add", op("matmul", x, w), filled({3}, -2)));
    return std::vector{op("sum", op("mul", h, h)), op("tanh", h)};
  });
}

TEST_CASE("views of results that are put off", "[segment]") {
  require_same([](int i) {
    const Tensor x = op("mul", filled({4, 6}, static_cast<float>(i)), 2.0);
    const Tensor t = op("transpose", x, 0, 1), part = op("narrow", t, 0, 1, 2);
    return std::vector{op("add", t, 1.0), op("exp", op("neg", part)), part};
  });
}

TEST_CASE("a number that changes is taken by the graph", "[segment]") {
  require_same([](int i) { return std::vector{op("exp", op("mul", filled({8}, 0), 0.1 * i))}; }, 8, 2);
}

TEST_CASE("an input is read as it was when the call was made", "[segment]") {
  require_same(
      [](int i) {
        const Tensor x = filled({3}, static_cast<float>(i));
        const Tensor y = op("add", op("exp", x), x);
        find_op("add")->in_place(x, 10.0);
        return std::vector{y, x, op("mul", op("neg", x), x)};
      },
      6);
}

TEST_CASE("histories are those of plain execution", "[segment]") {
  require_same([](int i) {
    const Tensor w = leaf(filled({5, 3}, 0.1f)), b = leaf(filled({3}, static_cast<float>(i)));
    const Tensor h = op("tanh", op("add", op("matmul", filled({4, 5}, 1), w), b));
    const Tensor root[] = {op("sum", op("mul", h, op("transpose", op("transpose", h, 0, 1), 0, 1)))},
                 none[] = {Tensor()};
    autograd::backward(root, none, false, false);
    autograd::backward({{op("sum", op("exp", b))}}, none, false, false);  // adds to the gradient that is there
    return std::vector{autograd::grad(w), autograd::grad(b), h};
  });
}

TEST_CASE("a thread's calls go to its emitter, but for those in scopes", "[segment]") {
  eager::start();
  Segment segment;
  set_program_emitter(&segment);
  CHECK(&current_emitter() == &segment);
  CHECK(&default_emitter() != &segment);
  {
    const EmitterScope scope(default_emitter());
    CHECK(&current_emitter() == &default_emitter());
  }
  CHECK(&current_emitter() == &segment);
  set_program_emitter(nullptr);
  CHECK(&current_emitter() == &default_emitter());
}

TEST_CASE("what was saved and is written since is found", "[segment]") {
  eager::start();
  Segment segment;
  const EmitterScope scope(segment);
  segment.open(true);
  const Tensor x = leaf(filled({3}, 1)), none[] = {Tensor()};
  for (int i = 0; i < 3; i++) {
    const Tensor y = op("exp", x), root[] = {op("sum", y)};
    {
      const GradMode off(false);
      find_op("mul")->in_place(y.alias(), 2.0);
    }
    CHECK_THROWS_AS(autograd::backward(root, none, false, false), Error);
  }
  CHECK(segment.counts().put_off > 0);
}

TEST_CASE("the same bytes with a version of their own", "[segment]") {
  eager::start();
  Segment segment;
  const EmitterScope scope(segment);
  segment.open(true);
  const Tensor x = filled({3}, 1);
  const auto data_of = [](const Tensor& t) {
    return Tensor::view_of(Storage::apart(t->storage), t.dtype(), t.sizes(), t.strides(), 0);
  };
  op("neg", x);
  const Tensor of_data = op("neg", data_of(x)), y = op("neg", x), again = op("neg", data_of(x));
  find_op("mul")->in_place(data_of(x), 3.0);
  for (const Tensor& t : {of_data, y, again}) CHECK(values(t) == std::vector<float>{-1, -1.25f, -1.5f});
  CHECK(values(x) == std::vector<float>{3, 3.75f, 4.5f});
  const Tensor z = op("neg", x), through = data_of(z);
  find_op("mul")->in_place(through, 2.0);
  CHECK(values(z) == std::vector<float>{-6, -7.5f, -9});
}

TEST_CASE("results that nobody can ask for are not computed", "[segment]") {
  eager::start();
  Segment segment;
  const EmitterScope scope(segment);
  segment.open(true);
  const Tensor x = filled({3}, 1);
  op("neg", x);
  op("neg", x);
  CHECK(segment.counts().put_off == 1);
  segment.settle();
  CHECK(segment.counts().settled == 0);
  CHECK_FALSE(x->storage->deferral());
}

TEST_CASE("what looks at values looks at once, and is computed later", "[segment]") {
  eager::start();
  Segment segment;
  const EmitterScope scope(segment);
  segment.open(true);
  const Tensor table = filled({4, 2}, 0);
  const Tensor index = op("to_dtype", filled({2}, 3.5f), DType::I64);
  op("index_select", table, 0, index);
  const Tensor of_table = op("neg", op("neg", table)), row = op("index_select", of_table, 0, index);
  CHECK(row->storage->deferral() == &segment);
  const Tensor outside = op("full", Dims{2}, 7, DType::I64);
  CHECK_THROWS_AS(op("index_select", of_table, 0, outside), Error);
  CHECK(row->storage->deferral() == &segment);
  CHECK(values(row) == std::vector<float>{1.5f, 0, 1.5f, 0});
  // Indices that are still to be computed are.
  op("index_select", table, 0, op("add", index, 0));
  const Tensor later = op("index_select", table, 0, op("add", index, 0));
  CHECK_FALSE(later->storage->deferral());
}

TEST_CASE("writes wait for what reads before them, and are waited for", "[segment]") {
  require_same(
      [](int i) {
        const Tensor w = filled({4, 4}, static_cast<float>(i)), half = op("narrow", w, 0, 0, 2);
        std::vector<Tensor> seen;
        for (int step = 0; step < 5; step++) {
          const Tensor gradient = op("tanh", op("matmul", w, w));
          seen.push_back(op("sum", gradient));
          find_op("sub")->in_place(w, gradient);
          find_op("mul")->in_place(half, w->dtype == DType::F32 ? 0.5 : 1.0);
          seen.push_back(op("neg", half));
        }
        seen.push_back(w);
        return seen;
      },
      8);
}

TEST_CASE("a write beside the program defers what is written", "[segment]") {
  eager::start();
  Segment segment;
  const EmitterScope scope(segment);
  segment.open(true);
  segment.run(Way::Beside);
  const Tensor w = filled({3}, 1), g = filled({3}, 2);
  find_op("sub")->in_place(w, g);  // of a kind that has run
  const uint32_t version = w->version();
  const Tensor y = op("exp", w);
  find_op("sub")->in_place(w, g);
  CHECK(w->storage->deferral() != nullptr);
  CHECK(w->version() == version + 1);
  const Tensor again = op("add", w, g);
  CHECK(values(w) == std::vector<float>{-3, -3.25f, -3.5f});
  CHECK(values(again) == std::vector<float>{-1, -1, -1});
  CHECK(values(y)[0] == Approx(std::exp(-1.0f)));
  segment.settle();
  for (const Tensor& t : {w, g, y, again}) CHECK_FALSE(t->storage->deferral());
}

TEST_CASE("what an iteration hands over is taken two iterations later at the latest", "[segment]") {
  eager::start();
  Segment segment;
  const EmitterScope scope(segment);
  segment.open(true);
  segment.run(Way::Beside);
  const Tensor x = filled({3}, 1);
  std::vector<Tensor> kept;
  for (int i = 0; i < 20; i++) {
    kept.push_back(op("neg", x));
    segment.end_iteration();
    if (i >= 3) CHECK_FALSE(kept[static_cast<size_t>(i) - 2]->storage->deferral());
  }
  CHECK(segment.counts().jobs >= 18);
}

TEST_CASE("a job that fails is told of once, and whoever asks for its results is", "[segment]") {
  eager::start();
  Segment segment;
  const EmitterScope scope(segment);
  segment.open(true);
  segment.run(Way::Beside);
  const Tensor small = op("expand", filled({1}, 1), Dims{4}),
               huge = op("expand", filled({1}, 1), Dims{int64_t{1} << 40});
  op("neg", small);
  op("exp", small);
  const Tensor slow = op("exp", filled({1 << 24}, 1));  // in a job before: the program is further when that fails
  const Tensor w = filled({4}, 1);
  find_op("sub")->in_place(w, small);
  const Tensor lost = op("neg", huge);
  segment.end_iteration();
  const Tensor of_lost = op("exp", op("narrow", lost, 0, 0, 4));
  segment.end_iteration();
  for (const Tensor& t : {lost, lost, of_lost, of_lost}) CHECK_THROWS_AS(t->storage->data(), Error);
  segment.settle();
  const Tensor fine = op("neg", small);
  CHECK(values(fine)[0] == -1);
}

TEST_CASE("what reads a result that has failed fails, wherever it is computed", "[segment]") {
  eager::start();
  Segment segment;
  const EmitterScope scope(segment);
  segment.open(true);
  segment.run(Way::Beside);
  const Tensor small = op("expand", filled({1}, 1), Dims{4}), w = filled({4}, 1),
               huge = op("expand", filled({1}, 1), Dims{int64_t{1} << 40});
  Tensor slow, lost, other;
  for (const Tensor& x : {small, huge}) {  // runs at once the first time
    slow = op("exp", filled({1 << 24}, 1));
    find_op("sub")->in_place(w, small);  // slow is in a job before lost: the program is further when that fails
    lost = op("neg", x);
    other = op("exp", x);
    op("exp", op("narrow", lost, 0, 0, 4));
  }
  segment.end_iteration();
  const Tensor of_lost = op("exp", op("narrow", lost, 0, 0, 4));  // pending when the failure comes
  CHECK_THROWS_AS(other->storage->data(), Error);
  CHECK_THROWS_AS(of_lost->storage->data(), Error);
  CHECK_THROWS_AS(op("exp", op("narrow", lost, 0, 0, 4))->storage->data(), Error);
}

TEST_CASE("memory that somebody else may write at any time is read at once", "[segment]") {
  eager::start();
  Segment segment;
  const EmitterScope scope(segment);
  segment.open(true);
  const Tensor x = filled({3, 2}, 1), part = op("narrow", x, 1, 1, 1);
  op("neg", part);
  op("cat", std::vector{part, part}, 0);
  x->storage->mark_exported();
  const Tensor y = op("neg", part), both = op("cat", std::vector{part, part}, 0);
  CHECK(y->storage->deferral() == &segment);
  for (int i = 0; i < 6; i++) x->data_as<float>()[i] = 9;
  CHECK(values(y) == std::vector<float>{-1.25f, -1.75f, -2.25f});
  CHECK(values(both) == std::vector<float>{1.25f, 1.75f, 2.25f, 1.25f, 1.75f, 2.25f});
  find_op("neg")->in_place(x);
  CHECK_FALSE(x->storage->deferral());
}
