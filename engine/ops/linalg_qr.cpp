#include <algorithm>

#include "engine/ops/arithmetic.h"
#include "engine/ops/creation.h"
#include "engine/ops/linalg.h"
#include "engine/ops/matmul.h"
#include "engine/ops/matrices.h"
#include "engine/ops/rules.h"
#include "engine/ops/shape.h"

namespace terra::ops {
namespace {

// ---- A = Q R --------------------------------------------------------------------------------------------------------
void qr_shape(Inference& f) {
  const Sizes sizes = f.sizes(0);
  const std::string_view mode = f.text(1);
  check(mode == "reduced" || mode == "r" || mode == "complete",
        "qr received unrecognized mode '{}' but expected one of 'reduced' (default), 'r', or 'complete'", mode);
  check_matrices(sizes, "linalg.qr");
  check_inexact(f.dtype(0), "linalg.qr", true);
  check_lapack(f.dtype(0), "geqrf_cpu");
  const int64_t m = sizes[sizes.size() - 2], n = sizes.back(), columns = mode == "complete" ? m : std::min(m, n);
  f.result(f.dtype(0), mode == "r" ? Dims{0} : with(batch_of(sizes), {columns, m}));
  f.result(f.dtype(0), with(batch_of(sizes), {n, columns}));
}
void qr_host(Args a, Results& out) {
  const Tensor A = a[0].tensor();
  out = made_by_shape(qr_columns, a);
  const Tensor lost = lost_copy(A);
  const bool wanted = a[1].text() != "r";
  const int64_t count = count_of(A.sizes());
  each_matrix(A, [&]<class T>(int64_t i, T) {
    lapack<T>().qr(rows_of(A), columns_of(A), columns_of(out[1]), part<T>(lost, i, count),
                   wanted ? part<T>(out[0], i, count) : nullptr, part<T>(out[1], i, count));
  });
}
/// Of a tall A: dA = (dQ + Q S) R^-H, S being the Hermitian matrix that has the upper triangle of dR R^H - Q^H dQ. The
/// columns that a wide A has besides are Q times those of R, and add to dQ.
void qr_gradient(Backward& b) {
  const std::string_view mode = b.text(1);
  check(mode != "r",
        "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, "
        "mode='reduced') if you are going to differentiate through linalg.qr.");
  const Tensor Q = transposed(b.out(0)), R = transposed(b.out(1)), dR = transposed(b.grad(1));
  const int64_t m = Q.size(-2), n = R.size(-1), k = std::min(m, n);
  check(mode != "complete" || m <= n,
        "The QR decomposition is not differentiable when mode='complete' and nrows > ncols.");
  const Tensor square = columns(R, 0, k);
  Tensor dQ = transposed(b.grad(0)), inner = matmul(columns(dR, 0, k), mH(square)), rest;
  if (n > k) {
    rest = matmul(Q, columns(dR, k, n));
    dQ = dQ + matmul(matmul(Q, columns(R, k, n)), mH(columns(dR, k, n)));
  }
  const Tensor S = hermitian_from(triu(inner - matmul(mH(Q), dQ)));
  const Tensor dA = solve_triangular(mH(square), dQ + matmul(Q, S), false, false);
  b.set(0, n > k ? cat(std::vector{dA, rest}, -1) : dA);
}

// ---- reflections ----------------------------------------------------------------------------------------------------
void reflections_shape(Inference& f) {
  const Sizes sizes = f.sizes(0);
  check(sizes.size() >= 2, "torch.geqrf: input must have at least 2 dimensions.");
  check_matrices(sizes, "torch.geqrf");
  check_lapack(f.dtype(0), "geqrf_cpu");
  f.result(f.dtype(0), turned(sizes));
  f.result(f.dtype(0), with(batch_of(sizes), {std::min(sizes.back(), sizes[sizes.size() - 2])}));
}
void reflections_host(Args a, Results& out) {
  const Tensor A = a[0].tensor();
  out = made_by_shape(reflections_columns, a);
  fill_with(out[0], transposed(A.alias()));
  const int64_t count = count_of(A.sizes());
  each_matrix(A, [&]<class T>(int64_t i, T) {
    lapack<T>().reflections(rows_of(A), columns_of(A), part<T>(out[0], i, count), part<T>(out[1], i, count));
  });
}
void no_geqrf_gradient(Backward&) {
  fail(ErrorKind::NotImplementedError, "the derivative for 'geqrf' is not implemented.");
}

// ---- composites -----------------------------------------------------------------------------------------------------
void decompose(Composition& c, std::string_view mode) {
  const auto f = qr_columns.all(c.arg(0), mode);
  c.result(mode == "r" ? f[0] : transposed(f[0]));
  c.result(transposed(f[1]));
}
void linalg_qr_of(Composition& c) { decompose(c, c.text(1)); }
void qr_of(Composition& c) { decompose(c, c.flag(1) ? "reduced" : "complete"); }
void geqrf_of(Composition& c) {
  const auto f = reflections_columns.all(c.arg(0));
  c.result(transposed(f[0]));
  c.result(f[1]);
}

/// The product of the reflections I - tau v v^H as I - V T V^H: v is a column of V, which has ones on its diagonal and
/// zeros above, and T = (I + D S)^-1 D with D = diag(tau) and S = triu(V^H V, 1).
struct Reflections {
  Reflections(const Tensor& a, const Tensor& tau) {
    const int64_t k = tau.size(-1);
    V = tril(columns(a, 0, k), -1) + eye(a.size(-2), k, a.dtype());
    const Tensor S = triu(matmul(mH(V), V), 1) * unsqueeze(tau, -1);
    T = solve_triangular(S, diag_embed(tau), true, true, true);
  }
  Tensor V, T;
};
void check_reflections(std::string_view op, const Tensor& a, const Tensor& tau) {
  check(a.rank() >= 2, "{}: input must have at least 2 dimensions.", op);
  if (op == "torch.linalg.householder_product") {
    check(a.size(-2) >= a.size(-1), "{}: input.shape[-2] must be greater than or equal to input.shape[-1]", op);
    check(tau.rank() >= 1 && a.size(-1) >= tau.size(-1),
          "{}: input.shape[-1] must be greater than or equal to tau.shape[-1]", op);
  }
  check(a.rank() == tau.rank() + 1,
        "{}: Expected tau to have one dimension less than input, but got tau.ndim equal to {} and input.ndim is equal "
        "to {}",
        op, tau.rank(), a.rank());
  check(Dims(batch_of(a.sizes())) == Dims(Sizes(tau.sizes()).first(tau.rank() - 1)),
        "{}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got {}", op,
        listed(Sizes(tau.sizes()).first(tau.rank() - 1)));
}
void householder_product_of(Composition& c) {
  const Tensor a = c.tensor(0), tau = c.tensor(1);
  check_reflections("torch.linalg.householder_product", a, tau);
  check(a.dtype() == tau.dtype(), "torch.linalg.householder_product: tau dtype {} does not match input dtype {}",
        scalar_type_name(tau.dtype()), scalar_type_name(a.dtype()));
  check_lapack(a.dtype(), "orgqr_cpu");
  const Reflections r(a, tau);
  const Tensor first = matmul(r.T, mH(rows(r.V, 0, a.size(-1))));
  c.result(by_columns(eye(a.size(-2), a.size(-1), a.dtype()) - matmul(r.V, first)));
}
/// (self, tau, other, left, transpose)
void ormqr_of(Composition& c) {
  const Tensor a = c.tensor(0), tau = c.tensor(1), other = c.tensor(2);
  const bool left = c.flag(3), turns = c.flag(4);
  const int64_t side = left ? -2 : -1;
  check(a.rank() >= 2, "torch.ormqr: input must have at least 2 dimensions.");
  check(other.rank() >= 2, "torch.ormqr: other must have at least 2 dimensions.");
  check(tau.rank() >= 1 && other.size(side) >= tau.size(-1),
        "torch.ormqr: other.shape[{}] must be greater than or equal to tau.shape[-1]", side);
  check(other.size(side) == a.size(-2), "torch.ormqr: other.shape[{}] must be equal to input.shape[-2]", side);
  check(tau.size(-1) == std::min(other.size(side), a.size(-1)),
        "torch.ormqr: tau.shape[-1] must be equal to min(other.shape[{}], input.shape[-1])", side);
  check_reflections("torch.ormqr", a, tau);
  check(a.rank() == other.rank() && Dims(batch_of(a.sizes())) == Dims(batch_of(other.sizes())),
        "torch.ormqr: Expected batch dimensions of other to be equal to input.shape[:-2], but got {}",
        listed(batch_of(other.sizes())));
  for (const auto& [t, name] : {std::pair(tau, "tau"), std::pair(other, "other")})
    check(a.dtype() == t.dtype(),
          "torch.ormqr: Expected input and {} to have the same dtype, but input has dtype{} and {} has dtype {}", name,
          scalar_type_name(a.dtype()), name, scalar_type_name(t.dtype()));
  check_lapack(a.dtype(), "ormqr_cpu");
  const Reflections r(a, tau);
  const Tensor T = turns ? mH(r.T) : r.T;
  c.result(by_columns(left ? other - matmul(r.V, matmul(T, matmul(mH(r.V), other)))
                           : other - matmul(matmul(matmul(other, r.V), T), mH(r.V))));
}

}  // namespace

// ---- records --------------------------------------------------------------------------------------------------------
const Op qr_columns{{.name = "qr_columns",
                     .signature = "(Tensor A, str mode) -> (Tensor Q, Tensor R)",
                     .doc = "A = Q R with orthonormal columns of Q and an upper triangle R, each transposed.",
                     .example = "",
                     .flags = kHost | kComplex,
                     .shape = qr_shape,
                     .host = qr_host,
                     .gradient = qr_gradient,
                     .saved = saves_result(0) | saves_result(1),
                     .samples = {{"randn(3, 3), 'reduced'"},
                                 {"randn(2, 4, 3), 'reduced'"},
                                 {"randn(2, 4, 3).mT, 'complete'"},
                                 {"randn(4, 3), 'complete'", "float", false},
                                 {"randn(4, 3), 'r'", "float", false},
                                 {"randn(0, 3), 'reduced'"},
                                 {"randn(3, 0), 'complete'", "float", false}}}};
const Op reflections_columns{{.name = "reflections_columns",
                              .signature = "(Tensor A) -> (Tensor a, Tensor tau)",
                              .doc = "The R of A = Q R, and Q as the reflections that it is a product of, transposed.",
                              .example = "",
                              .flags = kHost | kComplex,
                              .shape = reflections_shape,
                              .host = reflections_host,
                              .gradient = no_geqrf_gradient,
                              .grad_fn = "GeqrfBackward0",
                              .samples = {{"randn(4, 3)", "float", false}, {"randn(2, 3, 4)", "float", false}}}};
const Op linalg_qr{{.name = "linalg_qr",
                    .signature = "(Tensor A, str mode='reduced') -> (Tensor Q, Tensor R)",
                    .doc = "A = Q R with orthonormal columns of Q and an upper triangle R.",
                    .example = "terra.linalg.qr(terra.eye(2)).R",
                    .flags = kLinalg,
                    .composite = linalg_qr_of,
                    .grad_fn = "LinalgQrBackward0",
                    .samples = {{"randn(4, 3)"}, {"randn(2, 3, 4), 'complete'"}}}};
const Op qr{{.name = "qr",
             .signature = "(Tensor self, bool some=True) -> (Tensor Q, Tensor R)",
             .doc = "self = Q R with orthonormal columns of Q and an upper triangle R; all columns where not `some`.",
             .example = "terra.qr(terra.eye(2)).R",
             .flags = kLinalgAndMethod,
             .composite = qr_of,
             .grad_fn = "LinalgQrBackward0",
             .samples = {{"randn(4, 3)"}, {"randn(3, 4), False"}}}};
const Op geqrf{{.name = "geqrf",
                .signature = "(Tensor self) -> (Tensor a, Tensor tau)",
                .doc = "The R of self = Q R, and below it Q as the reflections that it is a product of.",
                .example = "terra.geqrf(terra.eye(2)).tau",
                .flags = kLinalgAndMethod,
                .composite = geqrf_of,
                .grad_fn = "GeqrfBackward0",
                .samples = {{"randn(2, 4, 3)", "float", false}}}};
const Op linalg_householder_product{
    {.name = "linalg_householder_product",
     .signature = "(Tensor self, Tensor tau) -> Tensor",
     .doc = "The first columns of a product of reflections, each a column of self and a number of tau.",
     .example = "terra.linalg.householder_product(terra.eye(2), terra.zeros(2))",
     .flags = kLinalgAndMethod,
     .composite = householder_product_of,
     .aliases = "orgqr",
     .grad_fn = "LinalgHouseholderProductBackward0",
     .samples = {{"randn(4, 3), randn(3)"}, {"randn(2, 3, 3), randn(2, 2)"}, {"randn(3, 0), randn(0)"}}}};
const Op ormqr{{.name = "ormqr",
                .signature = "(Tensor self, Tensor tau, Tensor other, bool left=True, bool transpose=False) -> Tensor",
                .doc = "The product of other with the Q that geqrf tells of in self and tau.",
                .example = "terra.ormqr(terra.eye(2), terra.zeros(2), terra.ones(2, 1))",
                .flags = kLinalgAndMethod,
                .composite = ormqr_of,
                .grad_fn = "OrmqrBackward0",
                .samples = {{"randn(4, 3), randn(3), randn(4, 2)"},
                            {"randn(2, 3, 3), randn(2, 3), randn(2, 2, 3), left=False, transpose=True"}}}};

}  // namespace terra::ops
