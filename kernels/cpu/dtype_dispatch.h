// From a dtype at run time to a C++ type.
#pragma once
#include "kernels/abi/kernel_error.h"

namespace terra::cpu {

/// Calls fn with a value of the C++ type of a floating dtype that kernels compute in.
template <class F>
decltype(auto) with_float(DType dtype, F&& fn) {
  if (dtype == DType::F32) return fn(float{});
  if (dtype == DType::F64) return fn(double{});
  throw_not_implemented(dtype);
}

/// The same for all dtypes with arithmetic except bool and the 16-bit floats.
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

}  // namespace terra::cpu
