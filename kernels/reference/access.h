// How reference loops read and write elements: slowly, by index, whatever the strides.
#pragma once
#include <complex>
#include <initializer_list>
#include <vector>

#include "kernels/abi/kernel.h"
#include "kernels/abi/kernel_error.h"

namespace terra::reference {

/// The element with that index.
template <class T>
T& at(const View& view, std::initializer_list<int64_t> index) {
  int64_t offset = 0;
  int axis = 0;
  for (int64_t i : index) offset += i * view.strides[axis++];
  return view.as<T>()[offset];
}

/// Element number `i` in row-major order.
template <class T>
T& nth(const View& view, int64_t i) {
  int64_t offset = 0;
  for (int axis = view.rank - 1; axis >= 0; --axis) {
    offset += i % view.sizes[axis] * view.strides[axis];
    i /= view.sizes[axis];
  }
  return view.as<T>()[offset];
}

/// Calls fn with a value of the C++ type of a floating dtype that kernels compute in.
template <class F>
void with_float(DType dtype, F&& fn) {
  if (dtype == DType::F32) return fn(float{});
  if (dtype == DType::F64) return fn(double{});
  throw_not_implemented(dtype);
}

/// The same for all dtypes with arithmetic except bool and the 16-bit floats.
template <class F>
void with_number(DType dtype, F&& fn) {
  switch (dtype) {
    case DType::U8: return fn(uint8_t{});
    case DType::I8: return fn(int8_t{});
    case DType::I16: return fn(int16_t{});
    case DType::I32: return fn(int32_t{});
    case DType::I64: return fn(int64_t{});
    default: return with_float(dtype, fn);
  }
}

/// The same and complex numbers.
template <class F>
void with_real_or_complex(DType dtype, F&& fn) {
  if (dtype == DType::C64) return fn(std::complex<float>{});
  if (dtype == DType::C128) return fn(std::complex<double>{});
  with_number(dtype, fn);
}

}  // namespace terra::reference
