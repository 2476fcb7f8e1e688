// A Python number as kernels see it.
#pragma once
#include <bit>
#include <complex>
#include <cstdint>
#include <limits>

#include "kernels/abi/dtype.h"

namespace terra {

/// A bool, an integer, a float or a complex number, remembering which. 16 bytes, trivially copyable: the imaginary part
/// lies where the others have their kind, which is a NaN that no imaginary part may be.
class Scalar {
 public:
  enum class Kind : uint8_t { Bool, Int, Float, Complex };

  constexpr Scalar() : int_(0), tag_(tag_of(Kind::Int)) {}
  constexpr Scalar(bool v) : int_(v), tag_(tag_of(Kind::Bool)) {}
  constexpr Scalar(int v) : int_(v), tag_(tag_of(Kind::Int)) {}
  constexpr Scalar(int64_t v) : int_(v), tag_(tag_of(Kind::Int)) {}
  constexpr Scalar(double v) : float_(v), tag_(tag_of(Kind::Float)) {}
  constexpr Scalar(std::complex<double> v) : float_(v.real()), tag_(imaginary(v.imag())) {}

  constexpr Kind kind() const {
    return tag_ - kFirstTag < static_cast<uint64_t>(Kind::Complex) ? static_cast<Kind>(tag_ - kFirstTag)
                                                                   : Kind::Complex;
  }
  constexpr bool is_float() const { return kind() == Kind::Float; }
  constexpr bool is_complex() const { return kind() == Kind::Complex; }
  /// Of a complex number the conversions to int and double give the real part.
  constexpr double to_double() const { return holds_float() ? float_ : static_cast<double>(int_); }
  constexpr int64_t to_int() const { return holds_float() ? static_cast<int64_t>(float_) : int_; }
  constexpr bool to_bool() const { return holds_float() ? float_ != 0 || imag() != 0 : int_ != 0; }
  constexpr std::complex<double> to_complex() const { return {to_double(), imag()}; }
  constexpr double imag() const { return is_complex() ? std::bit_cast<double>(tag_) : 0.0; }

  /// The dtype that a 0-d tensor made from this number has before promotion: bool, int64, float64 or complex128.
  constexpr DType dtype() const {
    constexpr DType dtypes[] = {DType::Bool, DType::I64, DType::F64, DType::C128};
    return dtypes[static_cast<int>(kind())];
  }

 private:
  static constexpr uint64_t kFirstTag = 0x7ff4'5ca1'ab1e'0000;  // a signalling NaN: no arithmetic makes one
  static constexpr uint64_t tag_of(Kind kind) { return kFirstTag + static_cast<uint64_t>(kind); }
  static constexpr uint64_t imaginary(double v) {
    return std::bit_cast<uint64_t>(v == v ? v : std::numeric_limits<double>::quiet_NaN());
  }
  constexpr bool holds_float() const { return tag_ - kFirstTag >= static_cast<uint64_t>(Kind::Float); }

  union {
    int64_t int_;
    double float_;
  };
  uint64_t tag_;
};

static_assert(sizeof(Scalar) == 16);

}  // namespace terra
