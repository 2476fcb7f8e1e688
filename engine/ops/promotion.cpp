// PyTorch's dtype promotion.
#include "engine/ops/call.h"

#include <optional>

#include "engine/errors/errors.h"

namespace terra {
namespace {

DType default_dtype_value = DType::F32;

bool is_signed_int(DType t) { return t >= DType::I8 && t <= DType::I64; }

/// What a Python number of that dtype counts as.
DType dtype_of_number(DType t) {
  return is_complex(t) ? default_complex_dtype() : is_floating(t) ? default_dtype() : t;
}

/// What operands of one kind (with dimensions, 0-d, Python numbers) have agreed on.
struct Category {
  std::optional<DType> dtype;
  void add(DType t) { dtype = dtype ? promote_types(*dtype, t) : t; }
};

/// Operands of the higher category decide, unless the lower ones are of a higher kind (int with float). Of a float with
/// complex numbers of a lower category only the kind counts.
std::optional<DType> combine(std::optional<DType> higher, std::optional<DType> lower) {
  if (!higher) return lower;
  if (!lower || kind_of(*higher) >= kind_of(*lower)) return higher;
  if (is_floating(*higher)) return complex_dtype_of(*higher);
  return is_bool(*higher) ? promote_types(*higher, *lower) : lower;
}

}  // namespace

DType default_dtype() { return default_dtype_value; }
DType default_complex_dtype() {
  return default_dtype_value == DType::BF16 ? DType::C64 : complex_dtype_of(default_dtype_value);
}
void set_default_dtype(DType dtype) {
  settle_deferred_work();  // of numbers that stand alone
  default_dtype_value = dtype;
}

DType promote_types(DType a, DType b) {
  if (a == b) return a;
  if (is_barebones(a) || is_barebones(b)) {
    check(is_floating(a) || is_floating(b),
          "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote {} and {}",
          scalar_type_name(a), scalar_type_name(b));
    return is_floating(a) ? a : b;
  }
  if (a > b) std::swap(a, b);  // bool < u8 < signed ints < f16 < bf16 < f32 < f64 < c32 < bc32 < c64 < c128
  if (a == DType::U8 && is_signed_int(b)) return b == DType::I8 ? DType::I16 : b;
  if (a == DType::F16 && b == DType::BF16) return DType::F32;
  if (is_complex(b) && a == DType::F64) return DType::C128;
  if (is_complex(b) && is_half(b) && is_inexact(a) && a != real_dtype_of(b)) return DType::C64;
  return b;
}

DType result_type(std::span<const Arg> operands) {
  Category with_dims, zero_dim, number;
  for (const Arg& a : operands) {
    if (a.is_tensor()) {
      const TensorImpl& t = *a.impl();
      if (t.wrapped_number)
        number.add(dtype_of_number(t.dtype));
      else
        (t.sizes.empty() ? zero_dim : with_dims).add(t.dtype);
    } else if (a.kind() == Arg::Kind::Scalar) {
      number.add(dtype_of_number(a.scalar().dtype()));
    } else if (a.kind() == Arg::Kind::TensorList) {
      for (const Tensor& t : a.tensors())
        if (t.defined()) (t.sizes().empty() ? zero_dim : with_dims).add(t.dtype());
    }
  }
  return combine(with_dims.dtype, combine(zero_dim.dtype, number.dtype)).value_or(default_dtype());
}

}  // namespace terra
