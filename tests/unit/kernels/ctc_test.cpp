#include "kernels/abi/kernel_error.h"
#include "tests/unit/kernels/kernel_case.h"

using namespace terra;
using namespace terra::test;

namespace {

Array numbers(Sizes sizes, std::initializer_list<int64_t> values) {
  Array a(DType::I64, std::move(sizes));
  int64_t i = 0;
  for (int64_t value : values) a.set(i++, static_cast<double>(value));
  return a;
}

/// Log-probabilities [frames, samples, classes].
Array log_probs(DType dtype, const Sizes& sizes) {
  Array a = Array::random(dtype, sizes, 5, -2, 2);
  for (int64_t row = 0; row < sizes[0] * sizes[1]; ++row) {
    double sum = 0;
    for (int64_t c = 0; c < sizes[2]; ++c) sum += std::exp(a.get(row * sizes[2] + c));
    for (int64_t c = 0; c < sizes[2]; ++c) a.set(row * sizes[2] + c, a.get(row * sizes[2] + c) - std::log(sum));
  }
  return a;
}

struct Case {
  Array targets, frames, lengths;
  int blank;
};

}  // namespace

TEST_CASE("CTC losses and gradients agree with sums over all labellings", "[ctc]") {
  const Case cases[] = {
      {numbers({3, 3}, {1, 2, 2, 3, 3, 1, 2, 1, 3}), numbers({3}, {7, 6, 5}), numbers({3}, {3, 2, 1}), 0},
      {numbers({6}, {1, 2, 2, 3, 3, 0}), numbers({3}, {7, 6, 5}), numbers({3}, {3, 2, 1}), 4},
      {numbers({3, 2}, {1, 2, 1, 2, 1, 2}), numbers({3}, {7, 0, 4}), numbers({3}, {0, 0, 2}), 0},
  };
  for (const Case& c : cases) {
    for (DType dtype : {DType::F32, DType::F64}) {
      const double tolerance = dtype == DType::F32 ? 1e-5 : 1e-12;
      const Array probs = log_probs(dtype, {7, 3, 5}), grad = Array::random(dtype, {3});
      check_kernel("ctc_loss_each", Arguments() << probs << c.targets << c.frames << c.lengths << c.blank << true,
                   {Array(dtype, {3})}, tolerance);
      check_kernel("ctc_loss_backward",
                   Arguments() << grad << probs << c.targets << c.frames << c.lengths << c.blank << true,
                   {Array(dtype, {7, 3, 5})}, tolerance);
    }
  }
}

TEST_CASE("CTC refuses lengths and labels that don't fit", "[ctc]") {
  const Array probs = log_probs(DType::F32, {4, 2, 3});
  const Array padded = numbers({2, 2}, {1, 2, 1, 2}), fitting = numbers({2}, {2, 2}), frames = numbers({2}, {4, 4});
  std::vector<Array> loss = {Array(DType::F32, {2})};
  const auto call = [&](const Array& targets, const Array& inputs, const Array& lengths) {
    run(find_kernel("ctc_loss_each"), Arguments() << probs << targets << inputs << lengths << 0 << false, loss);
  };
  CHECK_NOTHROW(call(padded, frames, fitting));
  CHECK_THROWS_AS(call(padded, numbers({2}, {5, 4}), fitting), KernelError);
  CHECK_THROWS_AS(call(padded, frames, numbers({2}, {3, 1})), KernelError);
  CHECK_THROWS_AS(call(padded, frames, numbers({2}, {-1, 1})), KernelError);
  CHECK_THROWS_AS(call(numbers({3}, {1, 2, 1}), frames, fitting), KernelError);
  CHECK_THROWS_AS(call(numbers({2, 2}, {1, 3, 1, 2}), frames, fitting), KernelError);
  CHECK_THROWS_AS(call(numbers({2}, {1, 2}), frames, numbers({2}, {INT64_MAX, INT64_MAX})), KernelError);
}
