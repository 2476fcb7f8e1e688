#include "tests/unit/kernels/kernel_case.h"

using namespace terra;
using namespace terra::test;

namespace {

constexpr DType kAllDTypes[] = {DType::Bool, DType::U8,  DType::I8,  DType::I16,  DType::I32, DType::I64, DType::U16,
                                DType::U32,  DType::U64, DType::F16, DType::BF16, DType::F32, DType::F64};

/// 0, 1, 2, ... in row-major order (modulo 97, so that every dtype holds them; bools alternate).
Array counting(DType dtype, Sizes sizes) {
  Array a(dtype, std::move(sizes));
  for (int64_t i = 0; i < a.numel(); ++i)
    a.set(i, dtype == DType::Bool ? static_cast<double>(i % 2) : static_cast<double>(i % 97));
  return a;
}

}  // namespace

TEST_CASE("clone copies any strides", "[movement]") {
  for (const DType dtype : kAllDTypes) {
    check_kernel("clone", Arguments() << counting(dtype, {}), {Array(dtype, {})}, 0);
    check_kernel("clone", Arguments() << counting(dtype, {0, 3}), {Array(dtype, {0, 3})}, 0);
    check_kernel("clone", Arguments() << counting(dtype, {3, 4, 5}).permuted({2, 0, 1}), {Array(dtype, {5, 3, 4})}, 0);
    check_kernel("clone", Arguments() << counting(dtype, {40, 70}).permuted({1, 0}), {Array(dtype, {70, 40})}, 0);
    check_kernel("clone", Arguments() << counting(dtype, {150, 35}).permuted({1, 0}), {Array(dtype, {35, 150})}, 0);
    check_kernel("clone", Arguments() << counting(dtype, {83, 256}).permuted({1, 0}), {Array(dtype, {256, 83})}, 0);
    check_kernel("clone", Arguments() << counting(dtype, {9, 8}).halved(1), {Array(dtype, {9, 4})}, 0);
    check_kernel("clone", Arguments() << counting(dtype, {2, 3, 50}).permuted({0, 2, 1}), {Array(dtype, {2, 50, 3})},
                 0);
    check_kernel("clone", Arguments() << counting(dtype, {4, 9, 5, 2, 3}).permuted({1, 3, 2, 4, 0}),
                 {Array(dtype, {9, 2, 5, 3, 4})}, 0);
    check_kernel("clone", Arguments() << counting(dtype, {30, 20, 1}).expanded(2, 2), {Array(dtype, {30, 20, 2})}, 0);
    check_kernel("clone", Arguments() << counting(dtype, {6, 33, 41}).permuted({0, 2, 1}), {Array(dtype, {6, 41, 33})},
                 0);
  }
  check_kernel("clone", Arguments() << counting(DType::F32, {700, 900}).permuted({1, 0}),
               {Array(DType::F32, {900, 700})}, 0);
  check_kernel("clone", Arguments() << counting(DType::F32, {500, 1000}), {Array(DType::F32, {500, 1000})}, 0);
  check_kernel("clone_strided", Arguments() << counting(DType::F32, {4, 3}).permuted({1, 0}) << Sizes{4, 1},
               {Array(DType::F32, {3, 4})}, 0);
}

TEST_CASE("copy converts and broadcasts", "[movement]") {
  for (const DType from : kAllDTypes) {
    for (const DType to : kAllDTypes) {
      check_kernel("copy", Arguments() << Array(to, {4, 5}) << counting(from, {5}), {Array(to, {4, 5})}, 0);
      check_kernel("copy", Arguments() << Array(to, {4, 6}).halved(1) << counting(from, {3, 4}).permuted({1, 0}),
                   {Array(to, {4, 6}).halved(1)}, 0);
    }
  }
}

TEST_CASE("fill and full write one number", "[movement]") {
  for (const DType dtype : kAllDTypes) {
    check_kernel("fill", Arguments() << Array(dtype, {3, 4}) << Scalar(1), {Array(dtype, {3, 4}).halved(1)}, 0);
    check_kernel("full", Arguments() << Sizes{1000, 300} << Scalar(1.0), {Array(dtype, {1000, 300})}, 0);
    check_kernel("full", Arguments() << Sizes{} << Scalar(true), {Array(dtype, {})}, 0);
  }
}

TEST_CASE("cat joins along a dimension", "[movement]") {
  for (const DType dtype : kAllDTypes) {
    const std::vector<Array> parts = {counting(dtype, {3, 2}), counting(dtype, {0}),
                                      counting(dtype, {4, 3}).permuted({1, 0})};
    check_kernel("cat", Arguments() << parts << 1, {Array(dtype, {3, 6})}, 0);
    check_kernel("cat", Arguments() << parts << -1, {Array(dtype, {3, 6})}, 0);
  }
}

TEST_CASE("pads, slices' adjoints and flips", "[movement]") {
  const Array x = counting(DType::F32, {4, 5, 6});
  check_kernel("constant_pad", Arguments() << x << Sizes{1, 2} << 7.0, {Array(DType::F32, {4, 5, 9})}, 0);
  check_kernel("constant_pad", Arguments() << x << Sizes{-1, 2, 3, -2} << 7.0, {Array(DType::F32, {4, 6, 7})}, 0);
  for (const char* mode : {"reflect", "replicate", "circular"}) {
    check_kernel("pad_from_within", Arguments() << x << Sizes{1, 2} << mode, {Array(DType::F32, {4, 5, 9})}, 0);
    check_kernel("pad_from_within", Arguments() << x.permuted({2, 0, 1}) << Sizes{4, 3, -1, 2} << mode,
                 {Array(DType::F32, {6, 5, 12})}, 0);
    check_kernel("pad_from_within", Arguments() << counting(DType::U8, {3, 200}) << Sizes{100, 9, 2, 1} << mode,
                 {Array(DType::U8, {6, 309})}, 0);
  }
  check_kernel("pad_slice", Arguments() << x << Sizes{4, 20, 6} << 1 << 2 << 3, {Array(DType::F32, {4, 20, 6})}, 0);
  check_kernel("pad_slice", Arguments() << x << Sizes{9, 5, 6} << 0 << -5 << 1, {Array(DType::F32, {9, 5, 6})}, 0);
  check_kernel("flip", Arguments() << x << Sizes{0, -1}, {Array(DType::F32, {4, 5, 6})}, 0);
  check_kernel("flip", Arguments() << counting(DType::F32, {0}) << Sizes{0}, {Array(DType::F32, {0})}, 0);
  for (const DType dtype : kAllDTypes) {
    check_kernel("flip", Arguments() << counting(dtype, {7, 45}) << Sizes{1}, {Array(dtype, {7, 45})}, 0);
    check_kernel("flip", Arguments() << counting(dtype, {45, 30}).permuted({1, 0}) << Sizes{0},
                 {Array(dtype, {30, 45})}, 0);
  }
}

TEST_CASE("triangles", "[movement]") {
  for (const char* op : {"tril", "triu"}) {
    for (const int diagonal : {-9, -1, 0, 2, 9}) {
      check_kernel(op, Arguments() << counting(DType::F32, {2, 5, 4}) << diagonal, {Array(DType::F32, {2, 5, 4})}, 0);
      check_kernel(op, Arguments() << counting(DType::I64, {6, 3}).permuted({1, 0}) << diagonal,
                   {Array(DType::I64, {3, 6})}, 0);
    }
  }
}

TEST_CASE("ranges and identities", "[movement]") {
  for (const DType dtype : {DType::F32, DType::F64, DType::I64, DType::I32, DType::U8}) {
    check_kernel("arange", Arguments() << 1 << 8 << 2, {Array(dtype, {4})}, 0);
    check_kernel("eye", Arguments() << 3 << 5, {Array(dtype, {3, 5})}, 0);
  }
  check_kernel("arange", Arguments() << 0.5 << 1000.0 << 0.001, {Array(DType::F32, {999500})}, 0);
  check_kernel("linspace", Arguments() << -1.0 << 2.0 << 11, {Array(DType::F32, {11})}, 1e-6);
  check_kernel("linspace", Arguments() << -1.0 << 2.0 << 1, {Array(DType::F64, {1})}, 0);
}
