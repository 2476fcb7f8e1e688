// Random programs of views, writes, arithmetic and gradients: the compiled trace leaves what eager execution leaves.
#include <catch2/catch.hpp>
#include <random>

#include "engine/errors/errors.h"
#include "tests/unit/graph/support.h"

using namespace terra;
using namespace terra::graph;
using namespace terra::graph::test;

namespace {

/// Writes a trace while it keeps the shapes of what it made.
class RandomProgram {
 public:
  RandomProgram(uint32_t seed, const std::vector<Tensor>& inputs, bool write_inputs)
      : maker_(inputs), random_(seed), write_inputs_(write_inputs), inputs_(inputs.size()) {
    for (size_t i = 0; i < inputs.size(); ++i) known_.push_back({static_cast<TraceId>(i), inputs[i].sizes()});
  }

  void steps(int n) {
    for (int k = 0; k < n; ++k) step();
  }
  void outputs(int n) {
    for (int k = 0; k < n; ++k) maker_.output(pick().id);
  }
  /// A scalar from everything that was made.
  TraceId total() {
    TraceId sum = maker_.call("sum", {V{known_[0].id}});
    for (size_t k = 1; k < known_.size(); ++k)
      sum = maker_.call("add", {V{sum}, V{maker_.call("sum", {V{known_[k].id}})}});
    return sum;
  }
  TraceMaker& maker() { return maker_; }

 private:
  struct Known {
    TraceId id;
    Dims sizes;
  };
  uint32_t below(size_t n) { return static_cast<uint32_t>(random_() % n); }
  const Known& pick() { return known_[below(known_.size())]; }
  Known pick_like(const Dims& sizes) {
    std::vector<Known> fit;
    for (const Known& k : known_)
      if (k.sizes == sizes) fit.push_back(k);
    return fit[below(fit.size())];
  }
  void made(TraceId id, Dims sizes) { known_.push_back({id, std::move(sizes)}); }

  void step() {
    static const char* const kUnary[] = {"neg", "tanh", "relu", "abs", "sigmoid", "clone"};
    static const char* const kBinary[] = {"add", "sub", "mul", "maximum"};
    const Known a = pick();
    const auto rank = static_cast<int>(a.sizes.size());
    switch (below(9)) {
      case 0:
      case 1: made(maker_.call(kUnary[below(6)], {V{a.id}}), a.sizes); break;
      case 2:
      case 3: made(maker_.call(kBinary[below(4)], {V{a.id}, V{pick_like(a.sizes).id}}), a.sizes); break;
      case 4:
        if (rank == 2) made(maker_.call("t", {V{a.id}}), Dims{a.sizes[1], a.sizes[0]});
        break;
      case 5:
        if (rank > 0 && a.sizes[0] > 1) {
          Dims sizes = a.sizes;
          sizes[0] -= 1;
          made(maker_.call("narrow", {V{a.id}, Arg(0), Arg(static_cast<int>(below(2))), Arg(sizes[0])}), sizes);
        }
        break;
      case 6:
        if (rank > 0) {
          Dims sizes = a.sizes;
          sizes.erase(0);
          made(maker_.call("select", {V{a.id}, Arg(0), Arg(static_cast<int>(below(static_cast<size_t>(a.sizes[0]))))}),
               sizes);
        }
        break;
      case 7:
        if (a.id >= inputs_ || write_inputs_) {
          if (below(3) == 0)
            maker_.in_place("mul", {V{a.id}, Arg(0.5)});
          else
            maker_.in_place(below(2) ? "add" : "copy", {V{a.id}, V{pick_like(a.sizes).id}});
        }
        break;
      default:
        if (a.id >= inputs_ || write_inputs_) maker_.in_place("fill", {V{a.id}, Arg(0.25)});
    }
  }

  TraceMaker maker_;
  std::mt19937 random_;
  std::vector<Known> known_;
  const bool write_inputs_;
  const size_t inputs_;
};

}  // namespace

TEST_CASE("random programs with writes to inputs, some of which share storage", "[random]") {
  const auto make = [] {
    const Tensor flat = filled({20}, 9);
    return std::vector<Tensor>{filled({4, 5}, 1), filled({5, 4}, 2), filled({5}, 3), flat,
                               Tensor::view_of(flat->storage, DType::F32, Dims{3, 5}, Dims{5, 1}, 2)};
  };
  int compared = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    RandomProgram p(seed, make(), true);
    p.steps(20);
    p.outputs(3);
    try {
      run_eagerly(p.maker().trace, make);
    } catch (const Error&) {
      continue;  // an operand that lies partly in what is written
    }
    INFO("seed " << seed);
    require_same(p.maker().trace, make);
    ++compared;
  }
  CHECK(compared > 200);
}

TEST_CASE("random programs with gradients", "[random]") {
  const auto make = [] {
    return std::vector<Tensor>{leaf(filled({4, 5}, 1)), leaf(filled({5, 4}, 2)), leaf(filled({5}, 3))};
  };
  int compared = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    RandomProgram p(seed, make(), false);
    p.steps(14);
    p.maker().backward(p.total());
    try {
      run_eagerly(p.maker().trace, make);
    } catch (const Error&) {
      continue;  // a value that backward needed was written
    }
    INFO("seed " << seed);
    require_same(p.maker().trace, make);
    ++compared;
  }
  CHECK(compared > 50);
}
