#include "tests/unit/kernels/kernel_case.h"

using namespace terra;
using namespace terra::test;

namespace {
double tolerance(DType dtype) { return dtype == DType::F32 ? 2e-5 : 1e-11; }
}  // namespace

TEST_CASE("softmax and its relatives along any dimension", "[softmax]") {
  for (DType dtype : {DType::F32, DType::F64}) {
    for (const Sizes& sizes : {Sizes{}, Sizes{1}, Sizes{5}, Sizes{3, 10}, Sizes{2, 33, 5}, Sizes{4, 0}, Sizes{0, 4},
                               Sizes{70, 1000}, Sizes{2, 5000}}) {
      const int rank = static_cast<int>(sizes.size());
      for (int dim = -1; dim < std::max(rank - 1, 0); ++dim) {
        INFO("rank " << rank << " dim " << dim);
        const Array x = Array::random(dtype, sizes, 1, -20, 20), g = Array::random(dtype, sizes, 2);
        for (const char* op : {"softmax", "log_softmax"}) {
          check_kernel(op, Arguments() << x << dim, {Array(dtype, sizes)}, tolerance(dtype));
          std::vector<Array> y = {Array(dtype, sizes)};
          run(find_kernel(op), Arguments() << x << dim, y);
          check_kernel((std::string(op) + "_backward").c_str(), Arguments() << g << y[0] << dim, {Array(dtype, sizes)},
                       tolerance(dtype));
        }
      }
    }
  }
}

TEST_CASE("softmax of extreme rows", "[softmax]") {
  for (int64_t n : {3, 16, 40}) {
    Array x(DType::F32, {4, n});
    for (int64_t i = 0; i < n; ++i) {
      x.set(i, -INFINITY);
      x.set(n + i, i == 1 ? INFINITY : 0);
      x.set(2 * n + i, i == 2 ? NAN : 1);
      x.set(3 * n + i, i == 0 ? 1e30 : -INFINITY);
    }
    std::vector<Array> y = {x};
    run(find_kernel("softmax"), Arguments() << x << 1, y);
    for (int64_t i = 0; i < n; ++i) {
      CHECK(std::isnan(y[0].get(i)));
      CHECK((std::isnan(y[0].get(n + i)) || y[0].get(n + i) == 0));
      CHECK(std::isnan(y[0].get(2 * n + i)));
      CHECK(y[0].get(3 * n + i) == (i == 0 ? 1 : 0));
    }
  }
}

TEST_CASE("softmax takes strided input", "[softmax]") {
  const Array x = Array::random(DType::F32, {9, 14}).permuted({1, 0}).halved(1);
  check_kernel("softmax", Arguments() << x << 1, {Array(DType::F32, {14, 5})}, 1e-6);
}

TEST_CASE("batch normalization", "[norm]") {
  for (DType dtype : {DType::F32, DType::F64}) {
    for (const Sizes& sizes : {Sizes{4, 3, 5, 5}, Sizes{1, 2, 40, 40}, Sizes{17, 6}, Sizes{300, 70}, Sizes{5, 4, 9},
                               Sizes{20, 1}, Sizes{16, 32, 14, 14}}) {
      INFO("channels " << sizes[1]);
      const int64_t c = sizes[1];
      const Array x = Array::random(dtype, sizes, 1, 2, 5), g = Array::random(dtype, sizes, 2);
      const Array w = Array::random(dtype, {c}, 3), b = Array::random(dtype, {c}, 4);
      std::vector<Array> stats(3, Array(dtype, {c}));
      check_kernel("batch_norm_stats", Arguments() << x << 1e-5, stats, tolerance(dtype));
      run(find_kernel("batch_norm_stats"), Arguments() << x << 1e-5, stats);
      check_kernel("batch_norm_apply", Arguments() << x << stats[0] << stats[1] << w << b, {Array(dtype, sizes)},
                   tolerance(dtype));
      check_kernel("batch_norm_apply", Arguments() << x << stats[0] << stats[1] << nullptr << nullptr,
                   {Array(dtype, sizes)}, tolerance(dtype));
      const std::vector<Array> grads = {Array(dtype, sizes), Array(dtype, {c}), Array(dtype, {c})};
      check_kernel("batch_norm_backward", Arguments() << g << x << stats[0] << stats[1] << w, grads,
                   5 * tolerance(dtype));
      check_kernel("batch_norm_backward", Arguments() << g << x << stats[0] << stats[1] << nullptr, grads,
                   5 * tolerance(dtype));
    }
  }
  const Array x = Array::random(DType::F32, {5, 6, 3, 4}).permuted({3, 2, 1, 0});
  check_kernel("batch_norm_stats", Arguments() << x << 1e-5, std::vector<Array>(3, Array(DType::F32, {3})), 1e-5);
}

TEST_CASE("batch normalization of images that lie channels last", "[norm]") {
  for (DType dtype : {DType::F32, DType::F64}) {
    for (const Sizes& sizes : {Sizes{4, 3, 5, 5}, Sizes{1, 70, 40, 40}, Sizes{16, 32, 14, 14}}) {
      const int64_t c = sizes[1];
      const Array x = Array::random(dtype, sizes, 1, 2, 5).channels_last();
      const Array g = Array::random(dtype, sizes, 2).channels_last();
      const Array w = Array::random(dtype, {c}, 3), b = Array::random(dtype, {c}, 4);
      std::vector<Array> stats(3, Array(dtype, {c}));
      check_kernel("batch_norm_stats", Arguments() << x << 1e-5, stats, tolerance(dtype));
      run(find_kernel("batch_norm_stats"), Arguments() << x << 1e-5, stats);
      check_kernel("batch_norm_apply", Arguments() << x << stats[0] << stats[1] << w << b,
                   {Array::channels_last(dtype, sizes)}, tolerance(dtype));
      check_kernel("batch_norm_backward", Arguments() << g << x << stats[0] << stats[1] << w,
                   {Array::channels_last(dtype, sizes), Array(dtype, {c}), Array(dtype, {c})}, 5 * tolerance(dtype));
    }
  }
}

TEST_CASE("the variance of a channel far from zero keeps its digits", "[norm]") {
  const Array x = Array::random(DType::F32, {8, 2, 30, 30}, 1, 1000, 1001);
  check_kernel("batch_norm_stats", Arguments() << x << 1e-5, std::vector<Array>(3, Array(DType::F32, {2})), 1e-4);
  check_kernel("batch_norm_stats", Arguments() << x.channels_last() << 1e-5,
               std::vector<Array>(3, Array(DType::F32, {2})), 1e-4);
}

TEST_CASE("layer normalization", "[norm]") {
  for (DType dtype : {DType::F32, DType::F64}) {
    for (const Sizes& shape : {Sizes{5, 1}, Sizes{3, 7}, Sizes{200, 64}, Sizes{1, 1000}, Sizes{0, 5}}) {
      const int64_t rows = shape[0], n = shape[1];
      INFO("rows " << rows << " n " << n);
      const Array x = Array::random(dtype, {rows, n}, 1, -2, 3), g = Array::random(dtype, {rows, n}, 2);
      const Array w = Array::random(dtype, {n}, 3), b = Array::random(dtype, {n}, 4);
      std::vector<Array> out = {Array(dtype, {rows, n}), Array(dtype, {rows, 1}), Array(dtype, {rows, 1})};
      check_kernel("layer_norm", Arguments() << x << Sizes{n} << nullptr << nullptr << 1e-5, out, tolerance(dtype));
      check_kernel("layer_norm", Arguments() << x << Sizes{n} << w << b << 1e-5, out, tolerance(dtype));
      run(find_kernel("layer_norm"), Arguments() << x << Sizes{n} << w << b << 1e-5, out);
      const std::vector<Array> grads = {Array(dtype, {rows, n}), Array(dtype, {n}), Array(dtype, {n})};
      const double loose = n == 1 ? 1 : 20 * tolerance(dtype);  // one element: the gradient is 0 times 1 / sqrt(eps)
      check_kernel("layer_norm_backward", Arguments() << g << x << out[1] << out[2] << w, grads, loose);
      check_kernel("layer_norm_backward", Arguments() << g << x << out[1] << out[2] << nullptr, grads, loose);
    }
  }
}

TEST_CASE("group normalization", "[norm]") {
  for (DType dtype : {DType::F32, DType::F64}) {
    for (const Sizes& shape : {Sizes{2, 6, 5, 7}, Sizes{3, 8}, Sizes{1, 4, 300}, Sizes{0, 4, 3}}) {
      for (const int groups : {1, 2}) {
        INFO("channels " << shape[1] << " groups " << groups);
        const int64_t n = shape[1];
        const Array x = Array::random(dtype, shape, 1, -2, 3), g = Array::random(dtype, shape, 2);
        const Array w = Array::random(dtype, {n}, 3), b = Array::random(dtype, {n}, 4);
        const Array rows(dtype, {shape[0], groups});
        std::vector<Array> out = {Array(dtype, shape), rows, Array(dtype, rows.sizes())};
        check_kernel("group_norm_rows", Arguments() << x << groups << nullptr << nullptr << 1e-5, out,
                     2 * tolerance(dtype));
        check_kernel("group_norm_rows", Arguments() << x << groups << w << b << 1e-5, out, 2 * tolerance(dtype));
        run(find_kernel("group_norm_rows"), Arguments() << x << groups << w << b << 1e-5, out);
        const std::vector<Array> grads = {Array(dtype, shape), Array(dtype, {n}), Array(dtype, {n})};
        const double loose = 20 * tolerance(dtype);
        check_kernel("group_norm_backward", Arguments() << g << x << out[1] << out[2] << w << groups, grads, loose);
        check_kernel("group_norm_backward", Arguments() << g << x << out[1] << out[2] << nullptr << groups, grads,
                     loose);
      }
    }
  }
}
