// Gradients of calls that share tensors, that nobody asked for, or that are asked for again.
#include "engine/autograd/autograd.h"
#include "engine/eager/eager.h"
#include "engine/errors/errors.h"
#include "graph/ir/parse.h"
#include "recursive/runtime/recursion.h"
#include "tests/unit/recursive/plain.h"
#include "tests/unit/recursive/tensors.h"
#include "tests/unit/recursive/trees.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::recursive;
using namespace terra::recursive::test;

namespace {

/// Leaves and inner nodes add the same two biases; of the two results the second one is of no use to anybody: its
/// gradient would be infinite, and it alone needs the last weight.
constexpr const char* kTwoBiases = R"(
    graph "main"(%0: handle, %1: f64[2], %2: f64[2], %3: f64[2,2], %4: f64[2]) {
      %5: f64[2], %6: f64[2] = $call @f(%0, %1, %2, %3, %4) @2.1 return %5, %6 }
    graph @f(%0: handle, %1: f64[2], %2: f64[2], %3: f64[2,2], %4: f64[2]) {
      %5: scalar int = $host_call(%0) index 0 @2.1
      %6: f64[2], %7: f64[2] = $switch(%5, %0, %1, %2, %3, %4)
        { graph "leaf"(%0: handle, %1: f64[2], %2: f64[2], %3: f64[2,2], %4: f64[2]) {
            %5: scalar float = $host_call(%0) index 4 @2.1
            %6: f64[2] = add(%1, %5, 1)
            %7: f64[2] = add(%6, %2, 1)
            return %7, %6 } }
        { graph "inner"(%0: handle, %1: f64[2], %2: f64[2], %3: f64[2,2], %4: f64[2]) {
            %5: handle = $host_call(%0) index 2 @2.1
            %6: handle = $host_call(%0) index 3 @2.2
            %7: f64[2], %8: f64[2] = $call @f(%5, %1, %2, %3, %4) @2.3
            %9: f64[2], %10: f64[2] = $call @f(%6, %1, %2, %3, %4) @2.4
            %11: f64[2] = linear(%7, %3, none)
            %12: f64[2] = add(%11, %1, 1)
            %13: f64[2] = add(%12, %2, 1)
            %14: f64[2] = add(%13, %9, 1)
            %15: f64[2] = tanh(%14)
            %16: f64[2] = sub(%15, %15, 1)
            %17: f64[2] = sqrt(%16)
            %18: f64[2] = mul(%17, %4)
            return %15, %18 } }
      return %6, %7 })";

struct Fixture {
  Fixture() {
    eager::start();
    set_host_functions(read_tree);
    weights = {drawn({2}, 1), drawn({2}, 2), drawn({2, 2}, 3), drawn({2}, 4)};
    const Graph main = parse(kTwoBiases);
    table = main.table;
    std::mt19937 random(3);
    operands = {Handle(forestry.node({forestry.random(random, 5, 9), forestry.leaf(1)}))};
    operands.insert(operands.end(), weights.begin(), weights.end());
  }

  std::vector<Tensor> gradients(const Tensor& of, bool retain = false) const {
    const Tensor sum = op("sum", op("mul", of, of));
    return autograd::gradients(std::vector<Tensor>{sum}, std::vector<Tensor>{Tensor()}, weights, retain, false, true);
  }
  std::vector<Tensor> plain(size_t result) const {
    return gradients(std::get<Tensor>(Plain(*table).call(table->id_of("f"), operands)[result]));
  }

  Forestry forestry;
  std::vector<Tensor> weights;
  std::vector<HostValue> operands;
  std::shared_ptr<const GraphTable> table;
};

}  // namespace

TEST_CASE("weights with the same gradient get it once each, and only what is reached gets one", "[recursion]") {
  const Fixture f;
  for (const bool batched : {true, false}) {
    CAPTURE(batched);
    const auto recursion = Recursion::make(f.table, f.table->id_of("f"));
    const std::vector<Tensor> results = recursion->invoke(f.operands, {batched});
    const std::vector<Tensor> found = f.gradients(results[0]), expected = f.plain(0);
    for (size_t k = 0; k < found.size(); ++k) {
      CAPTURE(k);
      require_near(found[k], expected[k]);
    }
    CHECK_FALSE(found[3].defined());
    CHECK(found[0]->storage != found[1]->storage);
  }
}

TEST_CASE("only what the pass backward reads must be as it was", "[recursion]") {
  const Fixture f;
  const auto recursion = Recursion::make(f.table, f.table->id_of("f"));
  const Tensor result = recursion->invoke(f.operands)[0];
  const std::vector<Tensor> expected = f.gradients(result, true);
  const auto write = [](const Tensor& t) {
    const GradMode off(false);
    find_op("mul")->in_place(t, 2.0);
  };
  write(f.weights[0]);  // a bias
  const std::vector<Tensor> found = f.gradients(result, true);
  for (size_t k = 0; k < found.size(); ++k) require_near(found[k], expected[k]);
  write(f.weights[2]);  // the matrix
  CHECK_THROWS_WITH(f.gradients(result), Catch::Contains("has been modified by an inplace operation"));
}

TEST_CASE("a pass backward through what was freed says so", "[recursion]") {
  const Fixture f;
  const auto recursion = Recursion::make(f.table, f.table->id_of("f"));
  const Tensor result = recursion->invoke(f.operands)[0];
  const Ref<autograd::Node> node = autograd::history(result).node;
  node->release_saved();
  CHECK_THROWS_WITH(node->apply({Tensor(), Tensor()}), Catch::Contains("backward through the graph a second time"));
}
