#include "tests/unit/kernels/complex_case.h"

#include "kernels/abi/kernel_index.h"
#include "kernels/cpu/elementwise.h"
#include "kernels/reference/elementwise.h"

using namespace terra;
using namespace terra::test;

namespace {

constexpr DType kComplexDTypes[] = {DType::C64, DType::C128};

double tolerance_of(DType dtype) { return real_dtype_of(dtype) == DType::F32 ? 2e-5 : 1e-13; }

DType result_of(const ComplexCase& c, DType dtype) {
  return c.result == ComplexResult::Bool ? DType::Bool : c.result == ComplexResult::Real ? real_dtype_of(dtype) : dtype;
}

std::vector<Array> operands_of(const ComplexCase& c, DType dtype, const Sizes& sizes) {
  std::vector<Array> operands;
  for (int p = 0; p < c.operands; ++p)
    operands.push_back(
        Array::random(c.of_parts ? real_dtype_of(dtype) : dtype, sizes, static_cast<unsigned>(p) + 3, -2, 2));
  return operands;
}

void check(const ComplexCase& c, DType dtype, const std::vector<Array>& operands, const Array& out) {
  Arguments arguments;
  for (int p = 0; p < c.operands; ++p) arguments << nullptr;
  c.attributes(arguments);
  std::vector<View> views;
  for (const Array& a : operands) views.push_back(a.view());
  const Array got = out, expected = out;
  cpu::run_elementwise(*find_kernel(c.op), got.view(), views, arguments.args().data());
  reference::run_elementwise(*find_reference_kernel(c.op), expected.view(), views, arguments.args().data());
  CHECK(difference(got, expected) <= tolerance_of(dtype));
}

}  // namespace

TEST_CASE("every complex loop is tested", "[complex]") {
  for (const auto& [op, kernel] : cpu_kernels().all()) {
    if (!kernel.loops[static_cast<int>(DType::C64)] || op == "to_dtype" || op == "where" || op == "masked_fill")
      continue;
    INFO(op);
    bool found = false;
    for (const ComplexCase& c : complex_cases()) found |= op == c.op;
    CHECK(found);
  }
}

TEST_CASE("complex kernels agree with their references", "[complex]") {
  for (const ComplexCase& c : complex_cases()) {
    for (const DType dtype : kComplexDTypes) {
      INFO(c.op << " " << name_of(dtype));
      for (const Sizes& sizes : std::vector<Sizes>{{}, {0}, {1}, {7}, {300}, {5, 67}})
        check(c, dtype, operands_of(c, dtype, sizes), Array(result_of(c, dtype), sizes));
      std::vector<Array> operands = operands_of(c, dtype, {24, 20});
      operands[0] = operands[0].permuted({1, 0});
      for (size_t p = 1; p < operands.size(); ++p) operands[p] = operands_of(c, dtype, {40, 24})[p].halved(0);
      check(c, dtype, operands, Array(result_of(c, dtype), {20, 24}));
      check(c, dtype, operands, Array(result_of(c, dtype), {20, 48}).halved(1));
    }
  }
}

TEST_CASE("where moves complex numbers whole", "[complex]") {
  for (const DType dtype : kComplexDTypes) {
    Array mask(DType::Bool, {99});
    for (int64_t i = 0; i < 99; ++i) mask.set(i, i % 3 == 0 ? 1.0 : 0.0);
    const Array a = Array::random(dtype, {99}, 1), b = Array::random(dtype, {99}, 2), out(dtype, {99});
    const View views[] = {mask.view(), a.view(), b.view()};
    cpu::run_elementwise(*find_kernel("where"), out.view(), views, nullptr);
    for (int64_t i = 0; i < 99; ++i) CHECK(out.get_complex(i) == (i % 3 == 0 ? a : b).get_complex(i));
  }
}

TEST_CASE("complex sums, products and running totals", "[complex]") {
  for (const DType dtype : kComplexDTypes) {
    const Array a = Array::random(dtype, {37, 300}, 5);
    for (const char* op : {"sum", "prod"}) {
      check_kernel(op, Arguments() << a << Sizes{0} << false, {Array(dtype, {300})}, tolerance_of(dtype));
      check_kernel(op, Arguments() << a << Sizes{1} << false, {Array(dtype, {37})}, tolerance_of(dtype));
      check_kernel(op, Arguments() << a.permuted({1, 0}) << nullptr << false, {Array(dtype, {})}, tolerance_of(dtype));
    }
    const Array many = Array::random(dtype, {2, 200000}, 6);
    check_kernel("sum", Arguments() << many << Sizes{1} << false, {Array(dtype, {2})}, 100 * tolerance_of(dtype));
    check_kernel("sum", Arguments() << many.permuted({1, 0}) << Sizes{0} << false, {Array(dtype, {2})},
                 100 * tolerance_of(dtype));
    for (const char* op : {"any", "all"})
      check_kernel(op, Arguments() << a << Sizes{1} << false, {Array(DType::Bool, {37})}, 0);
    for (const char* op : {"cumsum", "cumprod"})
      check_kernel(op, Arguments() << a << 1, {Array(dtype, {37, 300})}, 10 * tolerance_of(dtype));
  }
}

TEST_CASE("complex products of matrices", "[complex]") {
  for (const DType dtype : kComplexDTypes) {
    for (const Sizes& s : std::vector<Sizes>{{1, 1, 1}, {3, 5, 7}, {2, 3, 0}, {65, 33, 70}}) {
      const Array a = Array::random(dtype, {s[0], s[2]}, 1), b = Array::random(dtype, {s[2], s[1]}, 2);
      const Array bt = Array::random(dtype, {s[1], s[2]}, 3).permuted({1, 0});
      check_kernel("mm", Arguments() << a << b, {Array(dtype, {s[0], s[1]})}, tolerance_of(dtype));
      check_kernel("mm", Arguments() << a << bt, {Array(dtype, {s[0], s[1]})}, tolerance_of(dtype));
    }
  }
}
