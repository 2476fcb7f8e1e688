// Tensor arithmetic as formulas write it. Each operator emits one op.
#pragma once
#include "engine/ops/binary.h"
#include "engine/ops/unary.h"

namespace terra {

inline Tensor operator-(const Tensor& a) { return ops::neg(a); }
inline Tensor operator+(const Tensor& a, const Tensor& b) { return ops::add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return ops::sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return ops::mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return ops::true_divide(a, b); }

inline Tensor operator+(const Tensor& a, double b) { return ops::add(a, b); }
inline Tensor operator-(const Tensor& a, double b) { return ops::sub(a, b); }
inline Tensor operator*(const Tensor& a, double b) { return ops::mul(a, b); }
inline Tensor operator/(const Tensor& a, double b) { return ops::true_divide(a, b); }

inline Tensor operator+(double a, const Tensor& b) { return ops::add(a, b); }
inline Tensor operator-(double a, const Tensor& b) { return ops::sub(a, b); }
inline Tensor operator*(double a, const Tensor& b) { return ops::mul(a, b); }
inline Tensor operator/(double a, const Tensor& b) { return ops::true_divide(a, b); }

}  // namespace terra
