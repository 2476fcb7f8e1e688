// What PyTorch says of ops that have no meaning for complex numbers, where it isn't made from the op's own name.
#include <algorithm>

#include "engine/errors/errors.h"
#include "engine/ops/complex.h"

namespace terra {
namespace {

/// `text` is a sentence, or the name of a kernel in quotation marks: "..." not implemented for 'ComplexFloat'.
struct Refusal {
  std::string_view op, text;
  ErrorKind kind = ErrorKind::NotImplementedError;
};

constexpr Refusal kRefusals[] = {
    {"floor", "floor is not supported for complex inputs"},
    {"ceil", "ceil is not supported for complex inputs"},
    {"trunc", "trunc is not supported for complex inputs"},
    {"sign", "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead."},
    {"round", "\"round_vml_cpu\""},
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
    {"amax", "\"max_values_cpu\""},
    {"amin", "\"min_values_cpu\""},
    {"max_all", "\"max_all\""},
    {"min_all", "\"min_all\""},
    {"max_with_index", "max(): does not support complex input", ErrorKind::TypeError},
    {"min_with_index", "min(): does not support complex input", ErrorKind::TypeError},
    {"fmax", "fmax not implemented for complex tensors.", ErrorKind::TypeError},
    {"fmin", "fmin not implemented for complex tensors.", ErrorKind::TypeError},
    {"sort", " Sort does not support complex dtypes on CPU", ErrorKind::TypeError},
    {"topk", " topk does not support complex dtypes on CPU", ErrorKind::TypeError},
    {"floor_divide", "\"div_floor_cpu\""},
    {"trunc_divide", "\"div_trunc_cpu\""},
    {"softmax", "\"softmax_lastdim_kernel_impl\""},
    {"log_softmax", "\"log_softmax_lastdim_kernel_impl\""},
    {"gelu", "\"GeluKernelImpl\""},
    // composites
    {"deg2rad", "deg2rad is not supported for complex tensors."},
    {"rad2deg", "rad2deg is not supported for complex tensors."},
    {"kl_div", "kl_div: Complex inputs not supported.", ErrorKind::RuntimeError},
    {"logit", "\"logit_cpu\""},
    {"special_log_ndtr", "\"log_ndtr_cpu\""},
    {"polygamma", "\"polygamma\""},
    {"polygamma_method", "\"polygamma\""},
    {"glu", "\"glu_cpu\""},
    {"hardshrink", "\"hardshrink_cpu\""},
    {"softshrink", "\"softshrink_cpu\""},
    {"logsigmoid", "\"log_sigmoid_cpu\""},
    {"mse_loss", "\"mse_cpu\""},
    {"huber_loss", "\"huber_cpu\""},
    {"smooth_l1_loss", "\"smooth_l1_cpu\""},
    {"binary_cross_entropy", "\"binary_cross_entropy\""},
    {"binary_cross_entropy_with_logits", "\"log_sigmoid_cpu\""},
    {"kthvalue", "\"kthvalue_cpu\""},
    {"median_all", "\"median_cpu\""},
    {"median_with_index", "\"median_cpu\""},
    {"unique", "\"unique\""},
    {"unique_inverse", "\"unique\""},
    {"unique_counts", "\"unique\""},
    {"unique_inverse_counts", "\"unique\""},
    {"bincount", "\"bincount_cpu\""},
};

const Refusal* row_of(const Op& op) {
  const auto* row =
      std::find_if(std::begin(kRefusals), std::end(kRefusals), [&](const Refusal& r) { return r.op == op.name; });
  return row == std::end(kRefusals) ? nullptr : row;
}

}  // namespace

bool is_known_to_refuse_complex(const Op& op) { return row_of(op) != nullptr; }

void refuse_complex(const Op& op, DType dtype) {
  const Refusal* row = row_of(op);
  const bool listed = row != nullptr;
  if (listed && !row->text.starts_with('"')) fail(row->kind, "{}", row->text);
  const std::string kernel = listed ? std::string(row->text) : fmt::format("\"{}_cpu\"", op.name);
  fail(ErrorKind::NotImplementedError, "{} not implemented for '{}'", kernel, scalar_type_name(dtype));
}

}  // namespace terra
