// Complex numbers: made of real ones, taken apart, conjugated.
#pragma once
#include "engine/ops/op.h"

namespace terra {

/// True iff the number is that real one, and not only in its real part.
inline bool is_value(const Scalar& number, double value) { return number.to_double() == value && number.imag() == 0; }

/// The conjugate of a complex tensor or number; a real one as it is, without an op. What gradient rules multiply by.
Tensor conjugate(const Tensor& t);
Scalar conjugate(const Scalar& s);
/// The same of an operand that may be either: an argument of ops for the length of an expression.
class Conjugate {
 public:
  explicit Conjugate(const Arg& operand);
  operator Arg() const { return tensor_.defined() ? Arg(tensor_) : Arg(number_); }

 private:
  Tensor tensor_;
  Scalar number_;
};
inline Conjugate conjugate(const Arg& operand) { return Conjugate(operand); }

namespace ops {

extern const Op complex, polar, conj_elements, conj_physical, conj, resolve_conj, adjoint;
extern const Op view_as_real, view_as_complex, real, imag;
extern const Op angle, sgn, isreal;

}  // namespace ops
}  // namespace terra
