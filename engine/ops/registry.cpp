#include "engine/ops/registry.h"

#include "engine/errors/errors.h"
#include "engine/ops/activation.h"
#include "engine/ops/arrange.h"
#include "engine/ops/attention.h"
#include "engine/ops/binary.h"
#include "engine/ops/columns.h"
#include "engine/ops/compare.h"
#include "engine/ops/complex.h"
#include "engine/ops/conv.h"
#include "engine/ops/convert.h"
#include "engine/ops/creation.h"
#include "engine/ops/ctc.h"
#include "engine/ops/distances.h"
#include "engine/ops/fourier.h"
#include "engine/ops/index.h"
#include "engine/ops/linalg.h"
#include "engine/ops/loss.h"
#include "engine/ops/matmul.h"
#include "engine/ops/norm.h"
#include "engine/ops/numbers.h"
#include "engine/ops/optimizer.h"
#include "engine/ops/order.h"
#include "engine/ops/placing.h"
#include "engine/ops/pool.h"
#include "engine/ops/products.h"
#include "engine/ops/quantile.h"
#include "engine/ops/random.h"
#include "engine/ops/random_families.h"
#include "engine/ops/recurrent.h"
#include "engine/ops/reduce.h"
#include "engine/ops/resample.h"
#include "engine/ops/running.h"
#include "engine/ops/search.h"
#include "engine/ops/select.h"
#include "engine/ops/shape.h"
#include "engine/ops/sparse.h"
#include "engine/ops/special.h"
#include "engine/ops/split.h"
#include "engine/ops/statistics.h"
#include "engine/ops/unary.h"
#include "engine/ops/view.h"

namespace terra {

/// A linker takes an object out of a static library only for a symbol that somebody names, so one op of each family is
/// named here.
void register_all_ops() {
  const Op* const one_of_each_family[] = {
      &ops::add,
      &ops::cat,
      &ops::conv2d,
      &ops::cumsum,
      &ops::eq,
      &ops::exp,
      &ops::full,
      &ops::index,
      &ops::layer_norm,
      &ops::mm,
      &ops::mse_loss,
      &ops::rand,
      &ops::relu,
      &ops::avg_pool2d,
      &ops::sum,
      &ops::to_dtype,
      &ops::sgd_update,
      &ops::view,
      &ops::where,
      &ops::cosine_similarity,
      &ops::split,
      &ops::lgamma,
      &ops::poisson,
      &ops::linalg_lu,
      &ops::linalg_cholesky,
      &ops::linalg_solve,
      &ops::linalg_qr,
      &ops::linalg_svd,
      &ops::linalg_det,
      &ops::linalg_norm,
      &ops::linalg_cross,
      &ops::complex,
      &ops::fft_c2c,
      &ops::linalg_polar,
      &ops::linalg_lstsq,
      &ops::linalg_pinv,
      &ops::cov,
      &ops::im2col,
      &ops::resample,
      &ops::ctc_loss_each,
      &ops::lstm_layer,
      &ops::max_pool3d,
      &ops::asinh,
      &ops::cummax,
      &ops::scatter_reduce,
      &ops::searchsorted,
      &ops::kron,
      &ops::quantile,
      &ops::renorm,
      &ops::distances,
      &ops::bessel_function,
      &ops::orthogonal_polynomial,
      &ops::coo_mm,
  };
  for (const Op* op : one_of_each_family) ensure(find_op(op->name) == op, "the ops of every family are registered");
}

}  // namespace terra
