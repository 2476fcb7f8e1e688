#include "kernels/cpu/blas.h"
#include "tests/unit/kernels/kernel_case.h"

using namespace terra;
using namespace terra::test;

namespace {

void check_mm(DType dtype, int64_t m, int64_t n, int64_t k, double tolerance) {
  INFO("m " << m << " n " << n << " k " << k);
  const Array a = Array::random(dtype, {m, k}, 1), b = Array::random(dtype, {k, n}, 2);
  const Array at = Array::random(dtype, {k, m}, 3).permuted({1, 0}),
              bt = Array::random(dtype, {n, k}, 4).permuted({1, 0});
  for (const Array& left : {a, at}) {
    for (const Array& right : {b, bt}) {
      check_kernel("mm", Arguments() << left << right, {Array(dtype, {m, n})}, tolerance);
    }
  }
}

}  // namespace

TEST_CASE("mm agrees with sums of products", "[matmul]") {
  const std::vector<Sizes> shapes = {{1, 1, 1},    {1, 7, 5},       {5, 1, 7},     {3, 5, 1},
                                     {2, 3, 0},    {0, 4, 3},       {17, 33, 9},   {64, 10, 512},
                                     {33, 65, 70}, {130, 200, 150}, {200, 1, 300}, {1, 300, 200}};
  for (const Sizes& s : shapes) {
    check_mm(DType::F32, s[0], s[1], s[2], 2e-5);
    check_mm(DType::F64, s[0], s[1], s[2], 1e-12);
  }
}

/// Sums in f32 that are rounded once; those of more than a million multiplications are oneDNN's where it has
/// instructions for them.
TEST_CASE("products of bfloat16 agree with sums of products", "[matmul]") {
  const auto dtype = DType::BF16;
  const double rounding = 1.0 / 32;  // of results below 8
  for (const Sizes& s :
       std::vector<Sizes>{{3, 5, 7}, {17, 0, 4}, {5, 6, 0}, {130, 140, 70}, {1, 1200, 900}, {1200, 1, 900}})
    check_mm(dtype, s[0], s[1], s[2], s[2] > 500 ? 0.6 : rounding);
  const Array rows = Array::random(dtype, {4, 50, 90}, 1), weight = Array::random(dtype, {130, 90}, 2),
              bias = Array::random(dtype, {130}, 3), right = Array::random(dtype, {90, 130}, 4);
  check_kernel("linear", Arguments() << rows << weight << bias, {Array(dtype, {4, 50, 130})}, rounding);
  check_kernel("linear", Arguments() << rows << weight << nullptr, {Array(dtype, {4, 50, 130})}, rounding);
  check_kernel("linear", Arguments() << rows << right.permuted({1, 0}) << bias, {Array(dtype, {4, 50, 130})}, rounding);
  const Array left = Array::random(dtype, {200, 90}, 5);
  check_kernel("addmm", Arguments() << bias << left << right << Scalar(1) << Scalar(1), {Array(dtype, {200, 130})},
               rounding);
  check_kernel("addmm", Arguments() << bias << left << right << Scalar(0) << Scalar(0.25), {Array(dtype, {200, 130})},
               rounding);
  check_kernel("addmm", Arguments() << Array::random(dtype, {400, 130}).halved(0) << left << right << 0.5 << 0.5,
               {Array(dtype, {200, 130})}, rounding);
  const Array batch = Array::random(dtype, {6, 90, 50}, 6);
  check_kernel("bmm", Arguments() << Array::random(dtype, {6, 60, 90}, 7) << batch, {Array(dtype, {6, 60, 50})},
               rounding);
  check_kernel("bmm", Arguments() << batch.permuted({0, 2, 1}) << Array::random(dtype, {6, 90, 60}, 8),
               {Array(dtype, {6, 50, 60})}, rounding);
}

TEST_CASE("large products are cut the same way for any number of threads", "[matmul]") {
  check_kernel("mm", Arguments() << Array::random(DType::F32, {70, 300}) << Array::random(DType::F32, {300, 1000}),
               {Array(DType::F32, {70, 1000})}, 5e-5);
  check_kernel("mm", Arguments() << Array::random(DType::F64, {1000, 200}) << Array::random(DType::F64, {200, 90}),
               {Array(DType::F64, {1000, 90})}, 1e-12);
}

// One in forty went wrong while two threads could be given one packing buffer of OpenBLAS.
TEST_CASE("a product on several threads is the same each time", "[matmul]") {
  const Array a = Array::random(DType::F32, {64, 3136}, 1),
              b = Array::random(DType::F32, {512, 3136}, 2).permuted({1, 0});
  const int before = cpu::threads();
  cpu::set_threads(2);
  std::vector<Array> first = {Array(DType::F32, {64, 512})};
  run(find_kernel("mm"), Arguments() << a << b, first);
  int different = 0;
  for (int i = 0; i < 300; ++i) {
    std::vector<Array> again = {Array(DType::F32, {64, 512})};
    run(find_kernel("mm"), Arguments() << a << b, again);
    different += again[0].bytes() != first[0].bytes();
  }
  cpu::set_threads(before);
  CHECK(different == 0);
}

TEST_CASE("mm takes any strides", "[matmul]") {
  const Array a = Array::random(DType::F32, {12, 20}).halved(1), b = Array::random(DType::F32, {20, 8}).halved(0);
  check_kernel("mm", Arguments() << a << b, {Array(DType::F32, {12, 8})}, 1e-5);
  check_kernel("mm", Arguments() << a.halved(0) << b.halved(1), {Array(DType::F32, {6, 4})}, 1e-5);
}

TEST_CASE("mm of integers wraps", "[matmul]") {
  for (DType dtype : {DType::I64, DType::I32, DType::I16, DType::I8, DType::U8}) {
    const Array a = Array::random(dtype, {5, 43}, 1, 0, 100), b = Array::random(dtype, {43, 6}, 2, 0, 100);
    check_kernel("mm", Arguments() << a << b, {Array(dtype, {5, 6})}, 0);
    check_kernel("mm", Arguments() << b.permuted({1, 0}) << a.permuted({1, 0}), {Array(dtype, {6, 5})}, 0);
  }
}

TEST_CASE("bmm multiplies each pair of matrices", "[matmul]") {
  const Array a = Array::random(DType::F32, {4, 5, 7}), b = Array::random(DType::F32, {4, 7, 3});
  check_kernel("bmm", Arguments() << a << b, {Array(DType::F32, {4, 5, 3})}, 1e-5);
  const Array at = Array::random(DType::F32, {4, 7, 5}).permuted({0, 2, 1});
  check_kernel("bmm", Arguments() << at << b, {Array(DType::F32, {4, 5, 3})}, 1e-5);
  const Array twisted = Array::random(DType::F32, {5, 7, 4}).permuted({2, 0, 1});
  check_kernel("bmm", Arguments() << twisted << b, {Array(DType::F32, {4, 5, 3})}, 1e-5);
  check_kernel("bmm", Arguments() << Array(DType::F32, {0, 5, 7}) << Array(DType::F32, {0, 7, 3}),
               {Array(DType::F32, {0, 5, 3})}, 0);
  check_kernel("bmm",
               Arguments() << Array::random(DType::F64, {2, 300, 300}) << Array::random(DType::F64, {2, 300, 200}),
               {Array(DType::F64, {2, 300, 200})}, 1e-12);
}

TEST_CASE("addmm scales and adds what broadcasts", "[matmul]") {
  const Array a = Array::random(DType::F32, {6, 7}), b = Array::random(DType::F32, {7, 5});
  for (const Array& input : {Array::random(DType::F32, {5}), Array::random(DType::F32, {6, 1}),
                             Array::random(DType::F32, {6, 5}), Array::random(DType::F32, {})}) {
    check_kernel("addmm", Arguments() << input << a << b << 0.5 << 2.0, {Array(DType::F32, {6, 5})}, 1e-5);
  }
  Array nan = Array::random(DType::F32, {5});
  nan.set(2, NAN);
  check_kernel("addmm", Arguments() << nan << a << b << 0 << 1, {Array(DType::F32, {6, 5})}, 1e-5);
  check_kernel("addmm", Arguments() << nan << Array(DType::F32, {6, 0}) << Array(DType::F32, {0, 5}) << 1 << 1,
               {Array(DType::F32, {6, 5})}, 1e-5);
  check_kernel("addmm",
               Arguments() << Array::random(DType::I64, {5}, 1, -9, 9) << Array::random(DType::I64, {6, 7}, 2, -9, 9)
                           << Array::random(DType::I64, {7, 5}, 3, -9, 9) << 3 << -2,
               {Array(DType::I64, {6, 5})}, 0);
}

TEST_CASE("linear is the input times the transposed weight plus bias", "[matmul]") {
  for (DType dtype : {DType::F32, DType::F64}) {
    const Array weight = Array::random(dtype, {10, 12}, 5), bias = Array::random(dtype, {10}, 6);
    for (const Sizes& lead : {Sizes{}, Sizes{1}, Sizes{33}, Sizes{2, 3}, Sizes{0}, Sizes{200}}) {
      Sizes in = lead, out = lead;
      in.push_back(12);
      out.push_back(10);
      check_kernel("linear", Arguments() << Array::random(dtype, in) << weight << bias, {Array(dtype, out)}, 1e-5);
      check_kernel("linear", Arguments() << Array::random(dtype, in) << weight << nullptr, {Array(dtype, out)}, 1e-5);
    }
    check_kernel("linear", Arguments() << Array::random(dtype, {3, 12}) << weight << Array::random(dtype, {}, 7),
                 {Array(dtype, {3, 10})}, 1e-5);
    check_kernel("linear",
                 Arguments() << Array::random(dtype, {12, 8}).permuted({1, 0}) << weight.halved(0) << bias.halved(0),
                 {Array(dtype, {8, 5})}, 1e-5);
  }
}

TEST_CASE("the core of OpenBLAS has a name", "[matmul]") { CHECK(std::string(cpu::blas::core_name()) != ""); }
