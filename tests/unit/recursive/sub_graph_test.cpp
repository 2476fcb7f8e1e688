// SubGraphs that are written by hand, against the same recursion in eager ops.
#include "recursive/ir/sub_graph.h"

#include <array>
#include <cmath>

#include "engine/eager/eager.h"
#include "engine/errors/errors.h"
#include "graph/ir/parse.h"
#include "graph/ir/print.h"
#include "graph/ir/verify.h"
#include "recursive/ir/invoke_op.h"
#include "recursive/runtime/recursion.h"
#include "tests/unit/recursive/tensors.h"
#include "tests/unit/recursive/trees.h"

using namespace terra;
using Catch::Contains;
using terra::recursive::Recursion;
using terra::recursive::test::drawn;
using terra::recursive::test::Forestry;
using terra::recursive::test::integer;
using terra::recursive::test::op;
using terra::recursive::test::require_near;
using terra::recursive::test::Tree;

namespace {

const HostRead<bool(const Tree*)> is_leaf("is_leaf", [](const Tree* t) { return t->children.empty(); });
const HostRead<int64_t(const Tree*)> word("word", [](const Tree* t) { return t->word; });
const HostRead<double(const Tree*)> scale("scale", [](const Tree* t) { return t->weight; });
const HostRead<const Tree*(const Tree*, int64_t)> child("child", [](const Tree* t, int64_t k) {
  return static_cast<const Tree*>(t->children.at(static_cast<size_t>(k)));
});
const HostRead<int64_t(const Tree*)> zero("zero", [](const Tree*) { return int64_t{0}; });
const HostRead<int64_t(const Tree*)> one("one", [](const Tree*) { return int64_t{1}; });

Tensor word_of(const HostSymbol& tree, const Tensor& words) {
  return op("index_select", words, 0, op("reshape", word(tree).as_tensor(), Dims{1}));
}

/// Nodes of even and of odd depth have functions of their own, which call each other. Both read `words`, each its own
/// weight: turned by a view outside of the ways, read inside of both.
struct EvenAndOdd {
  EvenAndOdd() : even("even"), odd("odd") {
    eager::start();
    const std::array both = {even, odd};
    std::array<std::vector<HostSymbol>, 2> trees;
    for (size_t k = 0; k < 2; ++k) {
      SubGraph f = both[k];
      trees[k].push_back(f.handle("tree"));
      f.output(DType::F64, {1, 3});
    }
    for (size_t k = 0; k < 2; ++k) {
      SubGraph f = both[k];
      const HostSymbol tree = trees[k][0];
      f.define([&] {
        const Tensor turned = op("t", weights[1 + k]);
        return cond(
            is_leaf(tree),
            [&] {
              return std::vector{op("mm", op("mul", word_of(tree, weights[0]), scale(tree).as_number()), turned)};
            },
            [&] {
              const InvokeOp other(both[1 - k]);
              const Tensor l = other(child(tree, zero(tree)))[0], r = other(child(tree, one(tree)))[0];
              return std::vector{op("tanh", op("add", op("mm", l, turned), r))};
            });
      });
    }
  }

  Tensor eager(const Tree& t, size_t k = 0) const {
    const Tensor turned = op("t", weights[1 + k]);
    if (t.children.empty())
      return op("mm", op("mul", op("index_select", weights[0], 0, integer(t.word)), t.weight), turned);
    return op("tanh", op("add", op("mm", eager(*t.children[0], 1 - k), turned), eager(*t.children[1], 1 - k)));
  }

  std::vector<Tensor> gradients(const Tensor& of) const {
    return autograd::gradients(std::vector{op("sum", op("mul", of, of))}, std::vector<Tensor>{Tensor()}, weights, false,
                               false, true);
  }

  std::vector<Tensor> weights = {drawn({9, 3}, 1), drawn({3, 3}, 2), drawn({3, 3}, 3)};
  SubGraph even, odd;
};

}  // namespace

TEST_CASE("SubGraphs call each other, and hand down what they read from outside", "[recursion]") {
  const EvenAndOdd f;
  const auto recursion = Recursion::make(f.even);
  Forestry forestry;
  std::mt19937 random(4);
  for (int leaves : {1, 2, 5, 13}) {
    Tree* tree = forestry.random(random, leaves, 9);
    const Tensor expected = f.eager(*tree), found = recursion->invoke({graph::Handle(tree)})[0];
    require_near(found, expected);
    const std::vector<Tensor> wanted = f.gradients(expected), made = f.gradients(found);
    for (size_t k = 0; k < wanted.size(); ++k) require_near(made[k], wanted[k]);
  }
  CHECK(recursion->counts().one_by_one == std::vector<std::string>());
}

TEST_CASE("lowered SubGraphs are graphs like others, with a text form", "[recursion]") {
  const EvenAndOdd f;
  const recursive::Lowered lowered = recursive::lower(f.even);
  CHECK(lowered.outside.size() == 3);
  const std::string text = recursive::print(f.even);
  CHECK_THAT(text, Contains("graph @even(") && Contains("graph @odd(") && Contains("$call @odd("));
  const graph::Graph read = graph::parse(text);
  CHECK(graph::find_violation(read, graph::Stage::Captured) == "");
  CHECK(graph::print(read) == text);
}

TEST_CASE("all calls that wait for what tensors hold go on together", "[recursion]") {
  eager::start();
  const Tensor weight = drawn({1}, 5);
  SubGraph halve("halve");  // as long as there is more than one
  const Tensor x = halve.input(DType::F64, {1});
  halve.output(DType::F64, {1});
  halve.define([&] {
    return cond(
        item(op("gt", x, 1.0)), [&] { return std::vector{op("mul", InvokeOp(halve)(op("mul", x, 0.5))[0], weight)}; },
        [&] { return std::vector{x}; });
  });
  CHECK_THAT(recursive::print(halve), Contains("$item(") && Contains("$switch("));
  const auto recursion = Recursion::make(halve);
  std::vector<std::vector<graph::HostValue>> given;
  std::vector<Tensor> expected;
  for (int k = 0; k < 32; ++k) {
    given.push_back({op("full", Dims{1}, std::pow(2.0, k % 8), DType::F64)});
    expected.push_back(op("pow", weight, k % 8));
  }
  const auto found = recursion->invoke_all(given);
  Tensor sum, wanted;
  for (size_t k = 0; k < given.size(); ++k) {
    require_near(found[k][0], expected[k]);
    sum = k ? op("add", sum, found[k][0]) : found[k][0];
    wanted = k ? op("add", wanted, expected[k]) : expected[k];
  }
  // 8 levels of calls and of what they choose, each forward once more on the way back up.
  CHECK(recursion->counts().calls == 2 * 4 * (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8));
  CHECK(recursion->counts().batches <= 8 * 6);
  const auto gradient = [&](const Tensor& of) {
    return autograd::gradients(std::vector{op("sum", of)}, std::vector<Tensor>{Tensor()}, std::vector{weight}, true,
                               false, true)[0];
  };
  const Tensor slope = gradient(wanted);
  for (int pass = 0; pass < 2; ++pass) require_near(gradient(sum), slope);
}

TEST_CASE("a chain of 100,000 calls is no deeper than memory", "[recursion]") {
  const EvenAndOdd f;
  Forestry forestry;
  const Tensor found = Recursion::make(f.even)->invoke({graph::Handle(forestry.chain(100'000, 9))})[0];
  CHECK(f.gradients(found)[1].defined());
}

TEST_CASE("mistakes in SubGraphs are told in sentences", "[recursion]") {
  eager::start();
  SubGraph f("f");
  const HostSymbol tree = f.handle("tree");
  const Tensor x = f.input(DType::F32, {2});
  f.output(DType::F32, {2});
  SubGraph later("later");
  const HostSymbol given = later.handle();

  CHECK_THROWS_WITH(is_leaf(tree), Contains("stands outside of the body of a SubGraph"));
  CHECK_THROWS_WITH(Recursion::make(f), Contains("\"f\" is invoked but has no body"));
  const auto refused = [&](const Way& body, const char* sentence) {
    CHECK_THROWS_WITH(f.define(body), Contains(sentence));
  };
  refused([&] { return InvokeOp(later)(tree); }, "\"later\" is invoked before it says what it returns");
  refused([&] { return InvokeOp(f)(tree); }, "\"f\" takes 2 operands, but is invoked with 1");
  refused([&] { return InvokeOp(f)(x, x); },
          "input 0 of SubGraph \"f\" is declared as handle, but is invoked with f32[2]");
  refused([&] { return std::vector<Tensor>(); }, "declares 1 results, but its body returns 0");
  refused([&] { return std::vector{op("unsqueeze", x, 0)}; }, "declared as f32[2], but its body returns f32[1,2]");
  refused(
      [&] {
        return cond(
            is_leaf(tree), [&] { return std::vector{x}; },
            [&] {
              return std::vector{x, x};
            });
      },
      "return tensors of different dtypes or shapes");
  refused(
      [&] {
        return cond(
            word(tree), [&] { return std::vector{x}; }, [&] { return std::vector{x}; });
      },
      "cond() goes by a scalar bool, but got a scalar int");
  refused([&] { return std::vector{op("mul", x, item(x).as_number())}; }, "item() of a tensor with 2 elements");
  refused([&] { return std::vector{op("add", x, word(word(tree)).as_number())}; },
          "operand 0 of host read 'word' is a handle, but got a scalar int");
}

TEST_CASE("what a case of a cond() makes stays in it", "[recursion]") {
  eager::start();
  SubGraph f("f");
  const HostSymbol tree = f.handle("tree");
  const Tensor x = f.input(DType::F32, {2});
  f.output(DType::F32, {2});
  Tensor kept;
  CHECK_THROWS_WITH(f.define([&] {
    cond(
        is_leaf(tree), [&] { return std::vector{kept = op("tanh", x)}; }, [&] { return std::vector{x}; });
    return std::vector{op("exp", kept)};
  }),
                    Contains("made in one case of a cond() is used outside of it"));
}
