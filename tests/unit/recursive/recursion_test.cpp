// Calls that run many at a time, against the same recursion written out in eager ops.
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>

#include "engine/autograd/autograd.h"
#include "engine/eager/eager.h"
#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "graph/ir/parse.h"
#include "graph/ir/verify.h"
#include "kernels/abi/parallel.h"
#include "recursive/runtime/recursion.h"
#include "tests/unit/recursive/tensors.h"
#include "tests/unit/recursive/trees.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::recursive;
using namespace terra::recursive::test;

namespace {

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
            %7: f64[1,4] = embedding_forward(%1, %6, -1, false)
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

/// States of two tensors, weights for each child, a gate that a number of the structure scales.
Program tree_lstm() {
  eager::start();
  return {R"(graph "main"(%0: handle, %1: f64[9,6], %2: f64[4,6], %3: f64[6]) {
      %4: f64[1,2], %5: f64[1,2] = $call @f(%0, %1, %2, %3) @2.1 return %4, %5 }
    graph @f(%0: handle, %1: f64[9,6], %2: f64[4,6], %3: f64[6]) {
      %4: scalar int = $host_call(%0) index 0 @2.1
      %5: f64[1,2], %6: f64[1,2] = $switch(%4, %0, %1, %2, %3)
        { graph "leaf"(%0: handle, %1: f64[9,6], %2: f64[4,6], %3: f64[6]) {
            %4: scalar int = $host_call(%0) index 1 @2.1
            %5: scalar float = $host_call(%0) index 4 @2.2
            %6: i64[] = $as_tensor(%4)
            %7: i64[1] = view(%6, (1))
            %8: f64[1,6] = index_select(%1, 0, %7)
            %9: f64[1,6] = mul(%8, %5)
            %10: f64[1,2] = narrow(%9, 1, 0, 2)
            %11: f64[1,2] = narrow(%9, 1, 2, 2)
            %12: f64[1,2] = tanh(%11)
            return %12, %10 } }
        { graph "one child"(%0: handle, %1: f64[9,6], %2: f64[4,6], %3: f64[6]) {
            %4: f64[1,2] = full((1, 2), 0.0, :f64)
            return %4, %4 } }
        { graph "inner"(%0: handle, %1: f64[9,6], %2: f64[4,6], %3: f64[6]) {
            %4: handle = $host_call(%0) index 2 @2.1
            %5: handle = $host_call(%0) index 3 @2.2
            %6: f64[1,2], %7: f64[1,2] = $call @f(%4, %1, %2, %3) @2.3
            %8: f64[1,2], %9: f64[1,2] = $call @f(%5, %1, %2, %3) @2.4
            %10: f64[1,4] = cat([%6, %8], 1)
            %11: f64[1,6] = addmm(%3, %10, %2, 1, 1)
            %12: f64[1,2] = narrow(%11, 1, 0, 2)
            %13: f64[1,2] = narrow(%11, 1, 2, 2)
            %14: f64[1,2] = narrow(%11, 1, 4, 2)
            %15: f64[1,2] = sigmoid(%12)
            %16: f64[1,2] = sigmoid(%13)
            %17: f64[1,2] = mul(%15, %7)
            %18: f64[1,2] = mul(%16, %9)
            %19: f64[1,2] = add(%17, %18, 1)
            %20: f64[1,2] = tanh(%14)
            %21: f64[1,2] = mul(%20, %19)
            return %21, %19 } }
      return %5, %6 })",
          {drawn({9, 6}, 1), drawn({4, 6}, 2), drawn({6}, 3)},
          [](const Tree& root, const std::vector<Tensor>& w) {
            using State = std::pair<Tensor, Tensor>;
            const std::function<State(const Tree&)> f = [&](const Tree& t) -> State {
              const auto part = [](const Tensor& x, int64_t k) { return op("narrow", x, 1, 2 * k, 2); };
              if (t.children.empty()) {
                const Tensor x = op("mul", op("index_select", w[0], 0, integer(t.word)), t.weight);
                return {op("tanh", part(x, 1)), part(x, 0)};
              }
              const Tensor zeros = op("full", Dims{1, 2}, 0.0, DType::F64);
              if (t.children.size() == 1) return {zeros, zeros};
              const auto [h0, c0] = f(*t.children[0]);
              const auto [h1, c1] = f(*t.children[1]);
              const Tensor gates = op("addmm", w[2], op("cat", std::vector<Tensor>{h0, h1}, 1), w[1]);
              const Tensor c =
                  op("add", op("mul", op("sigmoid", part(gates, 0)), c0), op("mul", op("sigmoid", part(gates, 1)), c1));
              return {op("mul", op("tanh", part(gates, 2)), c), c};
            };
            const auto [h, c] = f(root);
            return std::vector<Tensor>{h, c};
          }};
}

/// What goes down is a tensor of each call's own, what comes up is added: both directions in one pass.
Program down_and_up() {
  eager::start();
  return {R"(graph "main"(%0: handle, %1: f64[3,3], %2: f64[3]) {
      %3: f64[3] = $call @f(%0, %1, %2) @2.1 return %3 }
    graph @f(%0: handle, %1: f64[3,3], %2: f64[3]) {
      %3: scalar int = $host_call(%0) index 0 @2.1
      %4: f64[3] = $switch(%3, %0, %1, %2)
        { graph "leaf"(%0: handle, %1: f64[3,3], %2: f64[3]) {
            %3: scalar float = $host_call(%0) index 4 @2.1
            %4: f64[3] = mul(%2, %3)
            return %4 } }
        { graph "inner"(%0: handle, %1: f64[3,3], %2: f64[3]) {
            %3: handle = $host_call(%0) index 2 @2.1
            %4: handle = $host_call(%0) index 3 @2.2
            %5: f64[1,3] = unsqueeze(%2, 0)
            %6: f64[1,3] = mm(%5, %1)
            %7: f64[3] = view(%6, (3))
            %8: f64[3] = tanh(%7)
            %9: f64[3] = $call @f(%3, %1, %8) @2.3
            %10: f64[3] = mul(%9, %8)
            %11: f64[3] = $call @f(%4, %1, %10) @2.4
            %12: f64[] = sum(%11, none, false)
            %13: f64[3] = mul(%9, %12)
            %14: f64[3] = add(%13, %2, 1)
            return %14 } }
      return %4 })",
          {drawn({3, 3}, 1)},
          [](const Tree& root, const std::vector<Tensor>& w) {
            const std::function<Tensor(const Tree&, const Tensor&)> f = [&](const Tree& t, const Tensor& x) -> Tensor {
              if (t.children.empty()) return op("mul", x, t.weight);
              const Tensor down = op("tanh", op("reshape", op("mm", op("unsqueeze", x, 0), w[0]), Dims{3}));
              const Tensor a = f(*t.children[0], down);
              const Tensor b = f(*t.children[1], op("mul", a, down));
              return op("add", op("mul", a, op("sum", b)), x);
            };
            return std::vector<Tensor>{f(root, w[1])};
          },
          {drawn({3}, 7)}};
}

/// Two functions that call each other.
Program even_and_odd() {
  eager::start();
  return {R"(graph "main"(%0: handle, %1: f64[2,2]) { %2: f64[1,2] = $call @f(%0, %1) @2.1 return %2 }
    graph @f(%0: handle, %1: f64[2,2]) {
      %2: scalar int = $host_call(%0) index 0 @2.1
      %3: f64[1,2] = $switch(%2, %0, %1)
        { graph "leaf"(%0: handle, %1: f64[2,2]) {
            %2: f64[1,2] = narrow(%1, 0, 0, 1)
            return %2 } }
        { graph "inner"(%0: handle, %1: f64[2,2]) {
            %2: handle = $host_call(%0) index 2 @2.1
            %3: handle = $host_call(%0) index 3 @2.2
            %4: f64[1,2] = $call @odd(%2, %1) @2.3
            %5: f64[1,2] = $call @odd(%3, %1) @2.4
            %6: f64[1,2] = mul(%4, %5)
            return %6 } }
      return %3 }
    graph @odd(%0: handle, %1: f64[2,2]) {
      %2: scalar int = $host_call(%0) index 0 @2.1
      %3: f64[1,2] = $switch(%2, %0, %1)
        { graph "leaf"(%0: handle, %1: f64[2,2]) {
            %2: scalar float = $host_call(%0) index 4 @2.1
            %3: f64[1,2] = narrow(%1, 0, 1, 1)
            %4: f64[1,2] = add(%3, %2, 1)
            return %4 } }
        { graph "inner"(%0: handle, %1: f64[2,2]) {
            %2: handle = $host_call(%0) index 2 @2.1
            %3: handle = $host_call(%0) index 3 @2.2
            %4: f64[1,2] = $call @f(%2, %1) @2.3
            %5: f64[1,2] = $call @f(%3, %1) @2.4
            %6: f64[1,2] = mm(%4, %1)
            %7: f64[1,2] = sub(%6, %5, 1)
            return %7 } }
      return %3 })",
          {drawn({2, 2}, 1)},
          [](const Tree& root, const std::vector<Tensor>& w) {
            std::function<Tensor(const Tree&, bool)> f = [&](const Tree& t, bool odd) -> Tensor {
              if (t.children.empty())
                return odd ? op("add", op("narrow", w[0], 0, 1, 1), t.weight) : op("narrow", w[0], 0, 0, 1);
              const Tensor a = f(*t.children[0], !odd), b = f(*t.children[1], !odd);
              return odd ? op("sub", op("mm", a, w[0]), b) : op("mul", a, b);
            };
            return std::vector<Tensor>{f(root, false)};
          }};
}

/// Leaves have tensors of their own, which gradients are asked of.
Program tensors_in_leaves() {
  eager::start();
  return {R"(graph "main"(%0: handle, %1: f64[3]) { %2: f64[3] = $call @f(%0, %1) @2.1 return %2 }
    graph @f(%0: handle, %1: f64[3]) {
      %2: scalar int = $host_call(%0) index 0 @2.1
      %3: f64[3] = $switch(%2, %0, %1)
        { graph "leaf"(%0: handle, %1: f64[3]) {
            %2: f64[3] = $host_call(%0) index 5 @2.1
            %3: f64[3] = mul(%2, %1)
            return %3 } }
        { graph "inner"(%0: handle, %1: f64[3]) {
            %2: handle = $host_call(%0) index 2 @2.1
            %3: handle = $host_call(%0) index 3 @2.2
            %4: f64[3] = $call @f(%2, %1) @2.3
            %5: f64[3] = $call @f(%3, %1) @2.4
            %6: f64[3] = mul(%4, %5)
            %7: f64[3] = softmax(%6, 0)
            return %7 } }
      return %3 })",
          {drawn({3}, 1)},
          [](const Tree& root, const std::vector<Tensor>& w) {
            const std::function<Tensor(const Tree&)> f = [&](const Tree& t) -> Tensor {
              if (t.children.empty()) return op("mul", t.tensor, w[0]);
              return op("softmax", op("mul", f(*t.children[0]), f(*t.children[1])), 0);
            };
            return std::vector<Tensor>{f(root)};
          }};
}

/// Trees of all shapes, alone and together.
void try_shapes(
    const Program& program, const std::function<void(Tree&)>& prepare = [](Tree&) {}) {
  Forestry forestry;
  std::mt19937 random(5);
  std::vector<Tree*> trees = {forestry.leaf(3), forestry.node({forestry.leaf(3), forestry.leaf(8)}),
                              forestry.random(random, 30, 9), forestry.chain(20, 9)};
  for (int i = 1; i < 12; ++i) trees.push_back(forestry.random(random, i, 9));
  forestry.for_each(prepare);
  for (Tree* tree : trees) require_same(program, {tree});
  require_same(program, trees);
}

}  // namespace

TEST_CASE("a tree network runs level by level", "[recursion]") { try_shapes(tree_rnn()); }
TEST_CASE("states of several tensors go up", "[recursion]") {
  try_shapes(tree_lstm());
  Forestry forestry;
  Tree* one = forestry.node({forestry.leaf(2)});
  require_same(tree_lstm(), {one, forestry.node({one, forestry.leaf(1)}), forestry.node({one, one})});
}
TEST_CASE("tensors go down and up, a call may wait for another one", "[recursion]") { try_shapes(down_and_up()); }
TEST_CASE("graphs call each other", "[recursion]") { try_shapes(even_and_odd()); }

TEST_CASE("tensors that the host reads are differentiated", "[recursion]") {
  Program program = tensors_in_leaves();
  std::vector<Tensor> leaves;
  try_shapes(program, [&](Tree& t) {
    t.tensor = drawn({3}, static_cast<uint32_t>(leaves.size()));
    leaves.push_back(t.tensor);
  });
  Forestry forestry;
  Tree *a = forestry.leaf(0), *b = forestry.leaf(1);
  a->tensor = b->tensor = drawn({3}, 9);
  program.operands = {a->tensor};  // differentiated as well
  const Tree* tree = forestry.node({forestry.node({a, b}), a});
  const Tensor eager = program.eager(*tree, program.weights)[0];
  const std::vector<Tensor> expected = gradients_of(weighed({{eager}}), program);
  const std::vector<HostValue> operands = {Handle(const_cast<Tree*>(tree)), program.weights[0]};
  const std::vector<Tensor> found = gradients_of(weighed({make(program)->invoke(operands)}), program);
  for (size_t k = 0; k < found.size(); ++k) require_near(found[k], expected[k]);
}

TEST_CASE("a chain is as deep as memory allows", "[recursion]") {
  const Program program = tree_rnn();
  Forestry forestry;
  const auto recursion = make(program);
  const std::vector<HostValue> operands = {Handle(forestry.chain(20'000, 9)), program.weights[0], program.weights[1],
                                           program.weights[2]};
  const std::vector<Tensor> results = recursion->invoke(operands);
  CHECK(gradients_of(weighed({results}), program)[0].defined());
  CHECK(recursion->counts().calls == 40'001);
  CHECK_THROWS_AS(recursion->invoke(operands, {true, 19'999}), TooDeep);
}

TEST_CASE("a pass backward may be made again, and weights must be what they were", "[recursion]") {
  const Program program = tree_rnn();
  Forestry forestry;
  const auto recursion = make(program);
  const std::vector<HostValue> operands = {Handle(forestry.chain(3, 9)), program.weights[0], program.weights[1],
                                           program.weights[2]};
  const Tensor loss = weighed({recursion->invoke(operands)});
  const auto pass = [&](bool retain) {
    return autograd::gradients(std::vector<Tensor>{loss}, std::vector<Tensor>{Tensor()}, program.weights, retain, false,
                               true);
  };
  const std::vector<Tensor> first = pass(true), second = pass(false);
  for (size_t k = 0; k < first.size(); ++k) require_near(first[k], second[k]);
  CHECK_THROWS_AS(pass(false), Error);

  const Tensor written = weighed({recursion->invoke(operands)});
  {
    const GradMode off(false);
    find_op("mul")->in_place(program.weights[1], 2.0);
  }
  CHECK_THROWS_AS(autograd::gradients(std::vector<Tensor>{written}, std::vector<Tensor>{Tensor()}, program.weights,
                                      false, false, true),
                  Error);
}

TEST_CASE("without gradients nothing is kept", "[recursion]") {
  const Program program = tree_rnn();
  Forestry forestry;
  const GradMode off(false);
  const std::vector<Tensor> results =
      make(program)->invoke({Handle(forestry.chain(3, 9)), program.weights[0], program.weights[1], program.weights[2]});
  CHECK_FALSE(results[0].requires_grad());
}

TEST_CASE("ops without a rule for many calls run call by call", "[recursion]") {
  Program program = tensors_in_leaves();
  const std::string before = "softmax(%6, 0)";
  program.text.replace(program.text.find(before), before.size(), "as_strided(%6, (3), (1), 0)");
  program.eager = [](const Tree& root, const std::vector<Tensor>& w) {
    const std::function<Tensor(const Tree&)> f = [&](const Tree& t) -> Tensor {
      if (t.children.empty()) return op("mul", t.tensor, w[0]);
      return op("mul", f(*t.children[0]), f(*t.children[1]));
    };
    return std::vector<Tensor>{f(root)};
  };
  Forestry forestry;
  std::mt19937 random(5);
  Tree* tree = forestry.random(random, 9, 9);
  forestry.for_each([](Tree& t) { t.tensor = drawn({3}, static_cast<uint32_t>(t.word)); });
  const auto recursion = make(program);
  const std::vector<HostValue> operands = {Handle(tree), program.weights[0]};
  const std::vector<Tensor> results = recursion->invoke(operands);
  CHECK(recursion->counts().one_by_one.size() == 1);
  const Tensor eager = program.eager(*tree, program.weights)[0];
  require_near(results[0], eager);
  require_near(gradients_of(weighed({results}), program)[0], gradients_of(weighed({{eager}}), program)[0]);
}

TEST_CASE("calls one by one run on all threads where they don't wait for each other", "[recursion]") {
  const Program program = tree_rnn();
  Forestry forestry;
  std::mt19937 random(6);
  Tree* tree = forestry.random(random, 400, 9);
  const std::vector<HostValue> operands = {Handle(tree), program.weights[0], program.weights[1], program.weights[2]};
  const auto recursion = make(program);
  const int before = cpu::threads();
  std::vector<Tensor> results, gradients;
  for (int threads : {1, 4}) {
    cpu::set_threads(threads);
    const std::vector<Tensor> found = recursion->invoke(operands, {false});
    const std::vector<Tensor> back = gradients_of(weighed({found}), program);
    if (threads == 1) {
      results = found;
      gradients = back;
      continue;
    }
    CHECK(std::memcmp(found[0]->data(), results[0]->data(), static_cast<size_t>(found[0].numel()) * 8) == 0);
    for (size_t k = 0; k < back.size(); ++k)
      CHECK(std::memcmp(back[k]->data(), gradients[k]->data(), static_cast<size_t>(back[k].numel()) * 8) == 0);
  }
  cpu::set_threads(before);
}
