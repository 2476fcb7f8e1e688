#include "kernels/cpu/convolution.h"
#include "tests/unit/kernels/kernel_case.h"

using namespace terra;
using namespace terra::test;

namespace {

struct Case {
  Sizes input, weight;  // [n, ic, (d,) h, w], [oc, ic / groups, (kd,) kh, kw]
  Sizes stride = {1, 1}, padding = {0, 0}, dilation = {1, 1};
  int groups = 1;
};

int64_t out_size(const Case& c, int axis) {
  return (c.input[2 + axis] + 2 * c.padding[axis] - c.dilation[axis] * (c.weight[2 + axis] - 1) - 1) / c.stride[axis] +
         1;
}

void check_case(const Case& c, DType dtype, double tolerance) {
  INFO("input " << c.input[0] << " " << c.input[1] << " " << c.input[2] << " " << c.input[3] << " weight "
                << c.weight[0] << " " << c.weight[2]);
  Sizes out = {c.input[0], c.weight[0]};
  for (size_t axis = 0; axis < c.stride.size(); ++axis) out.push_back(out_size(c, static_cast<int>(axis)));
  const bool images = c.stride.size() == 2;
  const char* const forward = images ? "conv2d" : "conv3d";
  const char* const backward_input = images ? "conv2d_backward_input" : "conv3d_backward_input";
  const char* const backward_weight = images ? "conv2d_backward_weight" : "conv3d_backward_weight";
  const Array input = Array::random(dtype, c.input, 1), weight = Array::random(dtype, c.weight, 2);
  const Array bias = Array::random(dtype, {c.weight[0]}, 3), grad = Array::random(dtype, out, 4);
  const auto with = [&](Arguments& a) -> Arguments& { return a << c.stride << c.padding << c.dilation << c.groups; };
  check_kernel(forward, with(Arguments() << input << weight << bias), {Array(dtype, out)}, tolerance);
  check_kernel(forward, with(Arguments() << input << weight << nullptr), {Array(dtype, out)}, tolerance);
  check_kernel(backward_input, with(Arguments() << grad << weight << c.input), {Array(dtype, c.input)}, tolerance);
  check_kernel(backward_weight, with(Arguments() << grad << input << c.weight), {Array(dtype, c.weight)}, tolerance);
}

const std::vector<Case> kCases = {
    {{2, 3, 7, 9}, {5, 3, 3, 3}, {1, 1}, {1, 1}},
    {{3, 1, 12, 12}, {8, 1, 5, 5}, {1, 1}, {2, 2}},
    {{2, 16, 9, 8}, {32, 16, 3, 3}, {2, 1}, {1, 0}},
    {{1, 4, 10, 10}, {6, 4, 3, 2}, {1, 1}, {2, 1}, {2, 1}},
    {{2, 8, 6, 6}, {8, 4, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 2},
    {{2, 6, 6, 6}, {6, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 6},
    {{5, 20, 17, 17}, {30, 20, 1, 1}},
    {{1, 3, 11, 11}, {4, 3, 7, 7}, {2, 2}, {3, 3}},
    {{2, 3, 8, 8}, {4, 3, 3, 3}, {3, 3}},
    {{2, 3, 4, 7, 9}, {5, 3, 2, 3, 3}, {1, 1, 1}, {1, 1, 0}, {1, 1, 1}},
    {{1, 4, 6, 5, 10}, {6, 2, 3, 2, 2}, {2, 1, 2}, {1, 0, 1}, {1, 2, 3}, 2},
    {{2, 6, 3, 6, 6}, {6, 1, 3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 6},
    {{3, 16, 1, 9, 8}, {32, 16, 1, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}},
    {{2, 5, 3, 4, 5}, {7, 5, 1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}},
};

}  // namespace

TEST_CASE("convolutions and their gradients agree with sums over taps", "[conv]") {
  for (const Case& c : kCases) {
    check_case(c, DType::F32, 1e-4);
    check_case(c, DType::F64, 1e-12);
  }
}

TEST_CASE("convolutions cut into parts compute the same bits on any number of threads", "[conv]") {
  check_case({{13, 16, 14, 14}, {32, 16, 5, 5}, {1, 1}, {2, 2}}, DType::F32, 1e-3);
  check_case({{1, 64, 20, 20}, {64, 64, 3, 3}, {1, 1}, {1, 1}}, DType::F32, 1e-3);  // cut by channels
  check_case({{2, 128, 7, 7}, {128, 128, 3, 3}, {1, 1}, {1, 1}}, DType::F32, 1e-3);
  check_case({{7, 8, 5, 9, 9}, {16, 8, 3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}, DType::F32, 1e-3);
  check_case({{1, 64, 3, 6, 6}, {64, 64, 2, 3, 3}, {1, 1, 1}, {0, 1, 1}, {1, 1, 1}}, DType::F32, 1e-3);
}

TEST_CASE("convolutions take strided operands and empty batches", "[conv]") {
  const Array input = Array::random(DType::F32, {8, 7, 2, 3}).permuted({2, 3, 1, 0});
  const Array weight = Array::random(DType::F32, {4, 3, 6, 3}).halved(2);
  check_kernel("conv2d", Arguments() << input << weight << nullptr << Sizes{1} << Sizes{1} << Sizes{1} << 1,
               {Array(DType::F32, {2, 4, 7, 8})}, 1e-4);
  const Array none(DType::F32, {0, 3, 7, 8}), grad(DType::F32, {0, 4, 7, 8});
  const Array w = Array::random(DType::F32, {4, 3, 3, 3});
  check_kernel("conv2d", Arguments() << none << w << nullptr << Sizes{1} << Sizes{1} << Sizes{1} << 1, {grad}, 0);
  check_kernel("conv2d_backward_weight",
               Arguments() << grad << none << Sizes{4, 3, 3, 3} << Sizes{1} << Sizes{1} << Sizes{1} << 1,
               {Array::random(DType::F32, {4, 3, 3, 3})}, 0);
}

TEST_CASE("a chain of plans may keep activations blocked, with bias and relu inside", "[conv]") {
  const cpu::ConvShape first{
      .n = 5, .ic = 3, .ih = 9, .iw = 9, .oc = 20, .oh = 9, .ow = 9, .kh = 3, .kw = 3, .pad_h = 1, .pad_w = 1};
  const cpu::ConvShape second{.n = 5, .ic = 20, .ih = 9, .iw = 9, .oc = 7, .oh = 7, .ow = 7, .kh = 3, .kw = 3};
  Array x = Array::random(DType::F32, {5, 3, 9, 9}, 1), w1 = Array::random(DType::F32, {20, 3, 3, 3}, 2);
  Array b1 = Array::random(DType::F32, {20}, 3), w2 = Array::random(DType::F32, {7, 20, 3, 3}, 4);
  Array got(DType::F32, {5, 7, 7, 7});
  std::vector<Array> middle = {Array(DType::F32, {5, 20, 9, 9})}, expected = {got};
  run(find_reference_kernel("conv2d"), Arguments() << x << w1 << b1 << Sizes{1, 1} << Sizes{1, 1} << Sizes{1, 1} << 1,
      middle);
  for (int64_t i = 0; i < middle[0].numel(); ++i) middle[0].set(i, std::max(0.0, middle[0].get(i)));
  run(find_reference_kernel("conv2d"),
      Arguments() << middle[0] << w2 << nullptr << Sizes{1, 1} << Sizes{0, 0} << Sizes{1, 1} << 1, expected);

  using cpu::ConvLayout;
  const auto execute = [](const cpu::ConvPlan& plan, const cpu::ConvBuffers& buffers) {
    std::vector<char> memory(plan.workspace_bytes() + 64);
    const auto address = reinterpret_cast<uintptr_t>(memory.data());
    plan.execute(buffers, {memory.data() + ((64 - address % 64) & 63), memory.size() - 64});
  };
  std::vector<float> blocked(cpu::blocked_bytes(5, 20, 9, 9) / 4 + 16);
  float* aligned = blocked.data() + (16 - reinterpret_cast<uintptr_t>(blocked.data()) / 4 % 16) % 16;
  execute(*cpu::ConvPlan::get(first, cpu::ConvPass::Forward,
                              {.bias = true, .relu = true, .destination = ConvLayout::Blocked}),
          {x.data<float>(), w1.data<float>(), b1.data<float>(), aligned});
  execute(*cpu::ConvPlan::get(second, cpu::ConvPass::Forward, {.source = ConvLayout::Blocked}),
          {aligned, w2.data<float>(), nullptr, got.data<float>()});
  CHECK(difference(got, expected[0]) < 1e-4);
}

TEST_CASE("the gradient of a bias comes with that of the weights", "[conv]") {
  const cpu::ConvShape shape{.n = 40, .ic = 3, .ih = 28, .iw = 28, .oc = 16, .oh = 24, .ow = 24, .kh = 5, .kw = 5};
  Array x = Array::random(DType::F32, {40, 3, 28, 28}, 1), grad = Array::random(DType::F32, {40, 16, 24, 24}, 2);
  Array gw(DType::F32, {16, 3, 5, 5}), gb(DType::F32, {16});
  const auto plan = cpu::ConvPlan::get(shape, cpu::ConvPass::BackwardWeight, {.bias = true});
  std::vector<char> memory(plan->minimum_workspace_bytes() + 64);
  const auto address = reinterpret_cast<uintptr_t>(memory.data());
  plan->execute({x.data<float>(), gw.data<float>(), gb.data<float>(), grad.data<float>()},
                {memory.data() + ((64 - address % 64) & 63), memory.size() - 64});
  for (int64_t c = 0; c < 16; ++c) {
    double sum = 0;
    for (int64_t n = 0; n < 40; ++n) {
      for (int64_t i = 0; i < 576; ++i) sum += grad.get((n * 16 + c) * 576 + i);
    }
    CHECK(gb.get(c) == Approx(sum).margin(1e-3));
  }
}
