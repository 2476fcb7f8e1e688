// A strided view of memory: what a kernel knows of a tensor.
#pragma once
#include <complex>
#include <cstdint>
#include <type_traits>

#include "kernels/abi/dtype.h"

namespace terra {

/// The dtype whose elements are of C++ type T: bool, an integer that has a dtype, float, double or std::complex of
/// these.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, bool>) return DType::Bool;
  if constexpr (std::is_same_v<T, uint8_t>) return DType::U8;
  if constexpr (std::is_same_v<T, int8_t>) return DType::I8;
  if constexpr (std::is_same_v<T, int16_t>) return DType::I16;
  if constexpr (std::is_same_v<T, int32_t>) return DType::I32;
  if constexpr (std::is_same_v<T, int64_t>) return DType::I64;
  if constexpr (std::is_same_v<T, float>) return DType::F32;
  if constexpr (std::is_same_v<T, double>) return DType::F64;
  if constexpr (std::is_same_v<T, std::complex<float>>) return DType::C64;
  if constexpr (std::is_same_v<T, std::complex<double>>) return DType::C128;
}

/// Throws KernelError "expected scalar type Float but found Double".
[[noreturn]] void throw_unexpected_dtype(DType expected, DType found);

/// Element (i0, ..., ik) lies at `data + size_of(dtype) * (i0 * strides[0] + ... + ik * strides[k])`.
/// `sizes` and `strides` are borrowed for the length of the kernel call; strides count elements and may be 0
/// (broadcast) or, for inputs only, negative. A view whose `data` is null and whose rank is -1 stands for an absent
/// optional tensor (`defined()` is false).
struct View {
  void* data = nullptr;
  const int64_t* sizes = nullptr;
  const int64_t* strides = nullptr;
  int32_t rank = -1;
  DType dtype = DType::F32;
  /// The only element is a number in the host's memory, whatever the device: to be read before the launch returns.
  bool is_number = false;

  bool defined() const { return rank >= 0; }

  int64_t numel() const {
    int64_t n = 1;
    for (int i = 0; i < rank; ++i) n *= sizes[i];
    return n;
  }

  /// True iff the elements lie in row-major order without gaps.
  bool is_contiguous() const {
    int64_t expected = 1;
    for (int i = rank - 1; i >= 0; --i) {
      if (sizes[i] == 0) return true;
      if (sizes[i] != 1 && strides[i] != expected) return false;
      expected *= sizes[i];
    }
    return true;
  }

  /// The first element, which must be of type T: no kernel reads memory as what it isn't. Throws KernelError.
  template <class T>
  T* as() const {
    constexpr DType expected = dtype_of<std::remove_const_t<T>>();
    if (dtype != expected) [[unlikely]]
      throw_unexpected_dtype(expected, dtype);
    return static_cast<T*>(data);
  }

  /// The first element's address, for those who move bytes or find the type elsewhere.
  char* bytes() const { return static_cast<char*>(data); }
};

static_assert(sizeof(View) == 32);

}  // namespace terra
