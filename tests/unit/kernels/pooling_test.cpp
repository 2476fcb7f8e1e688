#include "tests/unit/kernels/kernel_case.h"

using namespace terra;
using namespace terra::test;

namespace {

struct Case {
  Sizes input, kernel, stride, padding, dilation, output;
};

const std::vector<Case> kCases = {
    {{2, 3, 8, 8}, {2, 2}, {2, 2}, {0, 0}, {1, 1}, {2, 3, 4, 4}},
    {{3, 7, 9}, {3, 2}, {1, 1}, {1, 1}, {1, 1}, {3, 7, 10}},
    {{1, 2, 11, 150}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 2, 6, 75}},
    {{2, 2, 9, 9}, {2, 2}, {3, 3}, {0, 0}, {2, 2}, {2, 2, 3, 3}},
    {{1, 1, 7, 7}, {3, 3}, {2, 2}, {0, 0}, {1, 1}, {1, 1, 3, 3}},
    {{1, 1, 6, 6}, {3, 3}, {2, 2}, {1, 1}, {2, 2}, {1, 1, 2, 2}},
    {{2, 3, 28, 28}, {2, 2}, {2, 2}, {0, 0}, {1, 1}, {2, 3, 14, 14}},
    {{3, 15, 46}, {2, 2}, {2, 2}, {0, 0}, {1, 1}, {3, 7, 23}},
    {{1, 10, 600}, {2, 2}, {2, 2}, {0, 0}, {1, 1}, {1, 5, 300}},
    {{1, 6, 500}, {2, 2}, {2, 2}, {0, 0}, {1, 1}, {1, 3, 250}},
    {{2, 3, 1, 630}, {1, 2}, {1, 2}, {0, 0}, {1, 1}, {2, 3, 1, 315}},
    {{0, 3, 4, 4}, {2, 2}, {2, 2}, {0, 0}, {1, 1}, {0, 3, 2, 2}},
};

Array with_nans(Array a) {
  for (int64_t i = 3; i < a.numel(); i += 17) a.set(i, NAN);
  return a;
}

}  // namespace

TEST_CASE("max pooling finds the first largest element and its place", "[pool]") {
  for (DType dtype : {DType::F32, DType::F64}) {
    for (const Case& c : kCases) {
      for (const Array& input : {Array::random(dtype, c.input), with_nans(Array::random(dtype, c.input))}) {
        const std::vector<Array> out = {Array(dtype, c.output), Array(DType::I64, c.output)};
        check_kernel("max_pool2d_with_indices",
                     Arguments() << input << c.kernel << c.stride << c.padding << c.dilation << false, out, 0);
      }
      std::vector<Array> pooled = {Array(dtype, c.output), Array(DType::I64, c.output)};
      const Array input = Array::random(dtype, c.input), grad = Array::random(dtype, c.output, 2);
      run(find_kernel("max_pool2d_with_indices"),
          Arguments() << input << c.kernel << c.stride << c.padding << c.dilation << false, pooled);
      check_kernel("max_pool2d_backward", Arguments() << grad << pooled[1] << c.input, {Array(dtype, c.input)}, 1e-6);
    }
  }
}

TEST_CASE("the stride of a pool defaults to its kernel", "[pool]") {
  const Array input = Array::random(DType::F32, {4, 6, 2}).permuted({2, 1, 0});
  const std::vector<Array> out = {Array(DType::F32, {2, 3, 2}), Array(DType::I64, {2, 3, 2})};
  check_kernel("max_pool2d_with_indices", Arguments() << input << Sizes{2} << nullptr << Sizes{0} << Sizes{1} << false,
               out, 0);
  check_kernel("max_pool2d_with_indices", Arguments() << input << Sizes{2} << Sizes{} << Sizes{0} << Sizes{1} << false,
               out, 0);
}

TEST_CASE("average pooling divides by the window", "[pool]") {
  for (const Case& c : kCases) {
    if (c.dilation[0] != 1) continue;
    for (bool count_padding : {true, false}) {
      const Array input = Array::random(DType::F32, c.input), grad = Array::random(DType::F32, c.output);
      check_kernel("avg_pool2d",
                   Arguments() << input << c.kernel << c.stride << c.padding << false << count_padding << nullptr,
                   {Array(DType::F32, c.output)}, 1e-6);
      check_kernel(
          "avg_pool2d_backward",
          Arguments() << grad << c.input << c.kernel << c.stride << c.padding << false << count_padding << nullptr,
          {Array(DType::F32, c.input)}, 1e-6);
    }
    const Array whole = Array::random(DType::I64, c.input, 1, -99, 99);
    check_kernel("avg_pool2d", Arguments() << whole << c.kernel << c.stride << c.padding << false << true << 5,
                 {Array(DType::I64, c.output)}, 0);
  }
  // ceil_mode: the last windows reach past the padding
  check_kernel("avg_pool2d",
               Arguments() << Array::random(DType::F64, {1, 1, 6, 6}) << Sizes{3, 3} << Sizes{2, 2} << Sizes{1, 1}
                           << true << true << nullptr,
               {Array(DType::F64, {1, 1, 4, 4})}, 1e-12);
}

TEST_CASE("adaptive average pooling cuts the input into equal pieces", "[pool]") {
  for (const Sizes& to : {Sizes{1, 1}, Sizes{3, 4}, Sizes{7, 2}, Sizes{5, 11}}) {
    const Sizes in = {2, 3, 7, 9}, out = {2, 3, to[0], to[1]};
    check_kernel("adaptive_avg_pool2d", Arguments() << Array::random(DType::F32, in) << to, {Array(DType::F32, out)},
                 1e-6);
    check_kernel("adaptive_avg_pool2d_backward", Arguments() << Array::random(DType::F32, out) << in,
                 {Array(DType::F32, in)}, 1e-6);
  }
}

TEST_CASE("adaptive max pooling finds the first largest element of each piece", "[pool]") {
  for (const Sizes& to : {Sizes{1, 1}, Sizes{3, 4}, Sizes{7, 2}, Sizes{5, 11}}) {
    const Sizes in = {2, 3, 7, 9}, out = {2, 3, to[0], to[1]};
    for (const Array& input : {Array::random(DType::F32, in), with_nans(Array::random(DType::F32, in)),
                               Array::random(DType::I32, in, 1, -9, 9)}) {
      check_kernel("adaptive_max_pool2d_with_indices", Arguments() << input << to,
                   {Array(input.dtype(), out), Array(DType::I64, out)}, 0);
    }
  }
}

TEST_CASE("whole numbers have largest ones", "[pool]") {
  for (const Case& c : kCases) {
    const Array input = Array::random(DType::I16, c.input, 1, -99, 99);
    check_kernel("max_pool2d_with_indices",
                 Arguments() << input << c.kernel << c.stride << c.padding << c.dilation << false,
                 {Array(DType::I16, c.output), Array(DType::I64, c.output)}, 0);
  }
}

TEST_CASE("pools of images that lie channels last", "[pool]") {
  const auto last = [](const Array& a) { return a.channels_last(); };
  const auto results = [](DType dtype, const Sizes& sizes) {
    return std::vector<Array>{Array::channels_last(dtype, sizes), Array::channels_last(DType::I64, sizes)};
  };
  for (DType dtype : {DType::F32, DType::F64}) {
    for (Case c : kCases) {
      if (c.input.size() != 4) continue;
      for (const int64_t channels : {3, 37}) {
        c.input[1] = c.output[1] = channels;
        for (const Array& input : {Array::random(dtype, c.input), with_nans(Array::random(dtype, c.input))}) {
          check_kernel("max_pool2d_with_indices",
                       Arguments() << last(input) << c.kernel << c.stride << c.padding << c.dilation << false,
                       results(dtype, c.output), 0);
          check_kernel("max_pool2d_with_indices",
                       Arguments() << input << c.kernel << c.stride << c.padding << c.dilation << false,
                       results(dtype, c.output), 0);
        }
        std::vector<Array> pooled = results(dtype, c.output);
        const Array input = Array::random(dtype, c.input), grad = last(Array::random(dtype, c.output, 2));
        run(find_kernel("max_pool2d_with_indices"),
            Arguments() << input << c.kernel << c.stride << c.padding << c.dilation << false, pooled);
        check_kernel("max_pool2d_backward", Arguments() << grad << pooled[1] << c.input,
                     {Array::channels_last(dtype, c.input)}, 1e-6);
        if (c.dilation[0] != 1) continue;
        check_kernel("avg_pool2d",
                     Arguments() << last(input) << c.kernel << c.stride << c.padding << false << false << nullptr,
                     {Array::channels_last(dtype, c.output)}, 1e-6);
        check_kernel("avg_pool2d_backward",
                     Arguments() << grad << c.input << c.kernel << c.stride << c.padding << false << true << nullptr,
                     {Array::channels_last(dtype, c.input)}, 1e-6);
      }
    }
    for (const Sizes& to : {Sizes{1, 1}, Sizes{3, 4}, Sizes{7, 2}, Sizes{5, 11}}) {
      const Sizes in = {2, 19, 27, 29}, out = {2, 19, to[0], to[1]};
      const Array input = last(Array::random(dtype, in)), grad = last(Array::random(dtype, out));
      check_kernel("adaptive_avg_pool2d", Arguments() << input << to, {Array::channels_last(dtype, out)}, 1e-6);
      check_kernel("adaptive_avg_pool2d_backward", Arguments() << grad << in, {Array::channels_last(dtype, in)}, 1e-6);
      check_kernel("adaptive_max_pool2d_with_indices", Arguments() << last(with_nans(input)) << to, results(dtype, out),
                   0);
    }
  }
}
