#include "tests/unit/kernels/kernel_case.h"

using namespace terra;
using namespace terra::test;

namespace {

/// Numbers below `limit`, in their order or as they come.
Array places(int64_t limit, int64_t count, bool sorted, int seed) {
  Array places(DType::I64, {count});
  for (int64_t i = 0; i < count; ++i) places.set(i, sorted ? i * limit / count : (i * 7919 + seed) % limit);
  return places;
}

}  // namespace

TEST_CASE("entries of a matrix multiply a dense one", "[sparse]") {
  for (DType dtype : {DType::F32, DType::F64, DType::I32, DType::C64})
    for (const bool sorted : {true, false})
      for (const int64_t count : {0, 1, 40, 5000}) {
        const Array values = Array::random(dtype, {count}, 1, -9, 9), dense = Array::random(dtype, {31, 67}, 2, -9, 9);
        const Arguments entries = Arguments() << places(29, count, sorted, 3) << places(31, count, false, 5) << values;
        check_kernel("coo_mm", Arguments(entries) << dense << 29, {Array(dtype, {29, 67})}, 1e-4);
        check_kernel("coo_mm", Arguments(entries) << Array::random(dtype, {67, 31}, 2, -9, 9).permuted({1, 0}) << 29,
                     {Array(dtype, {29, 67})}, 1e-4);
      }
}
