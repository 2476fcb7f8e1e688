#include "engine/ops/matmul.h"

#include "engine/ops/arithmetic.h"
#include "engine/ops/compare.h"
#include "engine/ops/complex.h"
#include "engine/ops/convert.h"
#include "engine/ops/halves.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"
#include "engine/ops/view.h"

namespace terra::ops {
namespace {

// ---- shapes ---------------------------------------------------------------------------------------------------------
void check_same_dtype(Inference& f, int a, int b) {
  check(f.dtype(a) == f.dtype(b), "expected m1 and m2 to have the same dtype, but got: {} != {}",
        c_type_name(f.dtype(a)), c_type_name(f.dtype(b)));
}
}  // namespace

void check_same_dtypes(DType self, DType mat1, DType mat2) {
  check(self == mat2, "self and mat2 must have the same dtype, but got {} and {}", scalar_type_name(self),
        scalar_type_name(mat2));
  check(mat1 == mat2, "mat1 and mat2 must have the same dtype, but got {} and {}", scalar_type_name(mat1),
        scalar_type_name(mat2));
}

namespace {

/// A factor that the elements can be multiplied by.
void check_factor(const Arg& factor, DType dtype) {
  if (!factor.is_tensor() && factor.scalar().is_complex()) check_holds(factor.scalar(), dtype);
}
void mm_shape(Inference& f) {
  check(f.rank(0) == 2, "mm: self must be a matrix, got {}-D tensor", f.rank(0));
  check(f.rank(1) == 2, "mm: mat2 must be a matrix, got {}-D tensor", f.rank(1));
  const auto a = f.sizes(0), b = f.sizes(1);
  check(a[1] == b[0], "mm: mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{})", a[0], a[1], b[0], b[1]);
  check_same_dtype(f, 0, 1);
  f.result(f.dtype(0), Dims{a[0], b[1]});
}
void addmm_shape(Inference& f) {
  check_factor(f.arg(3), f.dtype(1));
  check_factor(f.arg(4), f.dtype(1));
  check(f.rank(1) == 2, "addmm: self must be a matrix, got {}-D tensor", f.rank(1));
  check(f.rank(2) == 2, "addmm: mat2 must be a matrix, got {}-D tensor", f.rank(2));
  const auto a = f.sizes(1), b = f.sizes(2);
  check(a[1] == b[0], "addmm: mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{})", a[0], a[1], b[0], b[1]);
  check_same_dtypes(f.dtype(0), f.dtype(1), f.dtype(2));
  const Dims sizes{a[0], b[1]};
  for (size_t i = 0; i < f.rank(0); ++i) {
    const int64_t have = f.sizes(0)[f.rank(0) - 1 - i];
    check(
        f.rank(0) <= 2 && (have == 1 || have == sizes[1 - i]),
        "The expanded size of the tensor ({}) must match the existing size ({}) at non-singleton dimension {}.  Target "
        "sizes: {}.  Tensor sizes: {}",
        i < 2 ? sizes[1 - i] : 0, have, i < 2 ? 1 - i : 0, listed(sizes), listed(f.sizes(0)));
  }
  f.result(f.dtype(0), sizes);
}
void bmm_shape(Inference& f) {
  check(f.rank(0) == 3, "batch1 must be a 3D tensor");
  check(f.rank(1) == 3, "batch2 must be a 3D tensor");
  const auto a = f.sizes(0), b = f.sizes(1);
  check(a[0] == b[0] && a[2] == b[1],
        "Expected size for first two dimensions of batch2 tensor to be: [{}, {}] but got: [{}, {}].", a[0], a[2], b[0],
        b[1]);
  check(f.dtype(0) == f.dtype(1), "expected scalar type {} but found {}", scalar_type_name(f.dtype(0)),
        scalar_type_name(f.dtype(1)));
  f.result(f.dtype(0), Dims{a[0], a[1], b[2]});
}
/// The weight is a matrix [out_features, in_features], or a vector that leaves no dimension of its products.
void linear_shape(Inference& f) {
  const bool vector = f.rank(1) == 1;
  check(vector || f.rank(1) == 2, "linear(): the weight must be a matrix [out_features, in_features], but got shape {}",
        listed(f.sizes(1)));
  check(!vector || !f.has(2) || f.rank(2) == 0, "addmm: mat2 must be a matrix, got 1-D tensor");
  check(f.rank(0) >= 1,
        "linear(): the input needs at least one dimension, but both arguments to linear need to be at "
        "least 1D, but they are {}D and {}D",
        f.rank(0), f.rank(1));
  Dims sizes(f.sizes(0));
  const int64_t n = vector ? 1 : f.sizes(1)[0], k = f.sizes(1).back();
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < sizes.size(); ++i) rows *= sizes[i];
  check(sizes.back() == k, "{}: mat1 and mat2 shapes cannot be multiplied ({}x{} and {}x{})", f.has(2) ? "addmm" : "mm",
        rows, sizes.back(), k, n);
  if (!f.has(2)) check_same_dtype(f, 0, 1);
  if (f.has(2)) {
    check(
        f.sizes(2).empty() || (f.rank(2) == 1 && (f.sizes(2)[0] == n)),
        "The expanded size of the tensor ({}) must match the existing size ({}) at non-singleton dimension 1.  Target "
        "sizes: [{}, {}].  Tensor sizes: {}",
        n, f.rank(2) ? f.sizes(2)[f.rank(2) - 1] : 1, rows, n, listed(f.sizes(2)));
    check_same_dtypes(f.dtype(2), f.dtype(0), f.dtype(1));
  }
  if (vector) return f.result(f.dtype(0), Dims(f.sizes(0).first(sizes.size() - 1)));
  sizes.back() = n;
  f.result(f.dtype(0), std::move(sizes));
}

// ---- gradients ------------------------------------------------------------------------------------------------------
/// A factor of integers loses its fraction. One that is a tensor is a number that graphs learn when they run.
Tensor scaled(const Tensor& t, const Arg& by) {
  if (by.is_tensor()) return mul(t, is_inexact(t.dtype()) ? by : Arg(to_dtype(by.tensor(), DType::I64)));
  if (is_value(by.scalar(), 1)) return t;
  return mul(t, is_inexact(t.dtype()) ? by : Arg(by.scalar().to_int()));
}

Tensor adjoint_of(const Tensor& matrix) { return conjugate(t(matrix)); }

void mm_gradient(Backward& b) {
  if (b.needs(0)) b.set(0, mm(b.grad(), adjoint_of(b.in(1))));
  if (b.needs(1)) b.set(1, mm(adjoint_of(b.in(0)), b.grad()));
}
void addmm_gradient(Backward& b) {
  const Tensor g = scaled(b.grad(), conjugate(b.arg(4)));
  if (b.needs(0)) b.set(0, scaled(b.grad(), conjugate(b.arg(3))));
  if (b.needs(1)) b.set(1, mm(g, adjoint_of(b.in(2))));
  if (b.needs(2)) b.set(2, mm(adjoint_of(b.in(1)), g));
}
void bmm_gradient(Backward& b) {
  if (b.needs(0)) b.set(0, bmm(b.grad(), conjugate(transpose(b.in(1), 1, 2))));
  if (b.needs(1)) b.set(1, bmm(conjugate(transpose(b.in(0), 1, 2)), b.grad()));
}
/// The rows of a tensor [.., k] as a matrix.
Tensor rows(const Tensor& x) {
  if (x.rank() == 2) return x;
  const std::span<const int64_t> sizes = x.sizes();
  return reshape(x, Dims{checked_numel(sizes.first(sizes.size() - 1)), sizes.back()});
}
void linear_gradient(Backward& b) {
  const bool vector = b.sizes(1).size() == 1;
  const Tensor g = vector ? reshape(b.grad(), Dims{b.grad().numel(), 1}) : rows(b.grad());
  if (b.needs(0)) {
    const Tensor weight = vector ? unsqueeze(b.in(1), 0) : b.in(1);
    b.set(0, reshape(mm(g, conjugate(weight)), b.sizes(0)));
  }
  if (b.needs(1)) {
    const Tensor weight = mm(t(g), conjugate(rows(b.in(0))));
    b.set(1, vector ? squeeze(weight, Dims{0}) : weight);
  }
  if (b.needs(2)) b.set(2, sum(g, Dims{0}));
}

// ---- composites -----------------------------------------------------------------------------------------------------
void dot_of(Composition& c) {
  const Tensor a = c.tensor(0), b = c.tensor(1);
  check(a.rank() == 1 && b.rank() == 1, "1D tensors expected, but got {}D and {}D tensors", a.rank(), b.rank());
  check(a.dtype() == b.dtype(), "dot : expected both vectors to have same dtype, but found {} and {}",
        scalar_type_name(a.dtype()), scalar_type_name(b.dtype()));
  check(
      a.numel() == b.numel(),
      "inconsistent tensor size, expected tensor {} and src {} to have the same number of elements, but got {} and {} "
      "elements respectively",
      listed(a.sizes()), listed(b.sizes()), a.numel(), b.numel());
  check_kind(a.dtype() != DType::Bool, ErrorKind::NotImplementedError, "\"dot\" not implemented for 'Bool'");
  const Tensor total = sum(a * b);
  c.result(total.dtype() == a.dtype() ? total : to_dtype(total, a.dtype()));
}
void vdot_of(Composition& c) { c.result(dot(conjugate(c.tensor(0)), c.tensor(1))); }
void mv_of(Composition& c) {
  const Tensor a = c.tensor(0), v = c.tensor(1);
  check(a.rank() == 2 && v.rank() == 1, "vector + matrix @ vector expected, got {}, {}, {}", 1, a.rank(), v.rank());
  check(a.size(1) == v.size(0), "size mismatch, got input ({}), mat ({}x{}), vec ({})", a.size(0), a.size(0), a.size(1),
        v.size(0));
  check(a.dtype() == v.dtype(), "addmv input tensors must have the same dtype, but got {}, {}, and {}",
        scalar_type_name(v.dtype()), scalar_type_name(a.dtype()), scalar_type_name(v.dtype()));
  c.result(squeeze(mm(a, unsqueeze(v, 1)), Dims{1}));
}
void outer_of(Composition& c) {
  const Tensor a = c.tensor(0), b = c.tensor(1);
  check(a.rank() == 1, "outer: Expected 1-D argument self, but got {}-D", a.rank());
  check(b.rank() == 1, "outer: Expected 1-D argument vec2, but got {}-D", b.rank());
  c.result(unsqueeze(a, 1) * b);
}
void baddbmm_of(Composition& c) {
  const DType self = c.tensor(0).dtype(), a = c.tensor(1).dtype(), b = c.tensor(2).dtype();
  check(self != a || a == b, "expected scalar type {} but found {}", scalar_type_name(a), scalar_type_name(b));
  check(self == a && a == b, "Input dtypes must be the same, got: input {}, batch1: {}, batch2: {}", c_type_name(self),
        c_type_name(a), c_type_name(b));
  check_factor(c.arg(3), c.tensor(1).dtype());
  check_factor(c.arg(4), c.tensor(1).dtype());
  const Tensor product = scaled(bmm(c.tensor(1), c.tensor(2)), c.arg(4));
  if (!c.arg(3).is_tensor() && is_value(c.arg(3).scalar(), 0)) return c.result(product);
  const Tensor both = scaled(c.tensor(0), c.arg(3)) + product;
  c.result(c.arg(3).is_tensor() ? where(eq(c.arg(3), 0), product, both)
                                : both);  // what 0 is multiplied with doesn't count
}

/// Leading dimensions are batches and broadcast; a vector is a row on the left, a column on the right.
Tensor batched(const Tensor& a, const Tensor& b) {
  const std::span<const int64_t> as = a.sizes(), bs = b.sizes();
  const Dims batch = broadcast_sizes(as.first(as.size() - 2), bs.first(bs.size() - 2));
  const auto flat = [&batch](const Tensor& t) {
    Dims sizes = batch;
    sizes.push_back(t.size(-2));
    sizes.push_back(t.size(-1));
    return reshape(expand(t, sizes), Dims{checked_numel(batch), t.size(-2), t.size(-1)});
  };
  Dims sizes = batch;
  sizes.push_back(a.size(-2));
  sizes.push_back(b.size(-1));
  return reshape(bmm(flat(a), flat(b)), sizes);
}
void matmul_of(Composition& c) {
  const Tensor a = c.tensor(0), b = c.tensor(1);
  check(a.rank() > 0 && b.rank() > 0, "both arguments to matmul need to be at least 1D, but they are {}D and {}D",
        a.rank(), b.rank());
  if (a.rank() == 1 && b.rank() == 1) return c.result(dot(a, b));
  if (a.rank() == 2 && b.rank() == 1) return c.result(mv(a, b));
  if (a.rank() == 2 && b.rank() == 2) return c.result(mm(a, b));
  if (a.rank() == 1) return c.result(squeeze(matmul(unsqueeze(a, 0), b), Dims{-2}));
  if (b.rank() == 1) return c.result(squeeze(matmul(a, unsqueeze(b, 1)), Dims{-1}));
  if (b.rank() == 2) {  // one product with all rows of a
    Dims sizes = a.sizes();
    sizes.back() = b.size(1);
    return c.result(reshape(mm(rows(a), b), sizes));
  }
  check(a.size(-1) == b.size(-2),
        "Expected size for first two dimensions of batch2 tensor to be: [{}, {}] but got: [{}, {}].",
        b.numel() / std::max<int64_t>(1, b.size(-1) * b.size(-2)), a.size(-1),
        b.numel() / std::max<int64_t>(1, b.size(-1) * b.size(-2)), b.size(-2));
  c.result(batched(a, b));
}

// ---- names of nodes: products are told apart by ranks ----

std::string_view matmul_name(std::span<const Arg> args) {
  const size_t a = args[0].tensor().rank(), b = args[1].tensor().rank();
  if (a == 1 && b == 1) return "DotBackward0";
  if (a == 2 && b == 1) return "MvBackward0";
  if (a == 2 && b == 2) return "MmBackward0";
  return a == 1 ? "SqueezeBackward4" : "UnsafeViewBackward0";
}

std::string_view linear_name(std::span<const Arg> args) {
  const bool bias = args[2].is_tensor();
  switch (args[0].tensor().rank()) {
    case 1: return bias ? "UnsafeViewBackward0" : "SqueezeBackward4";
    case 2: return bias ? "AddmmBackward0" : "MmBackward0";
    default: return "UnsafeViewBackward0";
  }
}

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op mm{{.name = "mm",
             .signature = "(Tensor self, Tensor mat2) -> Tensor",
             .doc = "The product of two matrices.",
             .example = "terra.mm(terra.ones(2, 3), terra.ones(3, 2))",
             .flags = kVisible | kComplex | kSameFloats | kTakesBFloat16,
             .shape = mm_shape,
             .gradient = mm_gradient,
             .saved = saves({0, 1}),
             .saved_for_others = true,
             .samples = {{"randn(2, 3), randn(3, 4)"},
                         {"randn(3, 2).t(), randn(4, 3).t()"},
                         {"randn(1, 5), randn(5, 1)"},
                         {"randn(0, 3), randn(3, 2)"},
                         {"randn(2, 0), randn(0, 3)"},
                         {"randn(33, 17), randn(17, 65)"},
                         {"crandn(2, 3), crandn(3, 4)", "complex"},
                         {"crandn(3, 2).t(), crandn(4, 3).t()", "complex"}}}};
const Op bmm{{.name = "bmm",
              .signature = "(Tensor self, Tensor mat2) -> Tensor",
              .doc = "The products of two batches of matrices.",
              .example = "terra.bmm(terra.ones(2, 2, 3), terra.ones(2, 3, 2))",
              .flags = kVisible | kComplex | kSameFloats | kTakesBFloat16,
              .shape = bmm_shape,
              .gradient = bmm_gradient,
              .saved = saves({0, 1}),
              .saved_for_others = true,
              .samples = {{"randn(2, 2, 3), randn(2, 3, 4)"},
                          {"randn(2, 3, 2).transpose(1, 2), randn(2, 3, 4)"},
                          {"randn(1, 2, 3).expand(2, 2, 3), randn(2, 3, 1)"},
                          {"crandn(2, 2, 3), crandn(2, 3, 4)", "complex"}}}};
const Op matmul{{.name = "matmul",
                 .signature = "(Tensor self, Tensor other) -> Tensor",
                 .doc = "The matrix product of the last two dimensions; the others broadcast.",
                 .example = "terra.matmul(terra.ones(2, 3), terra.ones(3))",
                 .flags = kVisible | kMovesBytes,
                 .composite = matmul_of,
                 .grad_fn_of = matmul_name,
                 .samples = {{"randn(3), randn(3)"},
                             {"randn(2, 3), randn(3)"},
                             {"randn(3), randn(3, 2)"},
                             {"randn(2, 3), randn(3, 2)"},
                             {"randn(2, 2, 3), randn(3, 2)"},
                             {"randn(2, 2, 3), randn(3)"},
                             {"randn(3), randn(2, 3, 2)"},
                             {"randn(2, 1, 2, 3), randn(3, 3, 2)"}}}};
const Op dot{{.name = "dot",
              .signature = "(Tensor self, Tensor tensor) -> Tensor",
              .doc = "The sum of the products of two vectors.",
              .example = "terra.dot(terra.ones(3), terra.arange(3.0))",
              .flags = kVisible,
              .composite = dot_of,
              .grad_fn = "DotBackward0",
              .samples = {{"randn(5), randn(5)"}}}};
const Op vdot{{.name = "vdot",
               .signature = "(Tensor self, Tensor other) -> Tensor",
               .doc = "The sum of the products of two vectors, the first one conjugated.",
               .example = "terra.vdot(terra.ones(3), terra.arange(3.0))",
               .flags = kVisible,
               .composite = vdot_of,
               .grad_fn = "VdotBackward0",
               .samples = {{"randn(5), randn(5)"}, {"crandn(5), crandn(5)", "complex"}}}};
const Op mv{{.name = "mv",
             .signature = "(Tensor self, Tensor vec) -> Tensor",
             .doc = "The product of a matrix and a vector.",
             .example = "terra.mv(terra.eye(2), terra.ones(2))",
             .flags = kVisible | kMovesBytes,
             .composite = mv_of,
             .grad_fn = "MvBackward0",
             .samples = {{"randn(2, 3), randn(3)"}}}};
const Op outer{{.name = "outer",
                .signature = "(Tensor self, Tensor vec2) -> Tensor",
                .doc = "All products of an element of self with one of vec2.",
                .example = "terra.outer(terra.ones(2), terra.ones(3))",
                .flags = kVisible,
                .composite = outer_of,
                .aliases = "ger",
                .samples = {{"randn(2), randn(3)"}}}};
const Op addmm{{.name = "addmm",
                .signature = "(Tensor self, Tensor mat1, Tensor mat2, *, Number beta=1, Number alpha=1) -> Tensor",
                .doc = "beta * self + alpha * (mat1 @ mat2).",
                .example = "terra.addmm(terra.ones(2), terra.ones(2, 3), terra.ones(3, 2))",
                .flags = kVisibleInPlace | kReadsFirst | kComplex | kSameFloats | kTakesBFloat16,
                .shape = addmm_shape,
                .gradient = addmm_gradient,
                .saved = saves({1, 2}),
                .saved_for_others = true,
                .samples = {{"randn(4), randn(2, 3), randn(3, 4)"},
                            {"randn(2, 4), randn(2, 3), randn(3, 4), beta=0.5, alpha=2"},
                            {"crandn(4), crandn(2, 3), crandn(3, 4), beta=0.5j, alpha=2", "complex"}}}};
const Op baddbmm{
    {.name = "baddbmm",
     .signature = "(Tensor self, Tensor batch1, Tensor batch2, *, Number beta=1, Number alpha=1) -> Tensor",
     .doc = "beta * self + alpha * (batch1 @ batch2).",
     .example = "terra.baddbmm(terra.ones(2), terra.ones(1, 2, 3), terra.ones(1, 3, 2))",
     .flags = kVisibleInPlace | kReadsFirst | kComplex,
     .composite = baddbmm_of,
     .grad_fn = "BaddbmmBackward0",
     .samples = {{"randn(2, 2, 4), randn(2, 2, 3), randn(2, 3, 4), alpha=0.5"}}}};
const Op linear{{.name = "linear",
                 .signature = "(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
                 .doc = "input @ weight.T + bias over the last dimension.",
                 .example = "terra.nn.functional.linear(terra.ones(2, 3), terra.ones(4, 3))",
                 .flags = kFunctional | kComplex | kTakesBFloat16,
                 .shape = linear_shape,
                 .gradient = linear_gradient,
                 .saved = saves({0, 1}),
                 .saved_for_others = true,
                 .grad_fn_of = linear_name,
                 .samples = {{"randn(2, 3), randn(4, 3), randn(4)"},
                             {"randn(2, 3, 5), randn(4, 5)"},
                             {"randn(3), randn(2, 3), randn(2)"},
                             {"randn(3, 2).t(), randn(4, 3), randn(4)"},
                             {"randn(0, 3), randn(4, 3), randn(4)"},
                             {"randn(2, 2, 3), randn(3)"},
                             {"randint(-9, 9, (2, 3)), randint(-9, 9, (4, 3)), randint(-9, 9, (4,))", "int", false},
                             {"crandn(2, 3), crandn(4, 3), crandn(4)", "complex"}}}};

}  // namespace terra::ops
