#include "engine/ops/distances.h"

#include <cmath>
#include <tuple>

#include "engine/ops/arithmetic.h"
#include "engine/ops/compare.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/index.h"
#include "engine/ops/matrices.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"
#include "engine/ops/unary.h"

namespace terra::ops {
namespace {

// ---- shapes and host rules ------------------------------------------------------------------------------------------
/// (a, b, p, pairs): matrices of one dtype and batch with equal rows; for pairs one matrix, twice.
void check_rows(Inference& f, int a, int b, bool pairs) {
  check_matrices(f.sizes(a), f.op.name);
  check_matrices(f.sizes(b), f.op.name, "b");
  check_lapack(f.dtype(a), "cdist");
  check(is_floating(f.dtype(a)) && f.dtype(a) == f.dtype(b) &&
            Dims(batch_of(f.sizes(a))) == Dims(batch_of(f.sizes(b))) && f.sizes(a).back() == f.sizes(b).back() &&
            (!pairs || (f.rank(a) == 2 && Dims(f.sizes(a)) == Dims(f.sizes(b)))),
        "{}: rows of {} {} and of {} {} don't belong together", f.op.name, scalar_type_name(f.dtype(a)),
        listed(f.sizes(a)), scalar_type_name(f.dtype(b)), listed(f.sizes(b)));
}
Dims sizes_of_distances(Sizes a, Sizes b, bool pairs) {
  const int64_t rows = a[a.size() - 2];
  return pairs ? Dims{rows * (rows - 1) / 2} : with(batch_of(a), {rows, b[b.size() - 2]});
}
void distances_shape(Inference& f) {
  check_rows(f, 0, 1, f.flag(3));
  f.result(f.dtype(0), sizes_of_distances(f.sizes(0), f.sizes(1), f.flag(3)));
}
/// (gradient, a, b, distances, p, pairs)
void backward_shape(Inference& f) {
  check_rows(f, 1, 2, f.flag(5));
  const Dims sizes = sizes_of_distances(f.sizes(1), f.sizes(2), f.flag(5));
  for (const int i : {0, 3})
    check(f.dtype(i) == f.dtype(1) && Dims(f.sizes(i)) == sizes, "{}: {} {} are no distances of these rows", f.op.name,
          scalar_type_name(f.dtype(i)), listed(f.sizes(i)));
  f.result(f.dtype(1), Dims(f.sizes(1)));
}
/// Calls work(i, T()) for each matrix of a batch, one after the other: rows are what threads share.
template <class Work>
void each_of_batch(const Tensor& a, const Work& work) {
  with_float(a.dtype(), [&]<class T>(T) {
    for (int64_t i = 0; i < count_of(a.sizes()); ++i) work(i, T());
  });
}
void distances_host(Args a, Results& out) {
  const Tensor x = contiguous(a[0].tensor().alias()), y = contiguous(a[1].tensor().alias());
  out = made_by_shape(distances, a);
  const int64_t count = count_of(x.sizes());
  each_of_batch(x, [&]<class T>(int64_t i, T) {
    std::get<Distances<T>>(libraries().distances)
        .forward(a[2].scalar().to_double(), a[3].scalar().to_bool(), x.size(-1), part<const T>(x, i, count), x.size(-2),
                 part<const T>(y, i, count), y.size(-2), part<T>(out[0], i, count));
  });
}
void backward_host(Args a, Results& out) {
  Tensor in[4];
  for (int i = 0; i < 4; ++i) in[i] = contiguous(a[i].tensor().alias());
  out = made_by_shape(distances_backward, a);
  const int64_t count = count_of(in[1].sizes());
  each_of_batch(in[1], [&]<class T>(int64_t i, T) {
    std::get<Distances<T>>(libraries().distances)
        .backward(a[4].scalar().to_double(), a[5].scalar().to_bool(), in[1].size(-1), part<const T>(in[1], i, count),
                  in[1].size(-2), part<const T>(in[2], i, count), in[2].size(-2), part<const T>(in[0], i, count),
                  part<const T>(in[3], i, count), part<T>(out[0], i, count));
  });
}

// ---- gradients ------------------------------------------------------------------------------------------------------
void distances_gradient(Backward& b) {
  const Tensor x = b.in(0), y = b.in(1), g = b.grad(), r = b.out();
  const double p = b.real(2);  // the rule of distances_backward asks what it is
  const bool pairs = b.flag(3);
  if (b.needs(0)) b.set(0, distances_backward(g, x, y, r, p, pairs));
  if (pairs) return;  // the second matrix is the first
  if (b.needs(1)) b.set(1, distances_backward(transposed(g), y, x, transposed(r), p, false));
}
/// Rows i < j of the n in a matrix, for each pair in the order (0, 1), (0, 2), ...: counted from the last pair, which
/// the triangular numbers of the rows behind are known of. No sizes depend on elements here, so graphs take it.
std::pair<Tensor, Tensor> rows_of_pairs(int64_t n) {
  const int64_t count = n * (n - 1) / 2;
  const Tensor pair = to_dtype(arange_to(count), DType::F64);
  const Tensor behind =
      floor((sqrt(8.0 * (static_cast<double>(count) - 1 - pair) + 1.0) - 1.0) / 2.0);  // rows after i + 1
  const Tensor first = static_cast<double>(n) - 2 - behind;
  const Tensor second = pair - static_cast<double>(count) + (behind + 1.0) * (behind + 2.0) / 2.0 + first + 1.0;
  return {to_dtype(first, DType::I64), to_dtype(second, DType::I64)};
}
/// Of sum_j g_ij s_ij with s = sign(d) |d|^(p-1) / r^(p-1), d = a_i - b_j and r = |d|, by g, by d and by r.
void backward_gradient(Backward& b) {
  const bool pairs = b.flag(5);
  const double p = b.real(4);
  const Tensor a = b.in(1), other = b.in(2);
  Tensor rows, columns, d, h = b.grad();
  if (pairs) {
    std::tie(rows, columns) = rows_of_pairs(a.size(0));
    const auto apart = [&](const Tensor& t) { return index_select(t, 0, rows) - index_select(t, 0, columns); };
    d = apart(a);
    h = apart(h);
  } else {
    d = unsqueeze(a, -2) - unsqueeze(other, -3);
    h = unsqueeze(h, -2);
  }
  const Tensor g = unsqueeze(b.in(0), -1), distance = unsqueeze(b.in(3), -1), length = abs(d);
  const Tensor flat = logical_or(eq(distance, 0), p < 2 && p != 1 ? eq(d, 0) : eq(distance, 0));
  const Tensor r = where(eq(distance, 0), 1.0, distance), some = where(flat, 1.0, length);
  const bool curved = p != 0 && p != 1 && !std::isinf(p);
  const Tensor share = p == 0          ? zeros_like(d)
                       : p == 1        ? ones_like(d)
                       : std::isinf(p) ? to_dtype(eq(length, distance), d.dtype())
                                       : pow(some / r, p - 1);
  const Tensor s = where(flat, 0.0, sign(d) * share), along = sum(h * s, Dims{-1});
  if (b.needs(0)) b.set(0, along);
  if (!curved) {
    for (const int i : {1, 2, 3})
      if (b.needs(i)) b.set(i, i == 3 ? zeros_like(b.in(3)) : zeros_like(b.in(i)));
    return;
  }
  if (b.needs(3)) b.set(3, (1 - p) * b.in(0) * along / squeeze(r, Dims{-1}));
  const Tensor by_d = where(flat, 0.0, (p - 1) * g * h * pow(some / r, p - 2) / r);
  if (pairs) {
    const Tensor nothing = zeros_like(a);
    return b.set(1, index_add(index_add(nothing, 0, rows, by_d), 0, columns, -by_d));
  }
  if (b.needs(1)) b.set(1, sum(by_d, Dims{-2}));
  if (b.needs(2)) b.set(2, -sum(by_d, Dims{-3}));
}

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op distances{{.name = "distances",
                    .signature = "(Tensor a, Tensor b, float p, bool pairs) -> Tensor",
                    .doc = "The norms of order p of all differences of rows of a and b; for pairs of rows of a alone, "
                           "each two of them.",
                    .example = "",
                    .flags = kHost,
                    .shape = distances_shape,
                    .host = distances_host,
                    .gradient = distances_gradient,
                    .saved = saves({0, 1}) | saves_result(),
                    .grad_fn = "PdistBackward0",
                    .samples = {{"randn(3, 4), randn(2, 4), 2.0, False"},
                                {"randn(2, 3, 5), randn(2, 2, 5), 1.0, False"},
                                {"randn(3, 4), randn(2, 4), 3.5, False"},
                                {"randn(3, 20), randn(2, 20), float('inf'), False"},
                                {"randn(3, 4), randn(2, 4), 0.0, False", "float", false},
                                {"randn(4, 18), randn(4, 18), 2.0, True", "float", false},
                                {"randn(0, 4), randn(2, 4), 2.0, False", "float", false}}}};
const Op distances_backward{
    {.name = "distances_backward",
     .signature = "(Tensor gradient, Tensor a, Tensor b, Tensor distances, float p, bool pairs) -> Tensor",
     .doc = "The gradient of distances by a.",
     .example = "",
     .flags = kHost,
     .shape = backward_shape,
     .host = backward_host,
     .gradient = backward_gradient,
     .saved = saves({0, 1, 2, 3}),
     .samples = {{"randn(3, 2), randn(3, 4), randn(2, 4), rand(3, 2) + 1, 2.0, False", "float", false}}}};

}  // namespace terra::ops
