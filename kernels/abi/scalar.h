// A Python number as kernels see it.
#pragma once
#include <cstdint>

#include "kernels/abi/dtype.h"

namespace terra {

/// A bool, an integer or a float, remembering which. 16 bytes, trivially copyable.
class Scalar {
 public:
  enum class Kind : uint8_t { Bool, Int, Float };

  constexpr Scalar() : int_(0), kind_(Kind::Int) {}
  constexpr Scalar(bool v) : int_(v), kind_(Kind::Bool) {}
  constexpr Scalar(int v) : int_(v), kind_(Kind::Int) {}
  constexpr Scalar(int64_t v) : int_(v), kind_(Kind::Int) {}
  constexpr Scalar(double v) : float_(v), kind_(Kind::Float) {}

  constexpr Kind kind() const { return kind_; }
  constexpr bool is_float() const { return kind_ == Kind::Float; }
  constexpr double to_double() const { return kind_ == Kind::Float ? float_ : static_cast<double>(int_); }
  constexpr int64_t to_int() const { return kind_ == Kind::Float ? static_cast<int64_t>(float_) : int_; }
  constexpr bool to_bool() const { return kind_ == Kind::Float ? float_ != 0 : int_ != 0; }

  /// The dtype that a 0-d tensor made from this number has before promotion: bool, int64 or float64.
  constexpr DType dtype() const {
    return kind_ == Kind::Bool ? DType::Bool : kind_ == Kind::Int ? DType::I64 : DType::F64;
  }

 private:
  union {
    int64_t int_;
    double float_;
  };
  Kind kind_;
};

static_assert(sizeof(Scalar) == 16);

}  // namespace terra
