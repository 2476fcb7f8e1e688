// Random recursive functions on random trees: many calls at once, one after the other, and op by op.
#include <catch2/catch.hpp>

#include "engine/eager/eager.h"
#include "graph/ir/print.h"
#include "graph/ir/verify.h"
#include "recursive/runtime/recursion.h"
#include "tests/unit/recursive/plain.h"
#include "tests/unit/recursive/random_program.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::recursive;
using namespace terra::recursive::test;

namespace {

/// Trees of nodes with up to three children, some of which have more than one parent. Leaves have tensors.
std::vector<Tree*> draw_trees(Forestry& forestry, RandomProgram& p, size_t count) {
  std::vector<Tree*> all, roots;
  const std::function<Tree*(size_t)> grow = [&](size_t depth) -> Tree* {
    if (!all.empty() && p.draw(5) == 0) return all[p.draw(all.size())];
    const size_t children = depth == 0 ? 0 : p.draw(4);
    std::vector<Tree*> below;
    for (size_t c = 0; c < children; ++c) below.push_back(grow(depth - 1));
    Tree* made = children ? forestry.node(std::move(below)) : forestry.leaf(static_cast<int64_t>(p.draw(5)));
    all.push_back(made);
    return made;
  };
  while (roots.size() < count) roots.push_back(grow(3));
  uint32_t seed = 0;
  forestry.for_each([&](Tree& t) { t.tensor = drawn({RandomProgram::kWidth}, ++seed, p.draw(2)); });
  return roots;
}

using Results = std::vector<std::vector<Tensor>>;

/// A sum of squares of those results that are used, each weighed by its position.
Tensor loss_of(const Results& results, const std::vector<bool>& used) {
  Tensor sum;
  double factor = 1;
  size_t k = 0;
  for (const auto& of_root : results)
    for (const Tensor& t : of_root) {
      factor += 0.25;
      if (!used[k++]) continue;
      const Tensor part = op("mul", op("sum", op("mul", t, t)), factor);
      sum = sum.defined() ? op("add", sum, part) : part;
    }
  return sum;
}

std::vector<Tensor> gradients(const Results& results, const std::vector<bool>& used, const std::vector<Tensor>& of) {
  const Tensor loss = loss_of(results, used);
  if (!loss.requires_grad()) return std::vector<Tensor>(of.size());
  return autograd::gradients(std::vector<Tensor>{loss}, std::vector<Tensor>{Tensor()}, of, true, false, true);
}

/// Returns why paths run one call at a time.
std::vector<std::string> compare(uint32_t seed, bool items = false) {
  RandomProgram program(seed, items);
  for (GraphId id = 0; id < program.table->size(); ++id) {
    Graph g = program.table->at(id);
    g.table = program.table;
    INFO(print(g));
    REQUIRE(find_violation(g, Stage::Captured) == "");
  }
  Forestry forestry;
  const std::vector<Tree*> trees = draw_trees(forestry, program, 1 + program.draw(4));
  std::vector<Tensor> leaves = program.weights;
  leaves.insert(leaves.end(), program.arguments.begin(), program.arguments.end());
  std::vector<std::vector<HostValue>> operands;
  for (Tree* tree : trees) {
    operands.push_back({Handle(tree)});
    operands.back().insert(operands.back().end(), leaves.begin(), leaves.end());
  }
  forestry.for_each([&](Tree& t) {
    if (t.tensor.requires_grad()) leaves.push_back(t.tensor);
  });

  Results expected;
  for (const auto& given : operands) {
    auto& list = expected.emplace_back();
    for (const HostValue& v : Plain(*program.table).call(program.root(), given)) list.push_back(std::get<Tensor>(v));
  }
  const size_t count = trees.size() * program.results();
  std::vector<std::vector<bool>> passes = {std::vector<bool>(count, true)};
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<bool> used(count);
    used[program.draw(count)] = true;
    for (size_t k = 0; k < count; ++k) used[k] = used[k] || program.draw(3) == 0;
    passes.insert(passes.begin() + pass, used);
  }

  std::vector<std::string> why;
  for (const bool batched : {true, false}) {
    CAPTURE(batched);
    const auto recursion = Recursion::make(program.table, program.root());
    const Results found = recursion->invoke_all(operands, {batched});
    for (size_t r = 0; r < found.size(); ++r)
      for (size_t k = 0; k < found[r].size(); ++k) require_near(found[r][k], expected[r][k]);
    for (const auto& used : passes) {
      const std::vector<Tensor> wanted = gradients(expected, used, leaves), made = gradients(found, used, leaves);
      for (size_t k = 0; k < leaves.size(); ++k) {
        CAPTURE(k);
        require_near(made[k], wanted[k]);
      }
    }
    if (batched) why = recursion->counts().one_by_one;
  }
  return why;
}

}  // namespace

TEST_CASE("random recursive functions compute what plain calls compute", "[recursion]") {
  eager::start();
  set_host_functions(read_tree);
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    DYNAMIC_SECTION("seed " << seed) { CHECK(compare(seed) == std::vector<std::string>()); }
  }
}

TEST_CASE("so do those whose ways tensors choose", "[recursion]") {
  eager::start();
  set_host_functions(read_tree);
  int batched = 0;
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    if (compare(seed, true).empty()) ++batched;
  }
  CHECK(batched >= 36);  // a norm's weight that is used at several stages: one by one
}

TEST_CASE("a thousand more of them", "[.long]") {
  eager::start();
  set_host_functions(read_tree);
  for (uint32_t seed = 1000; seed < 2000; ++seed) {
    CAPTURE(seed);
    compare(seed, seed % 2 == 0);
  }
}
