#include "tests/unit/kernels/kernel_case.h"

using namespace terra;
using namespace terra::test;

namespace {

struct Case {
  Sizes images, kernel, dilation, padding, stride;
  int64_t windows;
};

const std::vector<Case> kCases = {
    {{2, 3, 4, 5}, {2, 2}, {1, 1}, {0, 0}, {1, 1}, 12}, {{1, 2, 5, 6}, {3, 2}, {1, 2}, {1, 0}, {2, 1}, 12},
    {{3, 1, 1, 1}, {1, 1}, {1, 1}, {0, 0}, {1, 1}, 1},  {{1, 1, 3, 3}, {2, 2}, {3, 3}, {2, 2}, {2, 2}, 4},
    {{0, 2, 4, 4}, {2, 2}, {1, 1}, {0, 0}, {2, 2}, 4},
};

}  // namespace

TEST_CASE("windows become columns and are added up again", "[columns]") {
  for (const Case& c : kCases) {
    const Sizes columns = {c.images[0], c.images[1] * c.kernel[0] * c.kernel[1], c.windows};
    const Sizes size(c.images.end() - 2, c.images.end());
    for (DType dtype : {DType::F32, DType::F64, DType::I32}) {
      const Array images = Array::random(dtype, c.images, 1, -9, 9), sums = Array::random(dtype, columns, 2, -9, 9);
      check_kernel("im2col", Arguments() << images << c.kernel << c.dilation << c.padding << c.stride,
                   {Array(dtype, columns)}, 0);
      check_kernel("col2im", Arguments() << sums << size << c.kernel << c.dilation << c.padding << c.stride,
                   {Array(dtype, c.images)}, 1e-5);
    }
  }
}
