// The element types of tensors.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace terra {

/// Ordered by category (bool < integers < floats < complex), so that `is_floating` and friends are comparisons.
/// F16, BF16, C32 and BC32 are storage types: kernels compute them in F32 and C64 (the op front end converts both
/// ways). An element of C32 (BC32, C64, C128) is two of F16 (BF16, F32, F64), the real part first: std::complex.
enum class DType : uint8_t { Bool, U8, I8, I16, I32, I64, U16, U32, U64, F16, BF16, F32, F64, C32, BC32, C64, C128 };

inline constexpr int kDTypeCount = 17;
inline constexpr size_t kMaxElementSize = 16;

struct DTypeInfo {
  std::string_view name;         ///< as PyTorch prints it after "torch.": "float32"
  std::string_view scalar_type;  ///< as its messages call it: the "Long" of "not implemented for 'Long'"
  uint8_t size;                  ///< bytes per element
};

inline constexpr DTypeInfo kDTypeInfo[kDTypeCount] = {{"bool", "Bool", 1},
                                                      {"uint8", "Byte", 1},
                                                      {"int8", "Char", 1},
                                                      {"int16", "Short", 2},
                                                      {"int32", "Int", 4},
                                                      {"int64", "Long", 8},
                                                      {"uint16", "UInt16", 2},
                                                      {"uint32", "UInt32", 4},
                                                      {"uint64", "UInt64", 8},
                                                      {"float16", "Half", 2},
                                                      {"bfloat16", "BFloat16", 2},
                                                      {"float32", "Float", 4},
                                                      {"float64", "Double", 8},
                                                      {"complex32", "ComplexHalf", 4},
                                                      {"bcomplex32", "BComplex32", 4},
                                                      {"complex64", "ComplexFloat", 8},
                                                      {"complex128", "ComplexDouble", 16}};

constexpr std::string_view name_of(DType t) { return kDTypeInfo[static_cast<int>(t)].name; }
constexpr std::string_view scalar_type_name(DType t) { return kDTypeInfo[static_cast<int>(t)].scalar_type; }
constexpr size_t size_of(DType t) { return kDTypeInfo[static_cast<int>(t)].size; }
constexpr bool is_bool(DType t) { return t == DType::Bool; }
/// Real floats only, as PyTorch's is_floating_point.
constexpr bool is_floating(DType t) { return t >= DType::F16 && t <= DType::F64; }
constexpr bool is_complex(DType t) { return t >= DType::C32; }
/// Floats and complex numbers: dtypes with fractions, through which gradients flow.
constexpr bool is_inexact(DType t) { return t >= DType::F16; }
/// Of 16 bits, or of parts that are: what kernels don't compute in.
constexpr bool is_half(DType t) { return t == DType::F16 || t == DType::BF16 || t == DType::C32 || t == DType::BC32; }
/// What kernels compute in instead; others are their own.
constexpr DType computed_in(DType t) { return !is_half(t) ? t : is_complex(t) ? DType::C64 : DType::F32; }
constexpr bool is_integral(DType t, bool include_bool = false) {
  return t < DType::F16 && (include_bool || t != DType::Bool);
}
/// Unsigned integers wider than a byte, which have no arithmetic but the least: PyTorch calls them barebones.
constexpr bool is_barebones(DType t) { return t >= DType::U16 && t <= DType::U64; }
constexpr bool is_signed(DType t) { return t != DType::Bool && t != DType::U8 && !is_barebones(t); }
/// bool < integers < floats < complex numbers: how far a dtype reaches.
constexpr int kind_of(DType t) { return is_complex(t) ? 3 : is_floating(t) ? 2 : is_bool(t) ? 0 : 1; }
/// Dtypes of complex numbers, each beside that of their parts.
inline constexpr struct {
  DType real, complex;
} kComplexOf[] = {
    {DType::F16, DType::C32}, {DType::BF16, DType::BC32}, {DType::F32, DType::C64}, {DType::F64, DType::C128}};
/// The dtype of the parts of a complex number; others are their own.
constexpr DType real_dtype_of(DType t) {
  for (const auto& pair : kComplexOf)
    if (pair.complex == t) return pair.real;
  return t;
}
/// The dtype of complex numbers with parts of that floating dtype: float32 for integers. Complex ones are their own.
constexpr DType complex_dtype_of(DType t) {
  for (const auto& pair : kComplexOf)
    if (pair.real == t || pair.complex == t) return pair.complex;
  return DType::C64;
}

}  // namespace terra
