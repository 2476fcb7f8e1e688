#include "engine/ops/rules.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "engine/ops/convert.h"
#include "engine/ops/view.h"
#include "engine/tensor/transfer.h"
#include "kernels/abi/element.h"

namespace terra {

std::string_view c_type_name(DType dtype) {
  static constexpr std::string_view kNames[kDTypeCount] = {"bool",
                                                           "unsigned char",
                                                           "signed char",
                                                           "short int",
                                                           "int",
                                                           "long int",
                                                           "short unsigned int",
                                                           "unsigned int",
                                                           "long unsigned int",
                                                           "c10::Half",
                                                           "c10::BFloat16",
                                                           "float",
                                                           "double",
                                                           "c10::complex<c10::Half>",
                                                           "c10::complex<c10::BFloat16>",
                                                           "c10::complex<float>",
                                                           "c10::complex<double>"};
  return kNames[static_cast<int>(dtype)];
}

namespace rules {

void elementwise(Inference& f) {
  const size_t params = f.op.sig().params.size();
  Dims sizes(f.sizes(0));
  for (size_t i = 1; i < params; ++i) {
    if (!f.arg(i).is_tensor()) continue;
    const Dims& other = f.impl(i).sizes;
    if (!(other == sizes)) sizes = broadcast_sizes(sizes, other);
  }
  f.result(f.op.is(kCompares) ? DType::Bool : f.common, std::move(sizes));
}

void check_any_tensor(Inference& f) {
  check_kind(f.arg(0).is_tensor() || f.arg(1).is_tensor(), ErrorKind::TypeError,
             "{}() received an invalid combination of arguments: at least one of the two operands must be a Tensor",
             f.op.name);
}

void elementwise_integral(Inference& f) {
  check_kind(!is_inexact(f.common), ErrorKind::NotImplementedError, "\"{}_cpu\" not implemented for '{}'", f.op.name,
             scalar_type_name(f.common));
  elementwise(f);
}

void check_bounds(Inference& f) {
  if (!is_integral(f.common)) return;
  const auto look = [&f](int param, std::string_view name, bool lower) {
    if (!f.has(param) || f.arg(param).is_tensor()) return;
    const Scalar& bound = f.arg(param).scalar();
    if (is_within(bound, f.common) || lower == (bound.to_double() < 0)) return;
    const std::string text = bound.kind() == Scalar::Kind::Unsigned ? fmt::format("{:g}", bound.to_double())
                                                                    : fmt::format("{}", bound.to_int());
    fail(ErrorKind::RuntimeError, "Clamp {} value {} is outside the representable range of {}", name, text,
         scalar_type_name(f.common));
  };
  look(1, "min", true);
  look(2, "max", false);
}

void like_first(Inference& f) { f.result(f.dtype(0), Dims(f.sizes(0))); }

}  // namespace rules

uint64_t dim_mask(std::span<const int64_t> dims, size_t rank) {
  if (dims.empty()) return ~uint64_t{0};
  uint64_t mask = 0;
  for (int64_t d : dims) {
    const uint64_t bit = uint64_t{1} << wrap_dim(d, rank);
    check((mask & bit) == 0, "dim {} appears multiple times in the list of dims", wrap_dim(d, rank));
    mask |= bit;
  }
  return mask;
}

uint64_t dim_mask(const Arg& dims, size_t rank) {
  if (dims.is_none()) return ~uint64_t{0};
  if (dims.kind() == Arg::Kind::Scalar) return uint64_t{1} << wrap_dim(dims.scalar().to_int(), rank);
  return dim_mask(dims.ints(), rank);
}

Dims reduced_sizes(std::span<const int64_t> sizes, uint64_t mask, bool keepdim) {
  Dims out;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool reduced = mask >> i & 1;
    if (!reduced)
      out.push_back(sizes[i]);
    else if (keepdim)
      out.push_back(1);
  }
  return out;
}

Tensor restore_dims(const Tensor& t, const Arg& dims, const Dims& sizes, bool keepdim) {
  if (keepdim || sizes.empty()) return t;
  const uint64_t mask = dim_mask(dims, sizes.size());
  return ops::view(t, reduced_sizes(sizes, mask, true));
}

namespace {

/// The C++ type of elements, as PyTorch's message about numbers that don't fit names it.
std::string_view element_type(DType dtype) {
  static constexpr std::string_view kNames[kDTypeCount] = {"bool",    "uint8_t",  "int8_t",   "int16_t",  "int",
                                                           "int64_t", "uint16_t", "uint32_t", "uint64_t", "double",
                                                           "double",  "float",    "double"};
  return kNames[static_cast<int>(dtype)];
}

}  // namespace

void check_holds(const Scalar& value, DType dtype) {
  check(is_complex(dtype) || dtype == DType::Bool || value.imag() == 0,
        "value cannot be converted to type {} without overflow", element_type(dtype));
  check(!is_out_of_range(value, dtype), "value cannot be converted to type {} without overflow", element_type(dtype));
}

bool is_out_of_range(const Scalar& value, DType dtype) {
  const double number = value.to_double();
  if (dtype == DType::F32) return std::isfinite(number) && std::abs(number) > std::numeric_limits<float>::max();
  if (!is_integral(dtype)) return false;
  const double beyond = greatest_of(dtype).to_double() + 1;
  if (value.is_float()) return !(number >= least_of(dtype).to_double() && number < beyond);
  if (size_of(dtype) == sizeof(uint64_t)) return is_signed(dtype) && value.kind() == Scalar::Kind::Unsigned;
  return is_signed(dtype) ? !is_within(value, dtype) : std::abs(number) >= beyond;  // negative ones wrap around
}

void check_has_kernel(std::string_view kernel, DType dtype) {
  check_kind(dtype != DType::Bool && !is_barebones(dtype), ErrorKind::NotImplementedError,
             "\"{}\" not implemented for '{}'", kernel, scalar_type_name(dtype));
}

void check_room(std::span<const int64_t> sizes, DType dtype) { Tensor::empty(sizes, dtype, current_device()); }

Scalar known_number(const Tensor& t) {
  ensure(!t->is_symbolic(), "a result depends on the values of a tensor that isn't computed yet");
  ensure(t.numel() == 1, "a tensor of one element is read as a number");
  check(!t.device().is_meta(), "Tensor.item() cannot be called on meta tensors");
  return load_element(to_host(t)->data(), t.dtype());
}

}  // namespace terra
