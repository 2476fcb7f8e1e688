#include <catch2/catch.hpp>

#include "engine/errors/errors.h"
#include "engine/ops/call.h"

using namespace terra;

namespace {

Tensor of(DType dtype, Dims sizes) { return Tensor::empty(sizes, dtype); }

}  // namespace

TEST_CASE("two dtypes meet as in PyTorch") {
  CHECK(promote_types(DType::U8, DType::I8) == DType::I16);
  CHECK(promote_types(DType::I64, DType::F16) == DType::F16);
  CHECK(promote_types(DType::F16, DType::BF16) == DType::F32);
  CHECK(promote_types(DType::Bool, DType::U8) == DType::U8);
  CHECK(promote_types(DType::F64, DType::F32) == DType::F64);
}

TEST_CASE("barebones integers meet floats and themselves only") {
  for (const DType dtype : {DType::U16, DType::U32, DType::U64}) {
    CHECK(promote_types(dtype, dtype) == dtype);
    CHECK(promote_types(dtype, DType::BF16) == DType::BF16);
    CHECK(promote_types(DType::F64, dtype) == DType::F64);
    for (const DType other : {DType::Bool, DType::U8, DType::I64, DType::C64}) {
      CHECK_THROWS_AS(promote_types(dtype, other), Error);
      CHECK_THROWS_AS(promote_types(other, dtype), Error);
    }
  }
}

TEST_CASE("dimensions outrank 0-d tensors, which outrank numbers, unless the kind is higher") {
  const Tensor ints = of(DType::I32, {2}), floats = of(DType::F32, {2}), zero_dim = of(DType::F64, {});
  const auto type = [](std::initializer_list<Arg> a) { return result_type({a.begin(), a.size()}); };
  CHECK(type({ints, 2}) == DType::I32);
  CHECK(type({ints, 2.5}) == DType::F32);
  CHECK(type({floats, zero_dim}) == DType::F32);
  CHECK(type({ints, zero_dim}) == DType::F64);
  CHECK(type({of(DType::Bool, {2}), 3}) == DType::I64);
  CHECK(type({of(DType::U8, {2}), of(DType::I64, {})}) == DType::U8);
  CHECK(type({of(DType::F16, {2}), 1.5}) == DType::F16);
  CHECK(type({of(DType::U32, {2}), 3}) == DType::U32);
  CHECK(type({of(DType::U32, {2}), of(DType::I64, {})}) == DType::U32);
  CHECK(type({of(DType::U32, {2}), of(DType::C64, {})}) == DType::C64);
  CHECK(type({of(DType::I64, {2}), Scalar(~uint64_t{0})}) == DType::I64);
}
