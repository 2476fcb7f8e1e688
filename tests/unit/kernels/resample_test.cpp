#include "kernels/abi/kernel_error.h"
#include "tests/unit/kernels/kernel_case.h"

using namespace terra;
using namespace terra::test;

TEST_CASE("sums of weighted elements along any dimension, and their transpose", "[resample]") {
  for (DType dtype : {DType::F32, DType::F64}) {
    for (const int64_t taps : {1, 2, 3, 4}) {
      for (const int dim : {-1, -2, 1, 0}) {
        INFO("taps " << taps << " dim " << dim);
        const Sizes in = {3, 37, 6, 5};
        Sizes out = in;
        int64_t& size = out[static_cast<size_t>(dim < 0 ? dim + 4 : dim)];
        const int before = static_cast<int>(size), after = 7;
        size = after;
        const Array index = Array::random(DType::I64, {taps, after}, 1, 0, before);
        const Array weight = Array::random(dtype, {taps, after}, 2);
        const Array x = Array::random(dtype, in, 3), g = Array::random(dtype, out, 4);
        check_kernel("resample", Arguments() << x << dim << index << weight, {Array(dtype, out)}, 0);
        check_kernel("resample", Arguments() << x.channels_last() << dim << index << weight,
                     {Array::channels_last(dtype, out)}, 0);
        check_kernel("resample", Arguments() << x << dim << index << weight, {Array::channels_last(dtype, out)}, 0);
        check_kernel("resample_backward", Arguments() << g << dim << before << index << weight, {Array(dtype, in)}, 0);
        check_kernel("resample_backward", Arguments() << g.channels_last() << dim << before << index << weight,
                     {Array::channels_last(dtype, in)}, 0);
      }
    }
  }
  Array beyond(DType::I64, {1, 2});
  beyond.set(1, 5);
  std::vector<Array> out = {Array(DType::F32, {2})};
  const Array five(DType::F32, {5}), weight(DType::F32, {1, 2});
  CHECK_THROWS_AS(run(find_kernel("resample"), Arguments() << five << 0 << beyond << weight, out), KernelError);
}

TEST_CASE("images sampled at any places, and the gradients of that", "[resample]") {
  for (DType dtype : {DType::F32, DType::F64}) {
    for (const int64_t taps : {1, 4}) {
      const Sizes at = {2, taps, 50};
      const Array images = Array::random(dtype, {2, 3, 30}, 1), grad = Array::random(dtype, {2, 3, 50}, 2);
      const Array index = Array::random(DType::I64, at, 3, 0, 30), weight = Array::random(dtype, at, 4);
      check_kernel("sample", Arguments() << images << index << weight, {Array(dtype, {2, 3, 50})}, 0);
      check_kernel("sample", Arguments() << Array::random(dtype, {30, 3, 2}).permuted({2, 1, 0}) << index << weight,
                   {Array(dtype, {2, 3, 50})}, 0);
      check_kernel("sample_image_gradient", Arguments() << grad << index << weight << 30, {Array(dtype, {2, 3, 30})},
                   0);
      check_kernel("sample_weight_gradient", Arguments() << grad << images << index, {Array(dtype, at)}, 0);
    }
  }
  Array beyond(DType::I64, {1, 1, 2});
  beyond.set(1, -1);
  std::vector<Array> out = {Array(DType::F32, {1, 1, 2})};
  const Array image(DType::F32, {1, 1, 5}), weight(DType::F32, {1, 1, 2});
  CHECK_THROWS_AS(run(find_kernel("sample"), Arguments() << image << beyond << weight, out), KernelError);
}

TEST_CASE("what grids read, and how weights follow them", "[resample]") {
  for (DType dtype : {DType::F32, DType::F64}) {
    for (const Sizes& size : {Sizes{7, 5}, Sizes{1, 4}, Sizes{3, 4, 6}}) {
      const int64_t axes = static_cast<int64_t>(size.size());
      Array grid = Array::random(dtype, {2, 150, axes}, 5, -2.5, 2.5);
      grid.set(0, NAN), grid.set(1, INFINITY), grid.set(2, -1e9), grid.set(3, 1e9);
      for (const int mode : {0, 1, 2}) {
        const int64_t along = mode == 0   ? 2
                              : mode == 1 ? 1
                                          : 4,
                      all = axes == 2 ? along * along : along * along * along;
        const std::vector<Array> out = {Array(DType::I64, {2, all, 150}), Array(dtype, {2, all, 150})};
        for (const int padding : {0, 1, 2}) {
          for (const bool corners : {false, true}) {
            for (const int64_t order : {0, 1, 2, 3, 4}) {
              INFO("mode " << mode << " padding " << padding << " corners " << corners << " order " << order);
              Sizes orders(size.size());
              orders[1] = order;
              const double loose = dtype == DType::F32 ? 2e-4 : 1e-12;
              check_kernel("grid_taps", Arguments() << grid << size << mode << padding << corners << orders << nullptr,
                           out, loose);
              for (const DType half : {DType::F16, DType::BF16}) {
                if (dtype == DType::F32)
                  check_kernel("grid_taps", Arguments() << grid << size << mode << padding << corners << orders << half,
                               out, 2e-2);
              }
            }
          }
        }
      }
    }
  }
}
