// Linear algebra: the ops behind terra.linalg and its old forms. matrices.h says what they share.
#pragma once
#include "engine/ops/op.h"

namespace terra::ops {

// linalg_lu.cpp
extern const Op lu_columns, pivots_permutation;
extern const Op linalg_lu_factor_ex, linalg_lu_factor, linalg_lu, linalg_lu_solve, lu_solve, lu_unpack;
// linalg_cholesky.cpp
extern const Op cholesky_columns, cholesky_inverse_lower, cholesky_solve_columns, ldl_columns, ldl_solve_columns;
extern const Op linalg_cholesky_ex, linalg_cholesky, cholesky, cholesky_solve, cholesky_inverse;
extern const Op linalg_ldl_factor_ex, linalg_ldl_factor, linalg_ldl_solve;
// linalg_solve.cpp
extern const Op solve_columns, inverse_columns, triangular_columns;
extern const Op linalg_solve_ex, linalg_solve, linalg_inv_ex, linalg_inv, linalg_solve_triangular, triangular_solve;
extern const Op linalg_tensorinv, linalg_tensorsolve;
// linalg_lstsq.cpp
extern const Op least_squares_columns, linalg_lstsq;
// linalg_qr.cpp
extern const Op qr_columns, reflections_columns;
extern const Op linalg_qr, qr, geqrf, linalg_householder_product, ormqr;
// linalg_spectral.cpp
extern const Op svd_columns, singular_values, eigh_columns, eigenvalues;
extern const Op linalg_svd, svd, linalg_svdvals, linalg_eigh, linalg_eigvalsh;
// linalg_eig.cpp
extern const Op eig_columns, general_eigenvalues, free_of_phases, linalg_eig, linalg_eigvals;
// linalg_pinv.cpp
extern const Op pseudoinverse, linalg_pinv, linalg_pinv_rcond, pinverse;
extern const Op linalg_matrix_rank, linalg_matrix_rank_tol;
// linalg_roots.cpp
extern const Op lyapunov, linalg_matrix_sqrth, linalg_polar;
// linalg_power.cpp
extern const Op linalg_det, cofactors, linalg_slogdet, slogdet, logdet, matrix_exponential, linalg_matrix_exp,
    linalg_matrix_power, linalg_multi_dot;
// linalg_norm.cpp
extern const Op linalg_vector_norm, linalg_matrix_norm, linalg_matrix_norm_named, linalg_norm, linalg_norm_named;
extern const Op linalg_cond, linalg_cond_named;
// linalg_vectors.cpp
extern const Op linalg_cross, cross, linalg_vecdot, linalg_diagonal, linalg_vander, vander, trace, cdist;

/// X of A X = B, or of X A = B where not `left`, for a triangular A of the same batch as B.
Tensor solve_triangular(const Tensor& a, const Tensor& b, bool upper, bool left = true, bool unit = false);
/// The gradient by A of what depends on A's pseudoinverse, from that by the pseudoinverse.
Tensor pinv_pullback(const Tensor& a, const Tensor& inverse, const Tensor& gradient);

}  // namespace terra::ops
