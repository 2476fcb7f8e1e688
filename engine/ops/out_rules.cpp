#include "engine/ops/out_rules.h"

#include <algorithm>

#include "engine/errors/errors.h"
#include "engine/ops/call.h"
#include "engine/ops/overlap.h"
#include "engine/ops/rules.h"

namespace terra {
namespace {

/// Sentences about a dtype that isn't the result's: {0} and {1} are what was expected and what was given, {2} and {3}
/// the same as C++ names them.
constexpr std::string_view kAnyDType = "", kExpected = "Expected out tensor to have dtype {2}, but got {3} instead",
                           kFound = "Found dtype {1} but expected {0}",
                           kScalars = "Expected object of scalar type {0} but got scalar type {1} for argument 'out'",
                           kOnlyBool = "{4} does not support non-boolean outputs.",
                           kSelfAndOut =
                               "{4}(): self and out expected to have the same dtype, but got self.dtype = "
                               "{0} and out.dtype = {1}",
                           kSelfAndResult = "{4}(): self and result must have the same scalar type";

struct OutRule {
  std::string_view op;
  std::string_view dtype;  ///< what is said of another dtype than the result's; empty: it is converted
  bool apart = false;      ///< may share no memory with an operand
};

constexpr OutRule kOutRules[] = {
    {"abs", kFound},
    {"addbmm", kExpected},
    {"addmm", kExpected},
    {"addmv", kExpected},
    {"all", "all only supports bool tensor for result, got: {1}"},
    {"any", "any only supports bool tensor for result, got: {1}"},
    {"argmax", kExpected},
    {"argmin", kExpected},
    {"avg_pool2d", kExpected},
    {"baddbmm", kExpected},
    {"bmm", kExpected},
    {"bucketize", "searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64)"},
    {"cat", kAnyDType, true},
    {"ceil", kFound},
    {"complex", kScalars},
    {"cross", kExpected, true},
    {"diag", kExpected},
    {"floor", kFound},
    {"frac", kFound},
    {"gather", kExpected, true},
    {"gelu", kFound},
    {"hardshrink", kFound},
    {"index_add", kExpected},
    {"index_copy", kExpected},
    {"index_reduce", kExpected},
    {"index_select", kSelfAndResult, true},
    {"isneginf", kOnlyBool},
    {"isposinf", kOnlyBool},
    {"kthvalue", "output values must be of same type as input", true},
    {"linalg_cholesky", kExpected},
    {"linalg_cross", kExpected, true},
    {"linalg_det", kExpected},
    {"linalg_eigvalsh", kExpected},
    {"linalg_inv", kExpected},
    {"linalg_solve", kExpected},
    {"linalg_svdvals", kExpected},
    {"linalg_vector_norm", kExpected},
    {"log_softmax", kExpected},
    {"masked_select", kSelfAndResult, true},
    {"max_with_index", kExpected},
    {"median_with_index", kAnyDType, true},
    {"min_with_index", kExpected},
    {"mm", kExpected},
    {"mode", kAnyDType, true},
    {"msort", kExpected},
    {"multinomial", "multinomial expects {0} tensor out, got: {1}"},
    {"neg", kFound},
    {"nonzero", "nonzero: Expected out tensor to have scalar type {0} but got scalar type {1}"},
    {"outer", kAnyDType, true},
    {"polar", kScalars},
    {"renorm", kExpected},
    {"round", kFound},
    {"round_decimals", kFound},
    {"scatter", kExpected},
    {"scatter_add", kExpected},
    {"scatter_reduce", kExpected},
    {"searchsorted", "searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64)"},
    {"sgn", kFound},
    {"sign", kFound},
    {"signbit", kOnlyBool},
    {"softmax", kExpected},
    {"softplus", kFound},
    {"softshrink", kFound},
    {"sort", kExpected},
    {"stack", kAnyDType, true},
    {"take", kSelfAndOut, true},
    {"take_along_dim", kExpected, true},
    {"topk", kExpected, true},
    {"tril", kExpected},
    {"triu", kExpected},
    {"trunc", kFound},
};

static_assert(std::ranges::is_sorted(kOutRules, {}, &OutRule::op));

const OutRule* rule_of(const Op& op) {
  const auto* row = std::ranges::lower_bound(kOutRules, op.name, {}, &OutRule::op);
  return row != std::end(kOutRules) && row->op == op.name ? row : nullptr;
}

}  // namespace

std::vector<std::string_view> ops_with_out_rules() {
  std::vector<std::string_view> names;
  for (const OutRule& rule : kOutRules) names.push_back(rule.op);
  return names;
}

void check_out_history(const Op& op, std::string_view name, std::span<const Arg> args, const Tensor& out) {
  if (!grad_enabled()) return;
  bool any = out.requires_grad();
  if (op.gradient || (op.composite && !op.is(kNoGradient)))
    each_tensor(args, [&any](const TensorImpl& t) { any = any || t.requires_grad(); });
  check(!any,
        "{}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
        "requires grad.",
        name);
}

void check_out_memory(const Op& op, std::span<const Arg> args, const Tensor& out) {
  check_distinct_elements(out);
  if (const OutRule* rule = rule_of(op); rule && rule->apart)
    return each_tensor(args, [&](const TensorImpl& t) { check_apart(out, t); });
  if (op.is(kInPlace | kElementwise) && !op.is(kReadsFirst | kScatters))
    each_tensor(args, [&](const TensorImpl& t) { check_not_shifted(out, t); });
}

void check_out_dtype(const Op& op, DType result, DType out) {
  const OutRule* rule = rule_of(op);
  if (result == out || !rule || rule->dtype.empty()) return;
  fail(ErrorKind::RuntimeError, "{}",
       fmt::format(fmt::runtime(rule->dtype), scalar_type_name(result), scalar_type_name(out), c_type_name(result),
                   c_type_name(out), op.name));
}

}  // namespace terra
