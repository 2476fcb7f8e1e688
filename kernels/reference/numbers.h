// Reading and writing an element whose dtype is known at run time only.
#pragma once
#include <complex>
#include <variant>

#include "kernels/abi/half.h"
#include "kernels/abi/view.h"

namespace terra::reference {

/// Floats are held as double, uint64 as it is, other integers and bools as int64: nothing is lost.
using Number = std::variant<int64_t, uint64_t, double, std::complex<double>>;

Number read(DType dtype, const void* at);
/// Converts to `dtype`: floats become integers by truncation, complex numbers lose their imaginary part, anything
/// becomes a bool by comparison with zero.
void write(DType dtype, void* at, Number value);

inline std::complex<double> to_complex(Number n) {
  if (const auto* z = std::get_if<std::complex<double>>(&n)) return *z;
  if (const auto* integer = std::get_if<int64_t>(&n)) return static_cast<double>(*integer);
  const auto* natural = std::get_if<uint64_t>(&n);
  return natural != nullptr ? static_cast<double>(*natural) : std::get<double>(n);
}
inline bool is_whole(Number n) { return std::holds_alternative<int64_t>(n) || std::holds_alternative<uint64_t>(n); }
/// The bits of an integer, as which sums and products of all integers are the same.
inline uint64_t bits_of(Number n) {
  const auto* integer = std::get_if<int64_t>(&n);
  return integer != nullptr ? static_cast<uint64_t>(*integer) : std::get<uint64_t>(n);
}
/// The real part of a complex number.
inline double to_double(Number n) { return to_complex(n).real(); }

}  // namespace terra::reference
