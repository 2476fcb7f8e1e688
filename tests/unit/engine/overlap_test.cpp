// Which tensors share memory, and what an in-place form refuses of them.
#include <catch2/catch.hpp>

#include "engine/eager/eager.h"
#include "engine/errors/errors.h"
#include "engine/ops/creation.h"
#include "engine/ops/overlap.h"
#include "engine/ops/shape.h"
#include "engine/ops/view.h"

using namespace terra;
using namespace terra::ops;

namespace {

Tensor numbers(int64_t n) {
  eager::start();
  return arange(0, n, 1, DType::F32);
}

constexpr const char* kOperand = "some elements of the input tensor and the written-to tensor";

}  // namespace

TEST_CASE("views share memory, copies and nothing don't", "[ops]") {
  const Tensor v = numbers(6);
  CHECK(shares_memory(*v, *v));
  CHECK(shares_memory(*v, *view(v, {2, 3})));
  CHECK(shares_memory(*narrow(v, 0, 0, 2), *narrow(v, 0, 4, 2)));  // one storage: whole tensors aren't looked through
  CHECK_FALSE(shares_memory(*v, *numbers(6)));
  CHECK_FALSE(shares_memory(*v, *narrow(v, 0, 1, 0)));
}

TEST_CASE("a target's elements are distinct", "[ops]") {
  const Tensor one = numbers(1);
  CHECK_NOTHROW(check_distinct_elements(one));
  CHECK_NOTHROW(check_distinct_elements(expand(one, {1, 1})));
  CHECK_NOTHROW(check_distinct_elements(expand(narrow(one, 0, 0, 0), {4, 0})));
  CHECK_THROWS_WITH(check_distinct_elements(expand(one, {4})), Catch::Contains("more than one element"));
}

TEST_CASE("an operand lies apart from the target, or exactly on it", "[ops]") {
  const Tensor v = numbers(9), m = view(v, {3, 3});
  const Tensor later = narrow(v, 0, 1, 8), sooner = narrow(v, 0, 0, 8);
  CHECK_THROWS_WITH(check_not_shifted(later, *sooner), Catch::Contains(kOperand));
  CHECK_THROWS_WITH(check_not_shifted(m, *transpose(m, 0, 1)), Catch::Contains(kOperand));
  CHECK_THROWS_WITH(check_not_shifted(m, *ops::select(m, 0, 1)), Catch::Contains(kOperand));
  CHECK_NOTHROW(check_not_shifted(v, *narrow(v, 0, 0, 9)));
  CHECK_NOTHROW(check_not_shifted(narrow(v, 0, 0, 4), *narrow(v, 0, 4, 4)));
  CHECK_NOTHROW(check_not_shifted(narrow(m, 1, 1, 2), *narrow(m, 1, 0, 2)));  // with gaps
  CHECK_THROWS_WITH(check_apart(v, *narrow(v, 0, 0, 9)), Catch::Contains(kOperand));
  CHECK_NOTHROW(check_apart(narrow(v, 0, 0, 4), *narrow(v, 0, 4, 4)));
}

TEST_CASE("results of composites are their own", "[ops]") {
  const Tensor v = numbers(4);
  CHECK_FALSE(shares_memory(*repeat(v, {1}), *v));
  CHECK_FALSE(shares_memory(*roll(v, {0}, {0}), *v));
  CHECK(shares_memory(*reshape(v, {2, 2}), *v));
}
