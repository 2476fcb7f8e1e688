// Reading and writing an element whose dtype is known at run time only.
#pragma once
#include <variant>

#include "kernels/abi/half.h"
#include "kernels/abi/view.h"

namespace terra::reference {

/// Floats are held as double, integers and bools as int64: nothing is lost.
using Number = std::variant<int64_t, double>;

Number read(DType dtype, const void* at);
/// Converts to `dtype`: floats become integers by truncation, anything becomes a bool by comparison with zero.
void write(DType dtype, void* at, Number value);

inline double to_double(Number n) {
  return std::visit([](auto x) { return static_cast<double>(x); }, n);
}

}  // namespace terra::reference
