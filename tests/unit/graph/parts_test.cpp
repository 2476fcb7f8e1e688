// A tape in parts: passes over the parts, the last one first, compute what one pass over the whole computes.
#include "graph/trace/parts.h"

#include <catch2/catch.hpp>

#include "engine/autograd/autograd.h"
#include "engine/eager/eager.h"
#include "engine/ops/call.h"

using namespace terra;
using namespace terra::graph;

namespace {

const Op& op(std::string_view name) {
  eager::start();
  const Op* found = find_op(name);
  REQUIRE(found != nullptr);
  return *found;
}

Tensor vector_of(std::initializer_list<double> values) {
  const Tensor t = Tensor::empty(Dims{static_cast<int64_t>(values.size())}, DType::F64);
  std::copy(values.begin(), values.end(), t->data_as<double>());
  return t;
}

Tensor leaf_of(std::initializer_list<double> values) {
  eager::start();
  const Tensor t = vector_of(values);
  autograd::set_requires_grad(t, true);
  return t;
}

std::vector<double> values(const Tensor& t) {
  REQUIRE(t.defined());
  const Tensor flat = op("clone")(t);
  return {flat->data_as<double>(), flat->data_as<double>() + flat.numel()};
}

using Inputs = std::vector<std::pair<Tensor, uint32_t>>;
using Numbers = std::vector<uint32_t>;

/// The gradients of the inputs, where ones arrive for the first `results` roots.
std::vector<Tensor> walk(const std::vector<Parts::Part>& parts, const std::vector<Parts::Root>& roots, size_t results,
                         size_t inputs) {
  std::vector<Tensor> of_root(roots.size()), of_input(inputs);
  for (size_t k = 0; k < results; ++k) of_root[k] = op("ones_like")(roots[k].tensor);
  const auto add = [](Tensor& sum, const Tensor& more) { sum = sum.defined() ? op("add")(sum, more) : more; };
  for (size_t p = parts.size(); p-- > 0;) {
    std::vector<Tensor> tensors, arrived, leaves;
    for (uint32_t k : parts[p].roots) {
      if (!of_root[k].defined()) continue;
      tensors.push_back(roots[k].tensor);
      arrived.push_back(of_root[k]);
    }
    for (const Parts::Target& target : parts[p].targets) leaves.push_back(target.leaf);
    if (tensors.empty() || leaves.empty()) continue;
    const std::vector<Tensor> found = autograd::gradients(tensors, arrived, leaves, true, false, true);
    for (size_t i = 0; i < found.size(); ++i) {
      const GradientTarget& goes = parts[p].targets[i].goes;
      if (found[i].defined())
        add(goes.kind == GradientTarget::Kind::Root ? of_root[goes.index] : of_input[goes.index], found[i]);
    }
  }
  return of_input;
}

}  // namespace

TEST_CASE("a tape that nothing divides is one part", "[parts]") {
  const Tensor x = leaf_of({1, 2, 3}), y = op("mul")(x, x);
  Parts parts;
  CHECK(parts.count() == 1);
  CHECK(parts.origin(y).part == 0);
  CHECK(parts.origin(y).tensor.get() == y.get());
  std::vector<Parts::Root> roots = {parts.origin(y)};
  const auto connected = parts.connect(roots, Inputs{{x, 4}}, {});
  REQUIRE(connected.size() == 1);
  CHECK(connected[0].roots == Numbers{0});
  REQUIRE(connected[0].targets.size() == 1);
  CHECK(connected[0].targets[0].goes.kind == GradientTarget::Kind::Input);
  CHECK(connected[0].targets[0].goes.index == 4);
  CHECK(roots.size() == 1);
  CHECK(parts.interior().empty());
}

TEST_CASE("what a later part reads becomes a root of the part that it was computed in", "[parts]") {
  const Tensor x = leaf_of({1, 2, 3}), w = leaf_of({4, 5, 6});
  const Tensor y = op("mul")(x, x), unused = op("mul")(x, 2.0);
  const autograd::Node* const made = autograd::history(y).node.get();
  Parts parts;
  parts.divide(std::vector<Tensor>{y, unused});
  CHECK(parts.count() == 2);
  const Tensor z = op("mul")(y, w);
  CHECK(parts.origin(z).part == 1);
  const Parts::Root root_y = parts.origin(y);
  CHECK(root_y.part == 0);
  CHECK(autograd::history(root_y.tensor).node.get() == made);
  std::vector<Parts::Root> roots = {parts.origin(z)};
  roots[0].spec = 0;
  const auto connected = parts.connect(roots, Inputs{{x, 0}, {w, 1}}, {});
  REQUIRE(connected.size() == 2);
  REQUIRE(roots.size() == 2);
  CHECK(roots[1].spec == ProgramRoot::kInside);
  CHECK(roots[1].part == 0);
  CHECK(connected[1].roots == Numbers{0});
  CHECK(connected[0].roots == Numbers{1});
  const std::vector<Tensor> found = walk(connected, roots, 1, 2);
  CHECK(values(found[0]) == std::vector<double>{8, 20, 36});  // 2 x w
  CHECK(values(found[1]) == std::vector<double>{1, 4, 9});    // x x
}

TEST_CASE("a result that a later part reads is one root for both", "[parts]") {
  const Tensor x = leaf_of({1, 2, 3}), y = op("mul")(x, 3.0);
  Parts parts;
  parts.divide(std::vector<Tensor>{y});
  const Tensor z = op("mul")(y, y);
  std::vector<Parts::Root> roots = {parts.origin(z), parts.origin(y)};
  roots[0].spec = 0, roots[1].spec = 1;
  const auto connected = parts.connect(roots, Inputs{{x, 0}}, {});
  CHECK(roots.size() == 2);
  CHECK(connected[0].roots == Numbers{1});
  REQUIRE(connected[1].targets.size() == 1);
  CHECK(connected[1].targets[0].goes.kind == GradientTarget::Kind::Root);
  CHECK(connected[1].targets[0].goes.index == 1);
  CHECK(values(walk(connected, roots, 2, 1)[0]) == std::vector<double>{21, 39, 57});  // 18 x + 3
}

TEST_CASE("a part that does nothing with a tensor hands its gradient past itself", "[parts]") {
  const Tensor x = leaf_of({1, 2, 3}), y = op("mul")(x, x), v = op("mul")(x, 2.0);
  Parts parts;
  parts.divide(std::vector<Tensor>{y, v});
  const Tensor u = op("mul")(v, v);
  parts.divide(std::vector<Tensor>{y, u, v});
  const Tensor z = op("add")(op("mul")(y, u), v);
  CHECK(parts.origin(y).part == 0);
  CHECK(parts.origin(u).part == 1);
  std::vector<Parts::Root> roots = {parts.origin(z)};
  roots[0].spec = 0;
  const auto connected = parts.connect(roots, Inputs{{x, 0}}, {});
  REQUIRE(connected.size() == 3);
  CHECK(connected[2].targets.size() == 3);
  for (const Parts::Target& target : connected[2].targets) CHECK(target.goes.kind == GradientTarget::Kind::Root);
  for (const uint32_t k : connected[1].roots) CHECK(roots[k].part == 1);
  // z = 4 x^4 + 2 x. The part between reads v: all of v's gradient goes through it.
  CHECK(values(walk(connected, roots, 1, 1)[0]) == std::vector<double>{18, 130, 434});
}

TEST_CASE("what functions of the program made leads to them", "[parts]") {
  const Tensor x = leaf_of({1, 2, 3}), y = op("mul")(x, 2.0);
  const Tensor made = vector_of({5, 6, 7});
  Parts parts;
  parts.divide(std::vector<Tensor>{y});
  parts.follow_function(made);
  CHECK(made.requires_grad());
  const Parts::Root root = parts.origin(made);
  CHECK(!root.tensor.defined());
  CHECK(root.part == 0);
  const Tensor z = op("mul")(made, y);
  std::vector<Parts::Root> roots = {parts.origin(z)};
  roots[0].spec = 0;
  const auto connected = parts.connect(roots, Inputs{{x, 0}}, {{made.get(), 9}});
  size_t functions = 0;
  for (const Parts::Target& target : connected[1].targets) {
    if (target.goes.kind != GradientTarget::Kind::Function) continue;
    ++functions;
    CHECK(target.goes.index == 9);
  }
  CHECK(functions == 1);
  CHECK(connected[1].targets.size() == 2);
}

TEST_CASE("a result that others of its part follow from is told, with who reads it first", "[parts]") {
  const Tensor x = leaf_of({1, 2, 3}), y = op("mul")(x, 3.0);
  const Tensor read = op("mul")(y, 2.0), again = op("add")(y, read);
  Parts parts;
  std::vector<Parts::Root> roots = {parts.origin(again), parts.origin(y)};
  roots[0].spec = 0, roots[1].spec = 1;
  parts.connect(roots, Inputs{{x, 0}}, {});
  REQUIRE(parts.interior().size() == 1);
  CHECK(parts.interior()[0].made == autograd::history(y).node->sequence);
  CHECK(parts.interior()[0].read == autograd::history(read).node->sequence);
}
