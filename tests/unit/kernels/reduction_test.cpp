#include "tests/unit/kernels/kernel_case.h"

using namespace terra;
using namespace terra::test;

namespace {

Array small_numbers(DType dtype, Sizes sizes, unsigned seed = 5) {
  Array a(dtype, std::move(sizes));
  std::mt19937 engine(seed);
  for (int64_t i = 0; i < a.numel(); ++i) {
    const auto k = static_cast<double>(engine() % 7);
    a.set(i, dtype == DType::Bool ? k > 2 : is_floating(dtype) ? (k - 3) * 0.7 : dtype == DType::U8 ? k : k - 3);
  }
  return a;
}

DType sum_dtype(DType dtype) { return is_floating(dtype) ? dtype : DType::I64; }

constexpr DType kNumbers[] = {DType::Bool, DType::U8,  DType::I8,  DType::I16,
                              DType::I32,  DType::I64, DType::F32, DType::F64};

/// A fold over shapes and layouts: over rows, over columns, over both, over dimensions with others between.
void check_fold(const char* op, DType in, DType out, double tolerance) {
  const auto one = [&](const Array& x, const Sizes& dims, Sizes result) {
    check_kernel(op, Arguments() << x << dims << false, {Array(out, std::move(result))}, tolerance);
  };
  one(small_numbers(in, {}), {}, {});
  one(small_numbers(in, {300}), {0}, {});
  one(small_numbers(in, {5, 70}), {1}, {5});
  one(small_numbers(in, {70, 5}), {0}, {5});
  one(small_numbers(in, {3, 4, 5, 6}), {0, 2}, {4, 6});
  one(small_numbers(in, {3, 4, 5, 6}), {1, 3}, {3, 5});
  one(small_numbers(in, {3, 4, 5, 6}), {-1}, {3, 4, 5});
  one(small_numbers(in, {3, 4, 5, 6}), {}, {});
  one(small_numbers(in, {20, 30}).permuted({1, 0}), {0}, {20});
  one(small_numbers(in, {20, 30}).permuted({1, 0}), {1}, {30});
  one(small_numbers(in, {20, 30}).halved(1), {0}, {15});
  one(small_numbers(in, {20, 30}).halved(1), {1}, {20});
  one(small_numbers(in, {0, 4}), {1}, {0});
}

}  // namespace

TEST_CASE("folds agree with their references", "[reduction]") {
  for (const DType dtype : kNumbers) {
    INFO(name_of(dtype));
    check_fold("sum", dtype, sum_dtype(dtype), 1e-5);
    check_fold("prod", dtype, sum_dtype(dtype), 1e-5);
    check_fold("amax", dtype, dtype, 0);
    check_fold("amin", dtype, dtype, 0);
    check_fold("any", dtype, DType::Bool, 0);
    check_fold("all", dtype, DType::Bool, 0);
  }
}

TEST_CASE("floats of 16 bits are folded as f32 and rounded once", "[reduction]") {
  for (const DType dtype : {DType::F16, DType::BF16}) {
    INFO(name_of(dtype));
    const double rounding = dtype == DType::F16 ? 0x1p-10 : 0x1p-7;
    for (const char* op : {"sum", "sum_of_squares", "sum_of_numbers"}) check_fold(op, dtype, dtype, rounding);
    for (const char* op : {"amax", "amin"}) check_fold(op, dtype, dtype, 0);
    const auto check_like_f32 = [&](const Array& x, const Sizes& dims, const Sizes& result) {
      Array wide(DType::F32, x.sizes());
      for (int64_t i = 0; i < x.numel(); ++i) wide.set(i, x.get(i));
      std::vector<Array> narrow_sum = {Array(dtype, result)}, wide_sum = {Array(DType::F32, result)};
      run(find_kernel("sum"), Arguments() << x << dims << false, narrow_sum);
      run(find_kernel("sum"), Arguments() << wide << dims << false, wide_sum);
      Array rounded(dtype, result);
      for (int64_t i = 0; i < rounded.numel(); ++i) rounded.set(i, wide_sum[0].get(i));
      for (int64_t i = 0; i < rounded.numel(); ++i) CHECK(narrow_sum[0].get(i) == rounded.get(i));
    };
    check_like_f32(Array::random(dtype, {5, 9000}), {1}, {5});
    check_like_f32(Array::random(dtype, {3000, 7}), {0}, {7});
    check_like_f32(Array::random(dtype, {30, 40, 50}), {0, 2}, {40});
  }
}

TEST_CASE("sums of squares, and of what isn't NaN", "[reduction]") {
  for (const DType dtype : {DType::F32, DType::F64}) {
    check_fold("sum_of_squares", dtype, dtype, 1e-5);
    check_fold("sum_of_numbers", dtype, dtype, 1e-5);
    Array x = Array::random(dtype, {30, 5000}, 3);
    for (int64_t i = 0; i < x.numel(); i += 7) x.set(i, NAN);
    check_kernel("sum_of_numbers", Arguments() << x << 1 << false, {Array(dtype, {30})}, 1e-3);
    check_kernel("sum_of_numbers", Arguments() << x << 0 << false, {Array(dtype, {5000})}, 1e-5);
  }
}

TEST_CASE("the fold of nothing", "[reduction]") {
  for (const char* op : {"sum", "prod"}) {
    check_kernel(op, Arguments() << Array(DType::F32, {3, 0}) << Sizes{1}, {Array(DType::F32, {3})}, 0);
    check_kernel(op, Arguments() << Array(DType::I64, {0, 3}) << Sizes{0}, {Array(DType::I64, {3})}, 0);
  }
  check_kernel("any", Arguments() << Array(DType::F32, {0}) << nullptr, {Array(DType::Bool, {})}, 0);
  check_kernel("all", Arguments() << Array(DType::F32, {0}) << nullptr, {Array(DType::Bool, {})}, 0);
}

TEST_CASE("long sums stay accurate and don't depend on threads", "[reduction]") {
  const auto check_sum = [](const Array& x, const Sizes& dims, Sizes result) {
    check_kernel("sum", Arguments() << x << dims << false, {Array(DType::F32, std::move(result))}, 3e-7);
  };
  check_sum(Array::random(DType::F32, {1 << 20}, 3, 0, 1), {}, {});
  check_sum(Array::random(DType::F32, {100000, 10}, 4, 0, 1), {0}, {10});
  check_sum(Array::random(DType::F32, {64, 20000}, 5, 0, 1), {1}, {64});
  check_sum(Array::random(DType::F32, {3, 5000, 70}, 6, 0, 1), {1}, {3, 70});
  check_sum(Array::random(DType::F32, {16, 32, 900}, 7, 0, 1), {0, 2}, {32});
  check_sum(Array::random(DType::F32, {1000, 600}, 8, 0, 1).permuted({1, 0}), {0, 1}, {});
  check_sum(Array::random(DType::F32, {400, 900}, 9, 0, 1).halved(1), {0, 1}, {});
}

TEST_CASE("a sum in another dtype converts first", "[reduction]") {
  check_kernel("sum", Arguments() << small_numbers(DType::F32, {30, 4}) << Sizes{0}, {Array(DType::F64, {4})}, 1e-6);
  check_kernel("sum", Arguments() << small_numbers(DType::I32, {30, 4}) << Sizes{0}, {Array(DType::F32, {4})}, 1e-6);
}

TEST_CASE("NaN wins every maximum and minimum", "[reduction]") {
  for (const int64_t n : {3, 40, 300, 5000}) {
    Array x = Array::random(DType::F32, {n, 3});
    x.set(n * 3 / 2, NAN);
    for (const char* op : {"amax", "amin"}) {
      check_kernel(op, Arguments() << x << Sizes{0}, {Array(DType::F32, {3})}, 0);
      check_kernel(op, Arguments() << x << Sizes{0, 1}, {Array(DType::F32, {})}, 0);
    }
    for (const char* op : {"argmax", "argmin"})
      check_kernel(op, Arguments() << x << nullptr, {Array(DType::I64, {})}, 0);
  }
}

TEST_CASE("the first of equal elements is found", "[reduction]") {
  for (const DType dtype : kNumbers) {
    const Array x = small_numbers(dtype, {6, 300});
    for (const char* op : {"argmax", "argmin"}) {
      check_kernel(op, Arguments() << x << 1, {Array(DType::I64, {6})}, 0);
      check_kernel(op, Arguments() << x << 0, {Array(DType::I64, {300})}, 0);
      check_kernel(op, Arguments() << x.permuted({1, 0}) << nullptr, {Array(DType::I64, {})}, 0);
    }
    for (const char* op : {"max_with_index", "min_with_index"}) {
      check_kernel(op, Arguments() << x << -1 << false, {Array(dtype, {6}), Array(DType::I64, {6})}, 0);
      check_kernel(op, Arguments() << x.permuted({1, 0}) << 1 << true,
                   {Array(dtype, {300, 1}), Array(DType::I64, {300, 1})}, 0);
    }
  }
  check_kernel("max_with_index", Arguments() << small_numbers(DType::F32, {}) << -1,
               {Array(DType::F32, {}), Array(DType::I64, {})}, 0);
}

TEST_CASE("running totals", "[reduction]") {
  for (const DType dtype : kNumbers) {
    for (const char* op : {"cumsum", "cumprod"}) {
      for (const int dim : {0, 1, -1}) {
        check_kernel(op, Arguments() << small_numbers(dtype, {5, 4, 7}) << dim, {Array(sum_dtype(dtype), {5, 4, 7})},
                     1e-5);
      }
      check_kernel(op, Arguments() << small_numbers(dtype, {}) << 0, {Array(sum_dtype(dtype), {})}, 0);
    }
  }
}

TEST_CASE("barebones integers are summed as int64 and sorted without a sign", "[reduction]") {
  for (const DType dtype : {DType::U16, DType::U32, DType::U64}) {
    INFO(name_of(dtype));
    const Array x = small_numbers(dtype, {4, 50});  // those below 0 are the greatest
    for (const bool descending : {false, true})
      check_kernel("sort", Arguments() << x << -1 << descending, {Array(dtype, {4, 50}), Array(DType::I64, {4, 50})},
                   0);
    check_fold("sum", dtype, DType::I64, 0);
    check_fold("prod", dtype, DType::I64, 0);
    check_fold("any", dtype, DType::Bool, 0);
    check_fold("all", dtype, DType::Bool, 0);
    for (const char* op : {"cumsum", "cumprod"})
      check_kernel(op, Arguments() << x << 1, {Array(DType::I64, {4, 50})}, 0);
  }
}

TEST_CASE("sort is stable, topk settles ties, and both put NaN above everything", "[reduction]") {
  for (const DType dtype : kNumbers) {
    Array x = small_numbers(dtype, {4, 50});
    if (is_floating(dtype)) x.set(7, NAN), x.set(60, NAN), x.set(61, NAN);
    for (const bool descending : {false, true}) {
      check_kernel("sort", Arguments() << x << -1 << descending, {Array(dtype, {4, 50}), Array(DType::I64, {4, 50})},
                   0);
      check_kernel("sort", Arguments() << x << 0 << descending, {Array(dtype, {4, 50}), Array(DType::I64, {4, 50})}, 0);
      for (const int k : {0, 1, 3, 30}) {
        for (const bool sorted : {false, true})
          check_kernel("topk", Arguments() << x << k << 1 << descending << sorted,
                       {Array(dtype, {4, k}), Array(DType::I64, {4, k})}, 0);
      }
    }
  }
}

TEST_CASE("long lines are sorted as short ones", "[reduction]") {
  for (const DType dtype : {DType::F32, DType::F64, DType::I64, DType::I32, DType::U8}) {
    INFO(name_of(dtype));
    const bool real = is_floating(dtype);
    for (const double spread : {9.0, real ? 1e9 : 120.0}) {  // with ties, and without digits in common
      Array x = Array::random(dtype, {2, 1500}, 1, dtype == DType::U8 ? 0 : -spread, spread);
      if (real) x.set(7, NAN), x.set(1600, NAN), x.set(1601, NAN), x.set(900, 0.0), x.set(901, -0.0);
      for (const bool descending : {false, true}) {
        check_kernel("sort", Arguments() << x << 1 << descending,
                     {Array(dtype, {2, 1500}), Array(DType::I64, {2, 1500})}, 0);
        for (const int k : {1, 5, 200})
          check_kernel("topk", Arguments() << x << k << 1 << descending << true,
                       {Array(dtype, {2, k}), Array(DType::I64, {2, k})}, 0);
      }
    }
  }
}

TEST_CASE("at_place is what sorting would bring there, place -1 the first NaN or else the median", "[reduction]") {
  for (const DType dtype : kNumbers) {
    INFO(name_of(dtype));
    Array x = small_numbers(dtype, {4, 50});
    if (is_floating(dtype)) x.set(7, NAN), x.set(60, NAN), x.set(61, NAN);
    for (const int place : {-1, 0, 1, 24, 49})
      check_kernel("at_place", Arguments() << x << place << 1, {Array(dtype, {4, 1}), Array(DType::I64, {4, 1})}, 0);
    for (const int place : {-1, 0, 3})
      check_kernel("at_place", Arguments() << x << place << 0, {Array(dtype, {1, 50}), Array(DType::I64, {1, 50})}, 0);
    check_kernel("at_place", Arguments() << x.halved(1) << -1 << -1, {Array(dtype, {4, 1}), Array(DType::I64, {4, 1})},
                 0);
  }
}
