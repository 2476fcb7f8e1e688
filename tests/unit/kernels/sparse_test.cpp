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
        const Array rows = places(29, count, sorted, 3), columns = places(31, count, false, 5);
        const Array turned = Array::random(dtype, {67, 31}, 2, -9, 9).permuted({1, 0});
        for (const Array* factor : {&dense, &turned})
          check_kernel("coo_mm", Arguments() << rows << columns << values << *factor << 29, {Array(dtype, {29, 67})},
                       1e-4);
      }
}
