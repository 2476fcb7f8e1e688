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
    {"max_with_index", "\"max_cpu\""},
    {"min_with_index", "\"min_cpu\""},
    {"sort", " Sort does not support complex dtypes on CPU", ErrorKind::TypeError},
    {"topk", " topk does not support complex dtypes on CPU", ErrorKind::TypeError},
    {"floor_divide", "\"div_floor_cpu\""},
    {"trunc_divide", "\"div_trunc_cpu\""},
    {"softmax", "\"softmax_lastdim_kernel_impl\""},
    {"log_softmax", "\"log_softmax_lastdim_kernel_impl\""},
    {"gelu", "\"GeluKernelImpl\""},
    {"unique_rows", "\"unique\""},
};

}  // namespace

void refuse_complex(const Op& op, DType dtype) {
  const auto* row =
      std::find_if(std::begin(kRefusals), std::end(kRefusals), [&](const Refusal& r) { return r.op == op.name; });
  const bool listed = row != std::end(kRefusals);
  if (listed && !row->text.starts_with('"')) fail(row->kind, "{}", row->text);
  const std::string kernel = listed ? std::string(row->text) : fmt::format("\"{}_cpu\"", op.name);
  fail(ErrorKind::NotImplementedError, "{} not implemented for '{}'", kernel, scalar_type_name(dtype));
}

}  // namespace terra
