#include "engine/tensor/dims.h"

#include <catch2/catch.hpp>

#include "engine/errors/errors.h"

using namespace terra;

TEST_CASE("dims grow past their inline room and keep their values when moved") {
  Dims d;
  for (int i = 0; i < 20; ++i) d.push_back(i);
  Dims moved = std::move(d);
  CHECK(d.empty());
  REQUIRE(moved.size() == 20);
  CHECK(moved[19] == 19);
  moved.insert(3, 100);
  CHECK(moved[3] == 100);
  CHECK(moved[4] == 3);
  moved.erase(3);
  CHECK(moved[3] == 3);
  const Dims copy = moved;
  CHECK(copy == moved);
}

TEST_CASE("the number of elements is checked for overflow") {
  CHECK(checked_numel(Dims{2, 3}) == 6);
  CHECK(checked_numel(Dims{}) == 1);
  CHECK(checked_numel(Dims{int64_t{1} << 62, 4, 0}) == 0);
  CHECK_THROWS_AS(checked_numel(Dims{int64_t{1} << 62, 4}), Error);
  CHECK_THROWS_WITH(checked_numel(Dims{2, -1}), "Trying to create tensor with negative dimension -1: [2, -1]");
}

TEST_CASE("broadcasting and dimension wrapping say what is wrong in PyTorch's words") {
  CHECK(broadcast_sizes(Dims{3, 1}, Dims{4}) == Dims{3, 4});
  CHECK_THROWS_WITH(broadcast_sizes(Dims{3, 2}, Dims{4}),
                    "The size of tensor a (2) must match the size of tensor b (4) at non-singleton dimension 1");
  CHECK(wrap_dim(-1, 3) == 2);
  CHECK(wrap_dim(0, 0) == 0);
  CHECK_THROWS_WITH(wrap_dim(2, 2), "Dimension out of range (expected to be in range of [-2, 1], but got 2)");
}

TEST_CASE("row-major strides step over empty dimensions") {
  CHECK(contiguous_strides(Dims{2, 3, 4}) == Dims{12, 4, 1});
  CHECK(contiguous_strides(Dims{2, 0, 4}) == Dims{4, 4, 1});
}
