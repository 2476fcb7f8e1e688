// From a function of one element to a reference loop: read, convert, compute, store; one element at a time.
//
// Floats are computed in double and rounded once, integers in int64 and wrapped, so a reference is the value that a
// kernel of any precision approximates.
#pragma once
#include <cstdint>
#include <span>
#include <type_traits>

#include "kernels/abi/kernel.h"

namespace terra::reference {

/// What a function of an element computes in.
template <class T>
using Wide = std::conditional_t<std::is_floating_point_v<T>, double, int64_t>;

template <class T>
T& element(char* const* data, const int64_t* strides, int operand, int64_t i) {
  return *reinterpret_cast<T*>(data[operand] + i * strides[operand]);
}

/// Out F(In...) with N inputs of type T; F is called with Wide<T> and, if it wants them, the op's arguments.
template <class T, class Out, int N, auto F>
void loop(char* const* data, const int64_t* strides, int64_t n, const KernelArg* params) {
  using W = Wide<T>;
  for (int64_t i = 0; i < n; ++i) {
    const auto in = [&](int k) { return static_cast<W>(element<T>(data, strides, k + 1, i)); };
    const auto value = [&] {
      if constexpr (N == 1) {
        if constexpr (std::is_invocable_v<decltype(F), W, const KernelArg*>) return F(in(0), params);
        else return F(in(0));
      } else if constexpr (N == 2) {
        if constexpr (std::is_invocable_v<decltype(F), W, W, const KernelArg*>) return F(in(0), in(1), params);
        else return F(in(0), in(1));
      } else {
        return F(in(0), in(1), in(2), params);
      }
    }();
    element<Out>(data, strides, 0, i) = static_cast<Out>(value);
  }
}

enum DTypeSet : uint32_t { kFloats = 1, kIntegers = 2, kBools = 4, kNumbers = kFloats | kIntegers, kAll = 7 };

/// Fills the loops of a set of dtypes. F takes double and int64 alike (a generic lambda); results keep the input's dtype
/// unless `Out` names another.
template <int N, auto F, class Out = void>
consteval Kernel elementwise(std::string_view op, uint32_t set) {
  Kernel k{.op = op};
  const auto put = [&]<class T>(DType dtype, T) {
    k.loops[static_cast<int>(dtype)] = loop<T, std::conditional_t<std::is_void_v<Out>, T, Out>, N, F>;
  };
  if (set & kFloats) {
    put(DType::F32, float());
    put(DType::F64, double());
  }
  if (set & kIntegers) {
    put(DType::U8, uint8_t());
    put(DType::I8, int8_t());
    put(DType::I16, int16_t());
    put(DType::I32, int32_t());
    put(DType::I64, int64_t());
  }
  if (set & kBools) put(DType::Bool, bool());
  return k;
}

/// Runs a reference loop element by element over views of any strides, inputs broadcast to `out`.
void run_elementwise(const Kernel& kernel, const View& out, std::span<const View> inputs, const KernelArg* params);

}  // namespace terra::reference
