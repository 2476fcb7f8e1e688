// Calls that run many at a time, against the same recursion written out in eager ops.
#include <catch2/catch.hpp>
#include <functional>

#include "engine/autograd/autograd.h"
#include "engine/eager/eager.h"
#include "engine/ops/call.h"
#include "graph/ir/parse.h"
#include "graph/ir/verify.h"
#include "recursive/runtime/recursion.h"
#include "tests/unit/recursive/trees.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::recursive;
using namespace terra::recursive::test;

namespace {

template <class... A>
Tensor op(std::string_view name, A&&... args) {
  return (*find_op(name))(std::forward<A>(args)...);
}

/// Numbers between -1 and 1 that are a function of `seed`.
Tensor drawn(std::initializer_list<int64_t> sizes, uint32_t seed, bool requires_grad = true) {
  std::mt19937 random(seed);
  Tensor t = Tensor::empty(Dims(sizes), DType::F64);
  for (int64_t i = 0; i < t.numel(); ++i)
    t->data_as<double>()[i] = static_cast<double>(random() % 2001) / 1000.0 - 1.0;
  if (requires_grad) autograd::set_requires_grad(t, true);
  return t;
}

Tensor integer(int64_t value) {
  Tensor t = Tensor::empty(Dims{1}, DType::I64);
  *t->data_as<int64_t>() = value;
  return t;
}

void require_near(const Tensor& a, const Tensor& b) {
  REQUIRE(a.defined() == b.defined());
  if (!a.defined()) return;
  REQUIRE(a.sizes() == b.sizes());
  REQUIRE(a.dtype() == b.dtype());
  for (int64_t i = 0; i < a.numel(); ++i)
    REQUIRE(a->data_as<double>()[i] == Approx(b->data_as<double>()[i]).margin(1e-10).epsilon(1e-9));
}

/// A recursive function twice: as graphs, and in eager ops.
struct Program {
  std::string text;
  std::vector<Tensor> weights;  ///< shared inputs behind the handle
  std::function<std::vector<Tensor>(const Tree&, const std::vector<Tensor>& weights)> eager;
  std::vector<Tensor> operands = {};  ///< of the outermost call, behind the weights
};

std::shared_ptr<Recursion> make(const Program& program) {
  set_host_functions(read_tree);
  const Graph main = parse(program.text);
  verify(main, Stage::Optimized, "parsed");
  return Recursion::make(main.table, main.table->id_of("f"));
}

/// The sum of results, each weighed by position, so that gradients differ.
Tensor weighed(const std::vector<std::vector<Tensor>>& results) {
  Tensor sum;
  double factor = 1;
  for (const auto& of_root : results)
    for (const Tensor& t : of_root) {
      const Tensor part = op("mul", op("sum", op("mul", t, t)), factor += 0.25);
      sum = sum.defined() ? op("add", sum, part) : part;
    }
  return sum;
}

std::vector<Tensor> gradients_of(const Tensor& loss, const Program& p) {
  std::vector<Tensor> inputs = p.weights;
  inputs.insert(inputs.end(), p.operands.begin(), p.operands.end());
  return autograd::gradients(std::vector<Tensor>{loss}, std::vector<Tensor>{Tensor()}, inputs, false, false, true);
}

void require_same(const Program& program, const std::vector<Tree*>& trees) {
  std::vector<std::vector<Tensor>> expected;
  std::vector<std::vector<HostValue>> operands;
  for (const Tree* tree : trees) {
    std::vector<Tensor> given = program.weights;
    given.insert(given.end(), program.operands.begin(), program.operands.end());
    expected.push_back(program.eager(*tree, given));
    std::vector<HostValue>& list = operands.emplace_back();
    list.push_back(Handle(const_cast<Tree*>(tree)));
    for (const Tensor& w : given) list.push_back(w);
  }
  const std::vector<Tensor> wanted = gradients_of(weighed(expected), program);
  for (const bool batched : {true, false}) {
    CAPTURE(batched);
    const auto recursion = make(program);
    for (int round = 0; round < 2; ++round) {
      const auto results = recursion->invoke_all(operands, {batched});
      REQUIRE(results.size() == expected.size());
      for (size_t r = 0; r < results.size(); ++r)
        for (size_t k = 0; k < results[r].size(); ++k) require_near(results[r][k], expected[r][k]);
      const std::vector<Tensor> found = gradients_of(weighed(results), program);
      for (size_t k = 0; k < found.size(); ++k) require_near(found[k], wanted[k]);
    }
    if (batched) {
      CHECK(recursion->counts().one_by_one == std::vector<std::string>());
    }
  }
}

Program tree_rnn() {
  eager::start();
  return {R"(graph "main"(%0: handle, %1: f64[9,4], %2: f64[8,4], %3: f64[4]) {
      %4: f64[1,4] = $call @f(%0, %1, %2, %3) @2.1 return %4 }
    graph @f(%0: handle, %1: f64[9,4], %2: f64[8,4], %3: f64[4]) {
      %4: scalar int = $host_call(%0) index 0 @2.1
      %5: f64[1,4] = $switch(%4, %0, %1, %2, %3)
        { graph "leaf"(%0: handle, %1: f64[9,4], %2: f64[8,4], %3: f64[4]) {
            %4: scalar int = $host_call(%0) index 1 @2.1
            %5: i64[] = $as_tensor(%4)
            %6: i64[1] = view(%5, (1))
            %7: f64[1,4] = embedding_forward(%1, %6, -1)
            %8: f64[1,4] = tanh(%7)
            return %8 } }
        { graph "inner"(%0: handle, %1: f64[9,4], %2: f64[8,4], %3: f64[4]) {
            %4: handle = $host_call(%0) index 2 @2.1
            %5: handle = $host_call(%0) index 3 @2.2
            %6: f64[1,4] = $call @f(%4, %1, %2, %3) @2.3
            %7: f64[1,4] = $call @f(%5, %1, %2, %3) @2.4
            %8: f64[1,8] = cat([%6, %7], 1)
            %9: f64[1,4] = addmm(%3, %8, %2, 1, 1)
            %10: f64[1,4] = tanh(%9)
            return %10 } }
      return %5 })",
          {drawn({9, 4}, 1), drawn({8, 4}, 2), drawn({4}, 3)},
          [](const Tree& root, const std::vector<Tensor>& w) {
            const std::function<Tensor(const Tree&)> f = [&](const Tree& t) {
              if (t.children.empty()) return op("tanh", op("embedding", w[0], integer(t.word)));
              const std::vector<Tensor> both = {f(*t.children[0]), f(*t.children[1])};
              return op("tanh", op("addmm", w[2], op("cat", both, 1), w[1]));
            };
            return std::vector<Tensor>{f(root)};
          }};
}

}  // namespace

TEST_CASE("a tree network runs level by level", "[recursion]") {
  const Program program = tree_rnn();
  Forestry forestry;
  std::mt19937 random(5);
  require_same(program, {forestry.leaf(3)});
  require_same(program, {forestry.node({forestry.leaf(3), forestry.leaf(8)})});
  require_same(program, {forestry.random(random, 30, 9)});
  require_same(program, {forestry.chain(40, 9)});
  std::vector<Tree*> trees;
  for (int i = 1; i < 12; ++i) trees.push_back(forestry.random(random, i, 9));
  require_same(program, trees);
}
