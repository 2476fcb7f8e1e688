#include <cmath>
#include <limits>

#include "engine/ops/arithmetic.h"
#include "engine/ops/call.h"
#include "engine/ops/compare.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/linalg.h"
#include "engine/ops/matrices.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"

namespace terra::ops {
namespace {

/// A number as messages show it: 1, 0.5, inf.
std::string shown(const Scalar& s) {
  return s.is_float() ? fmt::format("{:g}", s.to_double()) : fmt::format("{}", s.to_int());
}

/// The operand in the dtype that is asked for, which may not be a narrower one.
Tensor in_dtype(const Tensor& x, const Arg& dtype, std::string_view op) {
  check_inexact(x.dtype(), op, true);
  if (dtype.is_none() || dtype.dtype() == x.dtype()) return x;
  const DType wanted = dtype.dtype();
  check(is_inexact(wanted), "{}: dtype should be floating point or complex, but got {}", op, scalar_type_name(wanted));
  check(promote_types(x.dtype(), wanted) == wanted,
        "{}: the dtype of the input ({}) should be convertible without narrowing to the specified dtype ({})", op,
        scalar_type_name(x.dtype()), scalar_type_name(wanted));
  return to_dtype(x, wanted);
}

// ---- vectors --------------------------------------------------------------------------------------------------------
Tensor vector_norm(const Tensor& x, const Scalar& ord, const Arg& dims, const Arg& keepdim) {
  const double p = ord.to_double();
  if (p < 0 || std::isinf(p)) {
    const uint64_t mask = dim_mask(dims, x.rank());
    check(x.numel() > 0 || mask != ~uint64_t{0},
          "linalg.vector_norm cannot compute the {} norm on an empty tensor because the operation does not have an "
          "identity",
          shown(ord));
    for (size_t d = 0; d < x.rank(); ++d)
      check(!(mask >> d & 1) || x.sizes()[d] != 0,
            "linalg.vector_norm cannot compute the {} norm on the dimension {}because this dimension is empty and the "
            "operation does not have an identity",
            shown(ord), d);
  }
  return norm(x, ord, dims, keepdim);
}
void vector_norm_of(Composition& c) {
  c.result(vector_norm(in_dtype(c.tensor(0), c.arg(4), "linalg.vector_norm"), c.arg(1).scalar(), c.arg(2), c.arg(3)));
}

// ---- matrices -------------------------------------------------------------------------------------------------------
/// The two dimensions that are matrices.
struct Plane {
  int64_t row, column;
};
Plane plane_of(const Tensor& x, Sizes dims) {
  constexpr std::string_view kName = "linalg.matrix_norm";
  check_matrices(x.sizes(), kName);
  check(dims.size() == 2, "{}: dim must be a 2-tuple. Got {}", kName, fmt::join(dims, ", "));
  const Plane plane{wrap_dim(dims[0], x.rank()), wrap_dim(dims[1], x.rank())};
  check(plane.row != plane.column, "{}: dims must be different. Got ({}, {})", kName, dims[0], dims[1]);
  return plane;
}
Tensor with_dims(const Tensor& t, const Plane& p, bool keepdim) {
  if (!keepdim) return t;
  return unsqueeze(unsqueeze(t, std::min(p.row, p.column)), std::max(p.row, p.column));
}
Tensor singular_values_of(const Tensor& x, const Plane& p) {
  return linalg_svdvals(movedim(x, Dims{p.row, p.column}, Dims{-2, -1}));
}
/// The largest or smallest along the last dimension; of nothing the largest is 0.
Tensor extreme(const Tensor& t, bool largest) {
  if (largest && t.size(-1) == 0) return sum(t, Dims{-1});
  return (largest ? amax : amin)(t, Dims{-1});
}

Tensor matrix_norm(const Tensor& x, const Scalar& ord, Sizes dims, bool keepdim) {
  const Plane p = plane_of(x, dims);
  const double order = ord.to_double(), size = std::abs(order);
  check(size == 1 || size == 2 || std::isinf(size), "linalg.matrix_norm: Order {} not supported.", shown(ord));
  if (size == 2) return with_dims(extreme(singular_values_of(x, p), order > 0), p, keepdim);
  // Sums along one dimension, an extreme along the other one.
  const int64_t added = size == 1 ? p.row : p.column, compared = size == 1 ? p.column : p.row;
  const Tensor sums = sum(abs(movedim(x, Dims{added, compared}, Dims{-2, -1})), Dims{-2});
  return with_dims(extreme(sums, order > 0), p, keepdim);
}
Tensor named_norm(const Tensor& x, std::string_view ord, Sizes dims, bool keepdim) {
  check(ord == "fro" || ord == "nuc", "linalg.matrix_norm: Order {} not supported.", ord);
  const Plane p = plane_of(x, dims);
  if (ord == "fro") return norm(x, 2.0, dims, keepdim);
  return with_dims(sum(singular_values_of(x, p), Dims{-1}), p, keepdim);
}
void matrix_norm_of(Composition& c) {
  const Tensor x = in_dtype(c.tensor(0), c.arg(4), "linalg.matrix_norm");
  c.result(matrix_norm(x, c.arg(1).scalar(), c.ints(2), c.flag(3)));
}
void matrix_norm_named_of(Composition& c) {
  const Tensor x = in_dtype(c.tensor(0), c.arg(4), "linalg.matrix_norm");
  c.result(named_norm(x, c.text(1), c.ints(2), c.flag(3)));
}

// ---- either ---------------------------------------------------------------------------------------------------------
/// The dimensions of linalg.norm: those given, or all if an order is and they are one or two.
Dims dims_of_norm(const Composition& c) {
  const size_t rank = c.tensor(0).rank();
  if (c.has(2)) {
    check(c.ints(2).size() == 1 || c.ints(2).size() == 2,
          "linalg.norm: If dim is specified, it must be of length 1 or 2. Got {}", listed(c.ints(2)));
    return Dims(c.ints(2));
  }
  check(rank == 1 || rank == 2, "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {}D.",
        rank);
  return rank == 1 ? Dims{0} : Dims{0, 1};
}
void norm_of(Composition& c) {
  const auto converted = [&](std::string_view op) { return in_dtype(c.tensor(0), c.arg(4), op); };
  if (!c.has(1)) {
    if (c.has(2)) dims_of_norm(c);
    return c.result(vector_norm(converted("linalg.vector_norm"), 2.0, c.arg(2), c.arg(3)));
  }
  const Dims dims = dims_of_norm(c);
  if (dims.size() == 1)
    return c.result(vector_norm(converted("linalg.vector_norm"), c.arg(1).scalar(), dims, c.arg(3)));
  c.result(matrix_norm(converted("linalg.matrix_norm"), c.arg(1).scalar(), dims, c.flag(3)));
}
void norm_named_of(Composition& c) {
  const Tensor x = in_dtype(c.tensor(0), c.arg(4), "linalg.matrix_norm");
  if (!c.has(2) && x.rank() == 1) check_matrices(x.sizes(), "linalg.matrix_norm");
  c.result(named_norm(x, c.text(1), dims_of_norm(c), c.flag(3)));
}

// ---- condition numbers ----------------------------------------------------------------------------------------------
constexpr int64_t kPlane[] = {-2, -1};

Tensor by_inverse(const Tensor& x, std::string_view order, const auto& norm_of_matrix) {
  check_square(x.sizes(), fmt::format("linalg.cond(ord={})", order));
  check_inexact(x.dtype(), "linalg.inv");
  if (x.numel() == 0) return zeros(batch_of(x.sizes()), real_dtype_of(x.dtype()));
  const Tensor product = norm_of_matrix(x) * norm_of_matrix(linalg_inv_ex(x));
  return where(isnan(product), std::numeric_limits<double>::infinity(), product);
}
void cond_of(Composition& c) {
  const Tensor x = c.tensor(0);
  check(x.rank() >= 2, "linalg.cond: The input tensor must have at least 2 dimensions.");
  const double p = c.has(1) ? c.real(1) : 2, size = std::abs(p);
  check_kind(size == 1 || size == 2 || std::isinf(size), ErrorKind::ValueError,
             "linalg.cond got an invalid norm type: {}", c.has(1) ? shown(c.arg(1).scalar()) : "");
  if (size != 2)
    return c.result(by_inverse(x, shown(c.arg(1).scalar()),
                               [&](const Tensor& t) { return matrix_norm(t, c.arg(1).scalar(), kPlane, false); }));
  if (x.numel() == 0) return c.result(zeros(batch_of(x.sizes()), real_dtype_of(x.dtype())));
  const Tensor s = linalg_svdvals(x);
  const Tensor largest = select(s, -1, 0), smallest = select(s, -1, -1);
  c.result(p > 0 ? largest / smallest : smallest / largest);
}
void cond_named_of(Composition& c) {
  const Tensor x = c.tensor(0);
  check(x.rank() >= 2, "linalg.cond: The input tensor must have at least 2 dimensions.");
  const std::string_view p = c.text(1);
  check_kind(p == "fro" || p == "nuc", ErrorKind::ValueError, "linalg.cond got an invalid norm type: {}", p);
  if (p == "fro")
    return c.result(by_inverse(x, p, [](const Tensor& t) { return named_norm(t, "fro", kPlane, false); }));
  check_square(x.sizes(), "linalg.cond(ord=nuc)");
  const Tensor s = linalg_svdvals(x);
  c.result(sum(s, Dims{-1}) * sum(reciprocal(s), Dims{-1}));
}

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op linalg_vector_norm{
    {.name = "linalg_vector_norm",
     .signature = "(Tensor self, Number ord=2, int[1]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
     .doc = "The root of order ord of the sum of |x| ** ord.",
     .example = "terra.linalg.vector_norm(terra.tensor([3.0, 4.0]))",
     .flags = kFunction,
     .composite = vector_norm_of,
     .grad_fn = "LinalgVectorNormBackward0",
     .samples = {{"randn(3, 4), 3, 1"},
                 {"randn(3, 4), -1, (0, 1), True"},
                 {"randn(()), 0"},
                 {"randn(3), dtype=terra.float64"}}}};
const Op linalg_matrix_norm{
    {.name = "linalg_matrix_norm",
     .signature = "(Tensor self, Number ord, int[] dim=[-2, -1], bool keepdim=False, *, dtype? dtype=None) -> Tensor",
     .doc =
         "The norm of order 1, 2 or infinity of matrices; for a negative order the smallest in place of the largest.",
     .example = "terra.linalg.matrix_norm(terra.eye(2), 2)",
     .composite = matrix_norm_of,
     .samples = {{"randn(2, 3, 4), 2"}, {"randn(2, 3, 4), -1, (0, 2), True"}, {"randn(3, 3), float('inf')"}}}};
const Op linalg_matrix_norm_named{
    {.name = "linalg_matrix_norm_named",
     .signature =
         "(Tensor self, str ord='fro', int[] dim=[-2, -1], bool keepdim=False, *, dtype? dtype=None) -> Tensor",
     .doc = "The norm of matrices of that name: 'fro', of all elements, or 'nuc', the sum of the singular values.",
     .example = "",
     .composite = matrix_norm_named_of,
     .samples = {{"randn(2, 3, 4)"}, {"randn(2, 3, 4), 'nuc', (0, 1), True"}}}};
const Op linalg_norm{
    {.name = "linalg_norm",
     .signature =
         "(Tensor self, Number? ord=None, int[1]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
     .doc = "The norm of vectors along one dimension or of matrices along two; of all elements by default.",
     .example = "terra.linalg.norm(terra.tensor([3.0, 4.0]))",
     .composite = norm_of,
     .samples = {{"randn(2, 3, 4)"}, {"randn(2, 3, 4), 1, 1"}, {"randn(3, 4), 2"}}}};
const Op linalg_norm_named{
    {.name = "linalg_norm_named",
     .signature = "(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, dtype? dtype=None) -> Tensor",
     .doc = "The norm of matrices of that name: 'fro' or 'nuc'.",
     .example = "",
     .composite = norm_named_of,
     .samples = {{"randn(3, 4), 'nuc'"}, {"randn(2, 3, 4), 'fro', (0, 1)"}}}};
const Op linalg_cond{{.name = "linalg_cond",
                      .signature = "(Tensor self, Number? p=None) -> Tensor",
                      .doc = "The norm of a matrix times that of its inverse.",
                      .example = "terra.linalg.cond(terra.eye(2))",
                      .flags = kTakesHalves,
                      .composite = cond_of,
                      .grad_fn = "SqueezeBackward1",
                      .samples = {{"randn(2, 3, 4)"}, {"randn(3, 3), 1"}, {"randn(3, 3), -2"}}}};
const Op linalg_cond_named{{.name = "linalg_cond_named",
                            .signature = "(Tensor self, str p) -> Tensor",
                            .doc = "The norm of that name of a matrix times that of its inverse.",
                            .example = "",
                            .flags = kTakesHalves,
                            .composite = cond_named_of,
                            .samples = {{"randn(2, 3, 3), 'fro'"}, {"randn(3, 3), 'nuc'"}}}};

}  // namespace terra::ops
