// A Python number as kernels see it.
#pragma once
#include <bit>
#include <complex>
#include <cstdint>
#include <limits>

#include "kernels/abi/dtype.h"

namespace terra {

/// A bool, an integer, a float or a complex number, remembering which. Integers that need all bits of uint64 are a kind
/// of their own. 16 bytes, trivially copyable: the imaginary part
/// lies where the others have their kind, which is a NaN that no imaginary part may be.
class Scalar {
 public:
  enum class Kind : uint8_t { Bool, Int, Unsigned, Float, Complex };

  constexpr Scalar() : int_(0), tag_(tag_of(Kind::Int)) {}
  constexpr Scalar(bool v) : int_(v), tag_(tag_of(Kind::Bool)) {}
  constexpr Scalar(int v) : int_(v), tag_(tag_of(Kind::Int)) {}
  constexpr Scalar(int64_t v) : int_(v), tag_(tag_of(Kind::Int)) {}
  constexpr Scalar(uint64_t v) : int_(static_cast<int64_t>(v)), tag_(tag_of(int_ < 0 ? Kind::Unsigned : Kind::Int)) {}
  constexpr Scalar(double v) : float_(v), tag_(tag_of(Kind::Float)) {}
  constexpr Scalar(std::complex<double> v) : float_(v.real()), tag_(imaginary(v.imag())) {}

  constexpr Kind kind() const {
    return tag_ - kFirstTag < static_cast<uint64_t>(Kind::Complex) ? static_cast<Kind>(tag_ - kFirstTag)
                                                                   : Kind::Complex;
  }
  constexpr bool is_float() const { return kind() == Kind::Float; }
  constexpr bool is_complex() const { return kind() == Kind::Complex; }
  /// Of a complex number the conversions to integers and double give the real part. Integers wrap around.
  constexpr double to_double() const {
    return holds_float()              ? float_
           : kind() == Kind::Unsigned ? static_cast<double>(to_unsigned())
                                      : static_cast<double>(int_);
  }
  constexpr uint64_t to_unsigned() const {
    return holds_float() && float_ >= 0 ? static_cast<uint64_t>(float_) : static_cast<uint64_t>(to_int());
  }
  constexpr int64_t to_int() const { return holds_float() ? static_cast<int64_t>(float_) : int_; }
  constexpr bool to_bool() const { return holds_float() ? float_ != 0 || imag() != 0 : int_ != 0; }
  constexpr std::complex<double> to_complex() const { return {to_double(), imag()}; }
  constexpr double imag() const { return is_complex() ? std::bit_cast<double>(tag_) : 0.0; }

  /// The same as a number of that kind.
  constexpr Scalar as(Kind kind) const {
    switch (kind) {
      case Kind::Bool: return Scalar(to_bool());
      case Kind::Int: return Scalar(to_int());
      case Kind::Unsigned: return Scalar(to_unsigned());
      case Kind::Float: return Scalar(to_double());
      case Kind::Complex: return Scalar(to_complex());
    }
    return *this;
  }

  /// The dtype that a 0-d tensor made from this number has before promotion.
  constexpr DType dtype() const { return dtype_of(kind()); }
  static constexpr DType dtype_of(Kind kind) {
    constexpr DType dtypes[] = {DType::Bool, DType::I64, DType::U64, DType::F64, DType::C128};
    return dtypes[static_cast<int>(kind)];
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

/// The greatest and the least value of bools and integers.
constexpr Scalar greatest_of(DType t) {
  if (is_bool(t)) return Scalar(true);
  return Scalar(~uint64_t{0} >> (64 - 8 * size_of(t) + is_signed(t)));
}
constexpr Scalar least_of(DType t) {
  if (is_bool(t)) return Scalar(false);
  return is_signed(t) ? Scalar(-1 - greatest_of(t).to_int()) : Scalar(0);
}
/// The same without wrapping around.
constexpr bool is_within(const Scalar& integer, DType t) {
  const Scalar greatest = greatest_of(t);
  if (integer.kind() == Scalar::Kind::Unsigned) return integer.to_unsigned() <= greatest.to_unsigned();
  const int64_t n = integer.to_int();
  return n >= least_of(t).to_int() && (n < 0 || static_cast<uint64_t>(n) <= greatest.to_unsigned());
}

}  // namespace terra
