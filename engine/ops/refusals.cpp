#include "engine/ops/refusals.h"

#include <algorithm>
#include <vector>

#include "engine/errors/errors.h"

namespace terra {
namespace {

enum Kinds : uint8_t { kOfComplex = 1, kOfBarebones = 2, kOfBoth = 3, kOfIntegers = 4, kOfNumbers = 6, kOfAll = 7 };

/// What PyTorch says where it isn't made from the op's own name. `text` is a sentence, or the name of a kernel in
/// quotation marks: "..." not implemented for 'ComplexFloat'.
struct Refusal {
  std::string_view op, text;
  ErrorKind kind = ErrorKind::NotImplementedError;
  Kinds of = kOfComplex;
};
/// The kernel that has nothing for barebones integers, for complex numbers or for any integers either if so said.
constexpr Refusal kernel(std::string_view op, std::string_view name, Kinds of = kOfBarebones) {
  return {op, name, ErrorKind::NotImplementedError, of};
}

constexpr std::string_view kNoParts =
    "Expected both inputs to be Half, Float or Double tensors but got BFloat16 and BFloat16";

constexpr Refusal kRefusals[] = {
    {"floor", "floor is not supported for complex inputs"},
    {"ceil", "ceil is not supported for complex inputs"},
    {"trunc", "trunc is not supported for complex inputs"},
    {"sign", "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead."},
    {"round", "\"round_vml_cpu\""},
    // kernels that have nothing for bools
    kernel("floor", "\"floor_vml_cpu\"", kOfIntegers),
    kernel("ceil", "\"ceil_vml_cpu\"", kOfIntegers),
    kernel("trunc", "\"trunc_vml_cpu\"", kOfIntegers),
    kernel("round", "\"round_vml_cpu\"", kOfIntegers),
    {"erf", "\"erf_vml_cpu\""},
    {"erfc", "\"erfc_vml_cpu\""},
    {"erfinv", "\"erfinv_vml_cpu\""},
    {"lgamma", "\"lgamma_vml_cpu\""},
    {"clamp", "clamp is not supported for complex types"},
    {"relu", "clamp is not supported for complex types"},
    {"maximum", "maximum not implemented for complex tensors.", ErrorKind::TypeError},
    {"minimum", "minimum not implemented for complex tensors.", ErrorKind::TypeError},
    {"argmax", "argmax(): does not support complex input", ErrorKind::TypeError},
    {"argmin", "argmin(): does not support complex input", ErrorKind::TypeError},
    kernel("amax", "\"max_values_cpu\"", kOfBoth),
    kernel("amin", "\"min_values_cpu\"", kOfBoth),
    kernel("max_all", "\"max_all\"", kOfBoth),
    kernel("min_all", "\"min_all\"", kOfBoth),
    {"max_with_index", "max(): does not support complex input", ErrorKind::TypeError},
    {"min_with_index", "min(): does not support complex input", ErrorKind::TypeError},
    {"fmax", "fmax not implemented for complex tensors.", ErrorKind::TypeError},
    {"fmin", "fmin not implemented for complex tensors.", ErrorKind::TypeError},
    {"sort", " Sort does not support complex dtypes on CPU", ErrorKind::TypeError},
    {"topk", " topk does not support complex dtypes on CPU", ErrorKind::TypeError},
    kernel("floor_divide", "\"div_floor_cpu\"", kOfBoth),
    kernel("trunc_divide", "\"div_trunc_cpu\"", kOfBoth),
    kernel("softmax", "\"softmax_lastdim_kernel_impl\"", kOfBoth),
    kernel("log_softmax", "\"log_softmax_lastdim_kernel_impl\"", kOfBoth),
    kernel("gelu", "\"GeluKernelImpl\"", kOfBoth),
    // kernels of PyTorch that have nothing for barebones integers
    kernel("sgn", "\"sign_cpu\""),
    kernel("square", "\"pow\""),
    kernel("pow", "\"pow\""),
    kernel("add", "\"add_stub\""),
    kernel("sub", "\"add_stub\""),
    kernel("rsub", "\"add_stub\""),
    kernel("bitwise_left_shift", "\"lshift_cpu\""),
    kernel("bitwise_right_shift", "\"rshift_cpu\""),
    kernel("max_with_index", "\"max_cpu\""),
    kernel("min_with_index", "\"min_cpu\""),
    kernel("nonzero", "\"nonzero_count_cpu\""),
    kernel("tril", "\"tril\""),
    kernel("triu", "\"triu\""),
    kernel("eye", "\"eye\""),
    kernel("tril_indices", "\"tril_indices\""),
    kernel("triu_indices", "\"triu_indices\""),
    kernel("trace", "\"trace\""),
    kernel("cross", "\"cross\""),
    kernel("addcmul", "\"addcmul_cpu_out\""),
    kernel("masked_fill", "\"masked_fill\""),
    kernel("masked_fill_tensor", "\"masked_fill\""),
    kernel("masked_select", "\"masked_select\""),
    kernel("masked_scatter", "\"masked_scatter\""),
    kernel("take", "\"take_cpu\""),
    kernel("put", "\"take_put_cpu\""),
    kernel("index_fill", "\"index_fill_cpu\""),
    kernel("index_fill_tensor", "\"index_fill_cpu\""),
    kernel("index_copy", "\"index_copy_cpu\""),
    kernel("index_add", "\"index_add_\""),
    kernel("index_reduce", "\"index_func_\""),
    kernel("index_put", "\"index_put\""),
    kernel("advanced_index_put", "\"index_put\""),
    kernel("index_put_masked", "\"index_put\""),
    kernel("mm", "\"addmm_impl_cpu_\""),
    kernel("addmm", "\"addmm_impl_cpu_\""),
    kernel("dot", "\"dot\""),
    kernel("bmm", "\"bmm\""),
    kernel("mv", "\"addmv_impl_cpu\""),
    kernel("addr", "\"addr_cpu\""),
    kernel("mode", "\"mode_cpu\""),
    kernel("aminmax", "\"aminmax_cpu\""),
    kernel("count_nonzero", "\"nonzero_count_cpu\""),
    kernel("heaviside", "\"heaviside_cpu\""),
    kernel("places_among", "\"searchsorted_out_cpu\""),
    kernel("lerp", "\"lerp_kernel_scalar\""),
    kernel("linear", "\"addmm_impl_cpu_\""),
    kernel("linalg_cross", "\"cross\""),
    kernel("silu", "\"silu_cpu\"", kOfNumbers),
    kernel("threshold", "\"threshold_cpu\""),
    kernel("mish", "\"mish_cpu\"", kOfNumbers),
    kernel("celu", "\"elu_cpu\""),
    kernel("max_pool2d", "\"max_pool2d\""),
    kernel("max_pool2d_with_indices", "\"max_pool2d\""),
    kernel("avg_pool2d", "\"avg_pool2d\""),
    kernel("conv1d", "\"slow_conv2d_cpu\""),
    kernel("conv2d", "\"slow_conv2d_cpu\""),
    kernel("conv3d", "\"compute_columns3d\""),
    kernel("layer_norm", "\"LayerNormKernelImpl\"", kOfNumbers),
    kernel("group_norm", "\"GroupNormKernelImpl\"", kOfNumbers),
    kernel("batch_norm", "\"batch_norm\"", kOfNumbers),
    {"complex", kNoParts, ErrorKind::NotImplementedError, kOfBarebones},
    {"polar", kNoParts, ErrorKind::NotImplementedError, kOfBarebones},
    // composites
    {"deg2rad", "deg2rad is not supported for complex tensors."},
    {"rad2deg", "rad2deg is not supported for complex tensors."},
    {"kl_div", "kl_div: Complex inputs not supported.", ErrorKind::RuntimeError},
    {"logit", "\"logit_cpu\""},
    {"special_log_ndtr", "\"log_ndtr_cpu\""},
    {"polygamma", "\"polygamma\""},
    {"polygamma_method", "\"polygamma\""},
    kernel("glu", "\"glu_cpu\"", kOfAll),
    kernel("hardshrink", "\"hardshrink_cpu\"", kOfBoth),
    {"softshrink", "\"softshrink_cpu\""},
    kernel("logsigmoid", "\"log_sigmoid_cpu\"", kOfAll),
    kernel("mse_loss", "\"mse_cpu\"", kOfAll),
    kernel("huber_loss", "\"huber_cpu\"", kOfAll),
    kernel("smooth_l1_loss", "\"smooth_l1_cpu\"", kOfAll),
    kernel("binary_cross_entropy", "\"binary_cross_entropy\"", kOfBoth),
    {"binary_cross_entropy_with_logits", "\"log_sigmoid_cpu\""},
    {"kthvalue", "\"kthvalue_cpu\""},
    {"median_all", "\"median_cpu\""},
    {"median_with_index", "\"median_cpu\""},
    {"unique", "\"unique\""},
    {"unique_inverse", "\"unique\""},
    {"unique_counts", "\"unique\""},
    {"unique_inverse_counts", "\"unique\""},
    kernel("bincount", "\"bincount_cpu\"", kOfBoth),
};

/// Kernels that have nothing for barebones integers have nothing for bcomplex32.
Kinds kind_in(DType dtype) {
  if (is_complex(dtype) && dtype != DType::BC32) return kOfComplex;
  return is_barebones(dtype) || is_complex(dtype) ? kOfBarebones : kOfIntegers;
}

/// Results are elements of operands, as they are.
bool chooses(const Op& op) { return op.name == "where" || op.name == "masked_fill" || op.name == "masked_fill_tensor"; }

/// What is listed for the op; null if nothing is.
const Refusal* row_of(const Op& op, DType dtype) {
  const auto* row = std::find_if(std::begin(kRefusals), std::end(kRefusals),
                                 [&](const Refusal& r) { return r.op == op.name && (r.of & kind_in(dtype)); });
  return row == std::end(kRefusals) ? nullptr : row;
}

/// The kernel that a row names.
std::string unquoted(const Refusal& row) { return std::string(row.text.substr(1, row.text.size() - 2)); }

}  // namespace

bool takes(const Op& op, DType dtype) {
  if (dtype == DType::BC32) return op.is(kView | kMovesBytes) || op.composite || chooses(op);
  if (is_complex(dtype)) return op.is(kComplex | kView | kMovesBytes) || (op.composite && !row_of(op, dtype));
  if (op.is(kBarebones | kView | kRandom)) return true;  // what is drawn has a dtype that the draw checks
  return (op.composite || op.is(kMovesBytes)) && !row_of(op, dtype);
}

void refuse(const Op& op, DType dtype) {
  const Refusal* row = row_of(op, dtype);
  if (row && !row->text.starts_with('"')) fail(row->kind, "{}", row->text);
  fail(ErrorKind::NotImplementedError, "\"{}\" not implemented for '{}'", row ? unquoted(*row) : kernel_name_of(op),
       scalar_type_name(dtype));
}

bool refuses_integers(const Op& op) {
  static const std::vector<bool> by_id = [] {
    std::vector<bool> refuses;
    for (const Op* each : all_ops()) refuses.push_back(each->composite && row_of(*each, DType::I64));
    return refuses;
  }();
  return static_cast<size_t>(op.id) < by_id.size() && by_id[static_cast<size_t>(op.id)];
}

std::string kernel_name_of(const Op& op) {
  const auto* row = std::find_if(std::begin(kRefusals), std::end(kRefusals),
                                 [&op](const Refusal& r) { return r.op == op.name && r.text.front() == '"'; });
  return row == std::end(kRefusals) ? fmt::format("{}_cpu", op.name) : unquoted(*row);
}

}  // namespace terra
