#include "tests/unit/kernels/kernel_case.h"

using namespace terra;
using namespace terra::test;

namespace {

/// By themselves, and more than the lanes of a vector.
constexpr int64_t kCounts[] = {2, 19};
constexpr int64_t kLengths[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 30, 31, 37, 45, 64, 74, 97, 128, 202};

double tolerance_of(DType dtype) { return dtype == DType::C64 ? 5e-5 : 1e-12; }

}  // namespace

TEST_CASE("transforms of complex numbers agree with the sums that define them", "[fourier]") {
  for (const DType dtype : {DType::C64, DType::C128}) {
    for (const int64_t n : kLengths)
      for (const int64_t count : kCounts) {
        INFO(count << " of length " << n);
        const Array x = Array::random(dtype, {count, n}, 1);
        const Array across = Array::random(dtype, {n, count}, 2).permuted({1, 0});
        for (const bool forward : {true, false})
          for (const Array& in : {x, across})
            check_kernel("fft_c2c", Arguments() << in << Sizes{1} << forward << 0.5, {Array(dtype, {count, n})},
                         tolerance_of(dtype));
      }
    check_kernel("fft_c2c", Arguments() << Array::random(dtype, {6, 5, 7}) << Sizes{0, -1} << true << 1.0,
                 {Array(dtype, {6, 5, 7})}, tolerance_of(dtype));
  }
}

TEST_CASE("transforms of real numbers and back to them", "[fourier]") {
  for (const DType dtype : {DType::C64, DType::C128}) {
    const DType real = real_dtype_of(dtype);
    for (const int64_t n : kLengths)
      for (const int64_t count : kCounts) {
        INFO(count << " of length " << n);
        const Array x = Array::random(real, {count, n}, 1), half = Array::random(dtype, {count, n / 2 + 1}, 2);
        check_kernel("fft_r2c", Arguments() << x << Sizes{1} << true << 1.0, {Array(dtype, {count, n / 2 + 1})},
                     tolerance_of(dtype));
        check_kernel("fft_r2c", Arguments() << x << Sizes{1} << false << 2.0, {Array(dtype, {count, n})},
                     tolerance_of(dtype));
        check_kernel("fft_c2r", Arguments() << half << Sizes{1} << Scalar(n) << 1.0, {Array(real, {count, n})},
                     tolerance_of(dtype));
      }
    check_kernel("fft_r2c", Arguments() << Array::random(real, {4, 5, 6}) << Sizes{2, 0} << true << 1.0,
                 {Array(dtype, {3, 5, 6})}, tolerance_of(dtype));
    check_kernel("fft_c2r", Arguments() << Array::random(dtype, {4, 5, 6}) << Sizes{0, 2} << Scalar(11) << 1.0,
                 {Array(real, {4, 5, 11})}, tolerance_of(dtype));
  }
}
