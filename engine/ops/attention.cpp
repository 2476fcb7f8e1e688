#include "engine/ops/attention.h"

#include <cmath>
#include <limits>

#include "engine/ops/activation.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/compare.h"
#include "engine/ops/creation.h"
#include "engine/ops/matmul.h"
#include "engine/ops/random.h"
#include "engine/ops/reduce.h"
#include "engine/ops/rules.h"
#include "engine/ops/select.h"
#include "engine/ops/shape.h"
#include "engine/ops/view.h"

namespace terra::ops {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The weights of a query that may look at nothing are zeros.
Tensor masked_softmax(const Tensor& scores) {
  const Tensor nothing = eq(amax(detach(scores), Dims{-1}, true), -kInfinity);
  return where(nothing, 0.0, softmax(scores, -1));
}

Tensor repeated_heads(const Tensor& t, int64_t heads) {
  return t.size(-3) == heads ? t : repeat_interleave(t, heads / std::max<int64_t>(t.size(-3), 1), -3);
}

void attention_of(Composition& c) {
  const Tensor query = c.tensor(0), mask = c.tensor(3);
  Tensor key = c.tensor(1), value = c.tensor(2);
  const bool causal = c.flag(5);
  check(query.rank() >= 2 && key.rank() >= 2 && value.rank() >= 2,
        "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: {} key.dim: {} and "
        "value.dim: {} instead.",
        query.rank(), key.rank(), value.rank());
  check(query.dtype() == key.dtype() && query.dtype() == value.dtype(),
        "Expected query, key, and value to have the same dtype, but got query.dtype: {} key.dtype: {} and value.dtype: "
        "{} instead.",
        c_type_name(query.dtype()), c_type_name(key.dtype()), c_type_name(value.dtype()));
  check(!mask.defined() || mask.dtype() == DType::Bool || mask.dtype() == DType::F32 || mask.dtype() == query.dtype(),
        "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: {} and  "
        "query.dtype: {} instead.",
        mask.defined() ? c_type_name(mask.dtype()) : "", c_type_name(query.dtype()));
  check(!causal || !mask.defined(),
        "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True");
  check(c.real(4) >= 0 && c.real(4) <= 1, "dropout probability has to be between 0 and 1, but got {}", c.real(4));
  if (c.flag(7)) {
    check(query.rank() >= 3 && key.rank() >= 3 && value.rank() >= 3,
          "scaled_dot_product_attention: enable_gqa=True expects query, key and value with a dimension of heads");
    check(query.size(-3) % std::max<int64_t>(key.size(-3), 1) == 0 &&
              query.size(-3) % std::max<int64_t>(value.size(-3), 1) == 0,
          "Number of heads in key and value must divide the number of heads in query");
    key = repeated_heads(key, query.size(-3));
    value = repeated_heads(value, query.size(-3));
  }
  const Arg scale = c.has(6) ? c.arg(6) : Arg(1.0 / std::sqrt(static_cast<double>(query.size(-1))));
  Tensor scores = mul(matmul(query, transpose(key, -2, -1)), scale);
  if (causal) {
    const Tensor seen = tril(ones(Dims{query.size(-2), key.size(-2)}, DType::Bool));
    scores = where(seen, scores, -kInfinity);
  } else if (mask.defined()) {
    scores = mask.dtype() == DType::Bool ? where(mask, scores, -kInfinity) : scores + mask;
  }
  Tensor weights = mask.defined() ? masked_softmax(scores) : softmax(scores, -1);
  if (c.real(4) > 0) weights = dropout(weights, c.arg(4));
  c.result(matmul(weights, value));
}

/// A length, at least eps: its gradient is that of the length, however short that is.
Tensor length_at_least(const Tensor& x, int64_t dim, const Arg& eps) {
  const Tensor length = norm(x, 2.0, Dims{dim}, true);
  return length + clamp(sub(eps, detach(length)), 0.0);
}
void cosine_similarity_of(Composition& c) {
  const Tensor x = c.tensor(0), y = c.tensor(1);
  check(is_floating(x.dtype()) && is_floating(y.dtype()),
        "expected common dtype to be floating point, yet common dtype is {}",
        scalar_type_name(is_floating(x.dtype()) ? y.dtype() : x.dtype()));
  const auto pair = broadcast_tensors.all(std::vector{x, y});
  const int64_t dim = c.integer(2);
  const Arg& eps = c.arg(3);
  c.result(
      sum((pair[0] / length_at_least(pair[0], dim, eps)) * (pair[1] / length_at_least(pair[1], dim, eps)), Dims{dim}));
}

std::string_view attention_name(std::span<const Arg> args) {
  const bool weighs_as_given = args[0].tensor().rank() == 4 && args[4].scalar().to_double() == 0;
  return weighs_as_given ? "ScaledDotProductFlashAttentionForCpuBackward0" : "";
}

}  // namespace

const Op scaled_dot_product_attention{
    {.name = "scaled_dot_product_attention",
     .signature = "(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, bool "
                  "is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
     .doc = "softmax(query key^T * scale + mask) value over the last two dimensions.",
     .example =
         "terra.nn.functional.scaled_dot_product_attention(terra.ones(2, 3), terra.ones(2, 3), terra.ones(2, 3))",
     .flags = kFunctional,
     .composite = attention_of,
     .grad_fn_of = attention_name,
     .samples = {{"randn(2, 3, 4), randn(2, 5, 4), randn(2, 5, 3)"},
                 {"randn(3, 4), randn(3, 4), randn(3, 2), is_causal=True, scale=0.3"},
                 {"randn(3, 4), randn(2, 4), randn(2, 4), randn(3, 2)"},
                 {"randn(3, 4), randn(2, 4), randn(2, 4), terra.tensor([[True, False], [False, False], [True, True]])"},
                 {"randn(4, 3, 2), randn(2, 3, 2), randn(2, 3, 2), enable_gqa=True"}}}};
const Op cosine_similarity{{.name = "cosine_similarity",
                            .signature = "(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor",
                            .doc = "The cosine of the angle between vectors along dim.",
                            .example = "terra.cosine_similarity(terra.ones(1, 2), terra.ones(1, 2))",
                            .flags = kFunction | kFunctional,
                            .composite = cosine_similarity_of,
                            .samples = {{"randn(3, 4), randn(3, 4)"}, {"randn(4), randn(3, 4), -1, 0.5"}}}};

}  // namespace terra::ops
