#include "graph/trace/numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "engine/errors/errors.h"

namespace terra::graph {
namespace {

[[noreturn]] void fail() { throw InternalError("arithmetic on sizes has no 64-bit result for these sizes"); }

template <class F>
int64_t exact(F overflows) {
  int64_t result = 0;
  if (overflows(&result)) fail();
  return result;
}

/// Python's division of integers: towards minus infinity, the remainder with the divisor's sign.
std::pair<int64_t, int64_t> floor_divided(int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1)) fail();
  int64_t quotient = a / b, rest = a % b;
  if (rest != 0 && (rest < 0) != (b < 0)) --quotient, rest += b;
  return {quotient, rest};
}

template <class T>
Scalar compared(NumberRecord::Op op, T a, T b) {
  using Op = NumberRecord::Op;
  switch (op) {
    case Op::Less: return Scalar(a < b);
    case Op::LessEqual: return Scalar(a <= b);
    case Op::Equal: return Scalar(a == b);
    case Op::NotEqual: return Scalar(a != b);
    case Op::Greater: return Scalar(a > b);
    case Op::GreaterEqual: return Scalar(a >= b);
    default: fail();
  }
}

Scalar of_integers(NumberRecord::Op op, int64_t a, int64_t b) {
  using Op = NumberRecord::Op;
  switch (op) {
    case Op::Add: return Scalar(exact([&](int64_t* r) { return __builtin_add_overflow(a, b, r); }));
    case Op::Subtract: return Scalar(exact([&](int64_t* r) { return __builtin_sub_overflow(a, b, r); }));
    case Op::Multiply: return Scalar(exact([&](int64_t* r) { return __builtin_mul_overflow(a, b, r); }));
    case Op::FloorDivide: return Scalar(floor_divided(a, b).first);
    case Op::Modulo: return Scalar(floor_divided(a, b).second);
    case Op::Minimum: return Scalar(std::min(a, b));
    case Op::Maximum: return Scalar(std::max(a, b));
    case Op::Negate: return Scalar(exact([&](int64_t* r) { return __builtin_sub_overflow(int64_t{0}, a, r); }));
    default: return compared(op, a, b);
  }
}

Scalar of_floats(NumberRecord::Op op, double a, double b) {
  using Op = NumberRecord::Op;
  switch (op) {
    case Op::Add: return Scalar(a + b);
    case Op::Subtract: return Scalar(a - b);
    case Op::Multiply: return Scalar(a * b);
    case Op::TrueDivide: return b == 0 ? (fail(), Scalar()) : Scalar(a / b);
    case Op::Power:
      return a > 0 ? Scalar(std::pow(a, b)) : (fail(), Scalar());  // Python has rules of its own for the rest
    case Op::Negate: return Scalar(-a);
    case Op::SquareRoot: return a >= 0 ? Scalar(std::sqrt(a)) : (fail(), Scalar());
    default: return compared(op, a, b);
  }
}

/// Where Python converts to float, an integer has to be one exactly; comparisons are exact for these as well.
double real(const Scalar& s) {
  constexpr int64_t most = int64_t{1} << 53;
  if (!s.is_float() && (s.to_int() > most || s.to_int() < -most)) fail();
  return s.to_double();
}

}  // namespace

Scalar computed(NumberRecord::Op op, const Scalar& a, const Scalar& b) {
  using Op = NumberRecord::Op;
  if (op == Op::ToFloat) return Scalar(real(a));
  if (op == Op::ToInt) {
    if (!a.is_float()) return Scalar(a.to_int());
    if (!(std::abs(a.to_double()) < 0x1p63)) fail();
    return Scalar(static_cast<int64_t>(a.to_double()));
  }
  const bool floats = a.is_float() || b.is_float() || op == Op::TrueDivide || op == Op::SquareRoot ||
                      (op == Op::Power && b.to_int() < 0);
  if (!floats) return of_integers(op, a.to_int(), b.to_int());
  const bool one_operand = op == Op::SquareRoot || op == Op::Negate;
  return of_floats(op, real(a), one_operand ? 0.0 : real(b));
}

std::vector<int64_t> bits_of(const Scalar& number) {
  const auto kind = static_cast<int64_t>(number.kind());
  if (!number.is_float() && !number.is_complex()) return {kind, number.to_int()};
  return {kind, std::bit_cast<int64_t>(number.to_double()), std::bit_cast<int64_t>(number.imag())};
}

}  // namespace terra::graph
