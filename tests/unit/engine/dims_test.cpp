#include "engine/tensor/dims.h"

#include <catch2/catch.hpp>

#include "engine/errors/errors.h"
#include "engine/tensor/tensor.h"

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

TEST_CASE("sizes don't wrap") {
  const int64_t most = INT64_MAX;
  CHECK(size_sum(most - 1, 1) == most);
  CHECK(size_product(-3, 4) == -12);
  CHECK_THROWS_AS(size_sum(most, 1), Error);
  CHECK_THROWS_AS(size_product(int64_t{1} << 62, 2), Error);
  CHECK_THROWS_AS(checked_numel(Dims(kMaxRank + 1, 1)), Error);
}

TEST_CASE("how far a view reaches into its storage saturates") {
  const int64_t huge = int64_t{1} << 62;
  CHECK(storage_reach(Dims{2, 3}, Dims{3, 1}, 4) == 10);
  CHECK(storage_reach(Dims{}, Dims{}, 4) == 5);
  CHECK(storage_reach(Dims{2, 0}, Dims{huge, huge}, huge) == 0);
  CHECK(storage_reach(Dims{1, 3}, Dims{huge, 1}, 0) == 3);
  CHECK(storage_reach(Dims{huge}, Dims{0}, 0) == 1);
  CHECK(storage_reach(Dims{huge}, Dims{4}, 0) == INT64_MAX);
  CHECK(storage_reach(Dims{3, 3}, Dims{huge, huge}, 0) == INT64_MAX);
  CHECK(storage_reach(Dims{2}, Dims{1}, INT64_MAX) == INT64_MAX);
  CHECK(storage_reach(Dims{2}, Dims{1}, -1) == INT64_MAX);
  CHECK(storage_reach(Dims{2}, Dims{-1}, 5) == INT64_MAX);
}

TEST_CASE("no view reaches beyond its storage") {
  const Tensor t = Tensor::empty(Dims{4}, DType::F32);
  CHECK(Tensor::view_of(t->storage, DType::F32, Dims{2}, Dims{3}, 0).numel() == 2);
  CHECK_THROWS_WITH(Tensor::view_of(t->storage, DType::F32, Dims{2}, Dims{4}, 0),
                    "setStorage: sizes [2], strides [4], storage offset 0, and itemsize 4 requiring a storage size of "
                    "20 are out of bounds for storage of size 16");
  CHECK_THROWS_AS(Tensor::view_of(t->storage, DType::F32, Dims{int64_t{1} << 62}, Dims{4}, 0), Error);
  CHECK_THROWS_AS(Tensor::view_of(t->storage, DType::F64, Dims{4}, Dims{1}, 0), Error);
  CHECK_THROWS_AS(Tensor::view_of(t->storage, DType::F32, Dims{1}, Dims{1}, -1), Error);
}

TEST_CASE("a number has no sizes to ask for") {
  CHECK_THROWS_WITH(Tensor::empty(Dims{}, DType::F32).size(-1),
                    "Dimension specified as -1 but tensor has no dimensions");
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
