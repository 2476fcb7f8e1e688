// From a function of one element to a reference loop: read, convert, compute, store; one element at a time.
//
// Floats are computed in double and rounded once, integers in int64 (uint32 and uint64, whose products may be beyond
// it, in uint64) and wrapped, so a reference is the value that a kernel of any precision approximates.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

#include "kernels/abi/kernel.h"

namespace terra::reference {

/// What a function of an element computes in.
template <class T>
using Wide = std::conditional_t<std::is_floating_point_v<T>, double,
                                std::conditional_t<std::is_unsigned_v<T> && sizeof(T) >= 4, uint64_t, int64_t>>;

/// A number among the attributes, in the type that elements are computed in; the nearest that there is of integers.
template <class W>
W attribute(const KernelArg& arg) {
  const bool is_large = arg.number.kind() == Scalar::Kind::Unsigned;
  if constexpr (std::is_same_v<W, double>)
    return arg.number.to_double();
  else if constexpr (std::is_same_v<W, uint64_t>)
    return is_large || arg.number.to_int() > 0 ? arg.number.to_unsigned() : 0;
  else
    return is_large ? std::numeric_limits<int64_t>::max() : arg.number.to_int();
}

template <class T>
T& element(char* const* data, const int64_t* strides, int operand, int64_t i) {
  return *reinterpret_cast<T*>(data[operand] + i * strides[operand]);
}

/// F(inputs..., arguments of the op) or F(inputs...), whichever exists.
template <auto F, class... W>
auto apply(const KernelArg* params, W... inputs) {
  if constexpr (std::is_invocable_v<decltype(F), W..., const KernelArg*>)
    return F(inputs..., params);
  else
    return F(inputs...);
}

/// N inputs of type T, an output of type Out; F computes with Wide<T>.
template <class T, class Out, int N, auto F>
void loop(char* const* data, const int64_t* strides, int64_t n, const KernelArg* params) {
  for (int64_t i = 0; i < n; ++i) {
    const auto in = [&](int k) { return static_cast<Wide<T>>(element<T>(data, strides, k, i)); };
    Out& out = element<Out>(data, strides, 0, i);
    if constexpr (N == 1) out = static_cast<Out>(apply<F>(params, in(1)));
    if constexpr (N == 2) out = static_cast<Out>(apply<F>(params, in(1), in(2)));
    if constexpr (N == 3) out = static_cast<Out>(apply<F>(params, in(1), in(2), in(3)));
  }
}

enum DTypeSet : uint32_t {
  kFloats = 1,
  kIntegers = 2,
  kBools = 4,
  kBarebones = 8,
  kNumbers = kFloats | kIntegers,
  kAll = kNumbers | kBools
};

/// Fills the loops of a set of dtypes. F takes double and int64 alike (a generic lambda) unless the set has one kind
/// only; results keep the input's dtype unless `Out` names another.
template <int N, auto F, uint32_t Set, class Out = void>
consteval Kernel elementwise(std::string_view op) {
  Kernel k{.op = op};
  const auto put = [&]<class T>(DType dtype, T) {
    k.loops[static_cast<int>(dtype)] = loop<T, std::conditional_t<std::is_void_v<Out>, T, Out>, N, F>;
  };
  if constexpr (Set & kFloats) {
    put(DType::F32, float());
    put(DType::F64, double());
  }
  if constexpr (Set & kIntegers) {
    put(DType::U8, uint8_t());
    put(DType::I8, int8_t());
    put(DType::I16, int16_t());
    put(DType::I32, int32_t());
    put(DType::I64, int64_t());
  }
  if constexpr (Set & kBarebones) {
    put(DType::U16, uint16_t());
    put(DType::U32, uint32_t());
    put(DType::U64, uint64_t());
  }
  if constexpr (Set & kBools) put(DType::Bool, bool());
  return k;
}

/// Runs a reference loop element by element over views of any strides, inputs broadcast to `out`.
void run_elementwise(const Kernel& kernel, const View& out, std::span<const View> inputs, const KernelArg* params);

}  // namespace terra::reference
