// What must hold of every op record, and of the tables that refer to records by name.
#include <bit>

#include <catch2/catch.hpp>

#include "engine/eager/eager.h"
#include "engine/errors/errors.h"
#include "engine/ops/draws.h"
#include "engine/ops/halves.h"
#include "engine/ops/layout.h"
#include "engine/ops/op.h"
#include "engine/ops/out_rules.h"
#include "engine/ops/overloads.h"
#include "engine/ops/rules.h"
#include "engine/ops/view.h"
#include "kernels/abi/kernel.h"

using namespace terra;

namespace {

const std::vector<const Op*>& records() {
  eager::start();
  return all_ops();
}

constexpr uint32_t kSeen = kFunction | kMethod | kFunctional | kProperty;

}  // namespace

TEST_CASE("every record says how it is computed, once", "[ops]") {
  for (const Op* op : records()) {
    INFO(op->name);
    if (op->composite) {
      CHECK(op->shape == nullptr);
      CHECK(op->host == nullptr);
      CHECK(op->gradient == nullptr);
      continue;
    }
    CHECK((op->host != nullptr) == op->is(kHost));
    CHECK((op->shape != nullptr || op->is(kHost)));
    if (!op->is(kHost | kView)) {
      CHECK(find_kernel(op->name) != nullptr);
      CHECK(find_reference_kernel(op->name) != nullptr);
    }
  }
}

TEST_CASE("every record is documented and sampled", "[ops]") {
  for (const Op* op : records()) {
    INFO(op->name);
    CHECK_FALSE(op->samples.empty());
    REQUIRE_FALSE(op->doc.empty());
    CHECK(op->doc.back() == '.');
    if (op->is(kSeen)) CHECK((!op->example.empty() || op->is(kFunctional)));
  }
}

/// The parts of complex numbers aren't converted: the shape rules refuse different dtypes.
bool holds_to_one_dtype(const Op& op) { return op.name == "complex" || op.name == "polar"; }

TEST_CASE("flags agree with signatures", "[ops]") {
  for (const Op* op : records()) {
    INFO(op->name);
    const auto& params = op->sig().params;
    if (op->is(kInPlace | kView | kMethod)) {
      REQUIRE_FALSE(params.empty());
      CHECK((params[0].type == ParamType::Tensor || params[0].type == ParamType::TensorOrNumber));
    }
    if (op->gradient) CHECK((op->saved & 0xffff) >> params.size() == 0);
    if (op->is(kElementwise))
      CHECK((op->promotion != Promotion::None || op->name == "to_dtype" || holds_to_one_dtype(*op)));
    if (op->writes) CHECK(op->is(kNoGradient));
  }
}

TEST_CASE("each flag of records has a bit of its own", "[ops]") {
  constexpr uint32_t flags[] = {
      kElementwise, kView,        kRandom,     kInPlace,      kReduction,      kChecksValues, kCheap,
      kCompares,    kNoGradient,  kMovesBytes, kHost,         kFactory,        kComplex,      kFunction,
      kMethod,      kFunctional,  kProperty,   kMayAlias,     kScatters,       kReadsFirst,   kWritesOneValue,
      kSameFloats,  kKeepsFormat, kLiesByRows, kDrawsBySizes, kLaidOutAsAsked, kPiecewise,    kRefusesBool,
      kBarebones,   kTensorsOnly, kLastResort, kTakesBFloat16};
  uint32_t taken = 0;
  for (uint32_t flag : flags) {
    CHECK(std::has_single_bit(flag));
    CHECK((taken & flag) == 0);
    taken |= flag;
  }
}

TEST_CASE("what records say of memory agrees with how they compute", "[ops]") {
  for (const Op* op : records()) {
    INFO(op->name);
    if (op->is(kView)) CHECK(op->composite == nullptr);
    if (op->is(kMayAlias)) CHECK(op->composite != nullptr);
    if (op->is(kScatters | kReadsFirst)) CHECK(op->is(kInPlace));
    CHECK_FALSE((op->is(kScatters) && op->is(kReadsFirst)));
  }
}

TEST_CASE("what is said of out= is said of ops", "[ops]") {
  records();
  for (std::string_view name : ops_with_out_rules()) {
    INFO(name);
    CHECK(find_op(name) != nullptr);
  }
}

TEST_CASE("overloads and special methods name ops", "[ops]") {
  records();
  for (const Overload& overload : kOverloads)
    for (std::string_view name : overload.ops) {
      INFO(overload.name << ": " << name);
      CHECK((name.empty() || find_op(name) != nullptr));
    }
  for (const SpecialMethod& special : kSpecialMethods) {
    INFO(special.method);
    REQUIRE(find_op(special.op) != nullptr);
    CHECK((!special.in_place || find_op(special.op)->is(kInPlace)));
  }
  CHECK(find_op(kGetItem) != nullptr);
  CHECK(find_op(kSetItem) != nullptr);
}

TEST_CASE("views of strided memory", "[ops]") {
  const auto strides = [](Dims sizes, Dims strides, Dims wanted) { return strides_of_view(sizes, strides, wanted); };
  CHECK(strides({2, 6}, {6, 1}, {3, 4}) == Dims{4, 1});
  CHECK(strides({4, 3}, {1, 4}, {12}) == std::nullopt);        // a transposed matrix doesn't lie in a row
  CHECK(strides({4, 3}, {1, 4}, {2, 2, 3}) == Dims{2, 1, 4});  // but its dimensions can be split
  CHECK(strides({2, 3, 4}, {24, 4, 1}, {2, 12}) == Dims{24, 1});
  CHECK(strides({2, 3, 4}, {24, 4, 1}, {24}) == std::nullopt);
  CHECK(strides({3}, {0}, {3, 1})->data()[0] == 0);
  CHECK(strides({}, {}, {1, 1}).has_value());
  CHECK(strides({0, 3}, {3, 1}, {3, 0}).has_value());
}

TEST_CASE("a size of -1 is inferred", "[ops]") {
  CHECK(inferred_sizes(Dims{2, -1}, 12) == Dims{2, 6});
  CHECK(inferred_sizes(Dims{-1}, 0) == Dims{0});
  CHECK_THROWS_WITH(inferred_sizes(Dims{2, 7}, 12), "shape '[2, 7]' is invalid for input of size 12");
  CHECK_THROWS_WITH(inferred_sizes(Dims{-1, -1}, 12), "only one dimension can be inferred");
  CHECK_THROWS_WITH(inferred_sizes(Dims{-1, 5}, 12), "shape '[-1, 5]' is invalid for input of size 12");
  CHECK_THROWS_AS(inferred_sizes(Dims{-1, 0}, 0), Error);
}
