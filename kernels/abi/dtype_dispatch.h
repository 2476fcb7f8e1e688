// From a dtype at run time to a C++ type.
#pragma once
#include <complex>

#include "kernels/abi/kernel_error.h"

namespace terra {

/// Calls fn with a value of the C++ type of a floating dtype that kernels compute in.
template <class F>
decltype(auto) with_float(DType dtype, F&& fn) {
  if (dtype == DType::F32) return fn(float{});
  if (dtype == DType::F64) return fn(double{});
  throw_not_implemented(dtype);
}

/// The same and complex numbers.
template <class F>
decltype(auto) with_inexact(DType dtype, F&& fn) {
  if (dtype == DType::C64) return fn(std::complex<float>{});
  if (dtype == DType::C128) return fn(std::complex<double>{});
  return with_float(dtype, fn);
}

/// The same as with_float for all dtypes with arithmetic except bool, the barebones integers and the 16-bit floats.
template <class F>
decltype(auto) with_number(DType dtype, F&& fn) {
  switch (dtype) {
    case DType::U8: return fn(uint8_t{});
    case DType::I8: return fn(int8_t{});
    case DType::I16: return fn(int16_t{});
    case DType::I32: return fn(int32_t{});
    case DType::I64: return fn(int64_t{});
    default: return with_float(dtype, fn);
  }
}

/// The same and the barebones integers: for the few kernels that take them.
template <class F>
decltype(auto) with_any_real(DType dtype, F&& fn) {
  switch (dtype) {
    case DType::U16: return fn(uint16_t{});
    case DType::U32: return fn(uint32_t{});
    case DType::U64: return fn(uint64_t{});
    default: return with_number(dtype, fn);
  }
}

/// with_number and complex numbers: for kernels that need no order.
template <class F>
decltype(auto) with_real_or_complex(DType dtype, F&& fn) {
  if (is_complex(dtype)) return with_inexact(dtype, fn);
  return with_number(dtype, fn);
}

}  // namespace terra
