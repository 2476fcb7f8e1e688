// From a function of one element to the inner loop of an elementwise kernel.
//
// A kernel file writes one struct per op: the types In and Out, a constructor from the op's arguments, and
// operator() on elements. Loops over contiguous operands are left to the compiler's vectorizer, which is exact for
// arithmetic (no contraction, no reassociation), so that vector body and scalar tail agree bit for bit. Operands with
// other strides go through small buffers, so each op needs the contiguous loops only.
#pragma once
#include <complex>
#include <cstdint>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/isa/vec.h"

namespace terra::cpu::TERRA_ISA {

/// Elements a buffer holds.
inline constexpr int64_t kBlock = 256;

template <class T>
constexpr int64_t stride_of = static_cast<int64_t>(sizeof(T));

template <class T>
void gather_block(T* to, const char* from, int64_t stride, int64_t n) {
  if (stride == 0) {
    const T value = *reinterpret_cast<const T*>(from);
    for (int64_t i = 0; i < n; ++i) to[i] = value;
  } else if (stride == 2 * stride_of<T>) {  // which the vectorizer takes
    const T* const pairs = reinterpret_cast<const T*>(from);
    for (int64_t i = 0; i < n; ++i) to[i] = pairs[2 * i];
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = *reinterpret_cast<const T*>(from + i * stride);
  }
}

template <class T>
void scatter_block(char* to, int64_t stride, const T* from, int64_t n) {
  for (int64_t i = 0; i < n; ++i) *reinterpret_cast<T*>(to + i * stride) = from[i];
}

/// A block of an input as contiguous elements: in place, or copied to `buffer`.
template <class T>
const T* read_block(const char* from, int64_t stride, int64_t n, T* buffer) {
  if (stride == stride_of<T>) return reinterpret_cast<const T*>(from);
  gather_block(buffer, from, stride, n);
  return buffer;
}

/// Calls block(out, offset, count) for successive blocks, then puts what it wrote where the output lies.
template <class Out, class Block>
void write_blocks(char* out, int64_t stride, int64_t n, Block block) {
  Out buffer[kBlock];
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t count = n - i < kBlock ? n - i : kBlock;
    if (stride == stride_of<Out>) {
      block(reinterpret_cast<Out*>(out) + i, i, count);
    } else {
      block(buffer, i, count);
      scatter_block(out + i * stride, stride, buffer, count);
    }
  }
}

/// An element as loops see it. Of bools any byte but 0 is true: memory of others may hold more than 0 and 1.
template <class T>
T element(const T& x) {
  if constexpr (std::is_same_v<T, bool>)
    return reinterpret_cast<const uint8_t&>(x) != 0;
  else
    return x;
}

/// True iff Op works on whole vectors: it then has a type Vector, and calls of library functions inside.
template <class Op>
concept OnVectors = requires {
  typename Op::Vector;
};

/// What the lanes beyond the end of a tensor hold: inside the domain of every function.
inline constexpr double kPadding = 0.5;

template <class T>
Vec<T> load_padded(const T* from, int64_t count) {
  return load_some(from, count, static_cast<T>(kPadding));
}

/// out[i .. i + lanes) = whole(i), and what is left of a last vector = part(i, count).
template <class T, class Whole, class Part>
void map_vectors(T* out, int64_t n, Whole whole, Part part) {
  int64_t i = 0;
  for (; i + kLanes<T> <= n; i += kLanes<T>) store(out + i, whole(i));
  if (i < n) store_some<T>(out + i, part(i, n - i), n - i);
}

template <class Op>
void map_contiguous(const Op& op, typename Op::Out* out, const typename Op::In* a, int64_t n) {
  if constexpr (OnVectors<Op>) {
    map_vectors(
        out, n, [&](int64_t i) { return op(load(a + i)); },
        [&](int64_t i, int64_t count) { return op(load_padded(a + i, count)); });
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = op(element(a[i]));
  }
}

template <class Op>
void map_contiguous(const Op& op, typename Op::Out* out, const typename Op::In* a, const typename Op::In* b,
                    int64_t n) {
  if constexpr (OnVectors<Op>) {
    map_vectors(
        out, n, [&](int64_t i) { return op(load(a + i), load(b + i)); },
        [&](int64_t i, int64_t count) { return op(load_padded(a + i, count), load_padded(b + i, count)); });
  } else {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = op(element(a[i]), element(b[i]));
  }
}

/// Of b and c, those that are `one` have the same element for all.
template <bool kOneB, bool kOneC, class Op>
void map_contiguous(const Op& op, typename Op::Out* out, const typename Op::First* a, const typename Op::In* b,
                    const typename Op::In* c, int64_t n) {
  const typename Op::In one_b = element(*b), one_c = element(*c);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i)
    out[i] = op(element(a[i]), kOneB ? one_b : element(b[i]), kOneC ? one_c : element(c[i]));
}

template <class Op>
void map_right_scalar(const Op& op, typename Op::Out* out, const typename Op::In* a, typename Op::In b, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = op(element(a[i]), b);
}

template <class Op>
void map_left_scalar(const Op& op, typename Op::Out* out, typename Op::In a, const typename Op::In* b, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = op(a, element(b[i]));
}

// The loops by way of buffers are functions of their own: their frames would cost the others more than a short row.
// They take the op by value, which no element that they write can lie in: the vectorizer has to know.

template <class Op>
[[gnu::noinline]] void unary_blocks(const Op op, char* const* data, const int64_t* strides, int64_t n) {
  using In = typename Op::In;
  using Out = typename Op::Out;
  In buffer[kBlock];
  write_blocks<Out>(data[0], strides[0], n, [&](Out* out, int64_t i, int64_t count) {
    map_contiguous(op, out, read_block(data[1] + i * strides[1], strides[1], count, buffer), count);
  });
}

template <class Op>
void unary_loop(char* const* data, const int64_t* strides, int64_t n, const KernelArg* params) {
  using In = typename Op::In;
  using Out = typename Op::Out;
  const Op op(params);
  if (strides[0] == stride_of<Out> && strides[1] == stride_of<In>)
    return map_contiguous(op, reinterpret_cast<Out*>(data[0]), reinterpret_cast<const In*>(data[1]), n);
  unary_blocks(op, data, strides, n);
}

template <class Op>
[[gnu::noinline]] void binary_blocks(const Op op, char* const* data, const int64_t* strides, int64_t n) {
  using In = typename Op::In;
  using Out = typename Op::Out;
  In a_buffer[kBlock], b_buffer[kBlock];
  write_blocks<Out>(data[0], strides[0], n, [&](Out* out, int64_t i, int64_t count) {
    const In* a = read_block(data[1] + i * strides[1], strides[1], count, a_buffer);
    const In* b = read_block(data[2] + i * strides[2], strides[2], count, b_buffer);
    map_contiguous(op, out, a, b, count);
  });
}

/// Vector ops have no loops for scalars of their own: beside a library call the copy to a buffer costs nothing.
template <class Op>
void binary_loop(char* const* data, const int64_t* strides, int64_t n, const KernelArg* params) {
  using In = typename Op::In;
  using Out = typename Op::Out;
  const Op op(params);
  if (strides[0] == stride_of<Out>) {
    Out* const out = reinterpret_cast<Out*>(data[0]);
    const In* a = reinterpret_cast<const In*>(data[1]);
    const In* b = reinterpret_cast<const In*>(data[2]);
    const bool many_a = strides[1] == stride_of<In>, many_b = strides[2] == stride_of<In>;
    if (many_a && many_b) return map_contiguous(op, out, a, b, n);
    if constexpr (!OnVectors<Op>) {
      if (many_a && strides[2] == 0) return map_right_scalar(op, out, a, element(*b), n);
      if (strides[1] == 0 && many_b) return map_left_scalar(op, out, element(*a), b, n);
    }
  }
  binary_blocks(op, data, strides, n);
}

template <class Op>
[[gnu::noinline]] void ternary_blocks(const Op op, char* const* data, const int64_t* strides, int64_t n) {
  using First = typename Op::First;
  using In = typename Op::In;
  using Out = typename Op::Out;
  First a_buffer[kBlock];
  In b_buffer[kBlock], c_buffer[kBlock];
  write_blocks<Out>(data[0], strides[0], n, [&](Out* out, int64_t i, int64_t count) {
    const First* a = read_block(data[1] + i * strides[1], strides[1], count, a_buffer);
    const In* b = read_block(data[2] + i * strides[2], strides[2], count, b_buffer);
    const In* c = read_block(data[3] + i * strides[3], strides[3], count, c_buffer);
    map_contiguous<false, false>(op, out, a, b, c, count);
  });
}

template <class Op>
void ternary_loop(char* const* data, const int64_t* strides, int64_t n, const KernelArg* params) {
  using First = typename Op::First;
  using In = typename Op::In;
  using Out = typename Op::Out;
  const Op op(params);
  const bool many_b = strides[2] == stride_of<In>, many_c = strides[3] == stride_of<In>;
  if (n > 0 && strides[0] == stride_of<Out> && strides[1] == stride_of<First> && (many_b || strides[2] == 0) &&
      (many_c || strides[3] == 0)) {
    Out* const out = reinterpret_cast<Out*>(data[0]);
    const First* a = reinterpret_cast<const First*>(data[1]);
    const In* b = reinterpret_cast<const In*>(data[2]);
    const In* c = reinterpret_cast<const In*>(data[3]);
    if (many_b)
      return many_c ? map_contiguous<false, false>(op, out, a, b, c, n)
                    : map_contiguous<false, true>(op, out, a, b, c, n);
    return many_c ? map_contiguous<true, false>(op, out, a, b, c, n) : map_contiguous<true, true>(op, out, a, b, c, n);
  }
  ternary_blocks(op, data, strides, n);
}

/// What most ops are: from T to T (or to Result), without attributes.
template <class T, class Result = T>
struct Plain {
  using In = T;
  using Out = Result;
  explicit Plain(const KernelArg*) {}
};

/// The same for functions of whole vectors.
template <class T>
struct PlainVector : Plain<T> {
  using Vector = Vec<T>;
  using Plain<T>::Plain;
};

/// The attribute at position i of the signature as an element.
template <class T>
T attribute(const KernelArg* params, int i) {
  if constexpr (static_cast<T>(0.5) == T(0))
    return static_cast<T>(params[i].number.to_int());
  else
    return static_cast<T>(params[i].number.to_double());
}

template <class T>
consteval DType dtype_of();
template <>
consteval DType dtype_of<bool>() {
  return DType::Bool;
}
template <>
consteval DType dtype_of<uint8_t>() {
  return DType::U8;
}
template <>
consteval DType dtype_of<int8_t>() {
  return DType::I8;
}
template <>
consteval DType dtype_of<int16_t>() {
  return DType::I16;
}
template <>
consteval DType dtype_of<int32_t>() {
  return DType::I32;
}
template <>
consteval DType dtype_of<int64_t>() {
  return DType::I64;
}
template <>
consteval DType dtype_of<uint16_t>() {
  return DType::U16;
}
template <>
consteval DType dtype_of<uint32_t>() {
  return DType::U32;
}
template <>
consteval DType dtype_of<uint64_t>() {
  return DType::U64;
}
template <>
consteval DType dtype_of<float>() {
  return DType::F32;
}
template <>
consteval DType dtype_of<double>() {
  return DType::F64;
}
template <>
consteval DType dtype_of<std::complex<float>>() {
  return DType::C64;
}
template <>
consteval DType dtype_of<std::complex<double>>() {
  return DType::C128;
}

/// Table entries: one op template at several element types. `cost` as in Kernel::cost.
template <template <class> class Op, class... T>
consteval Kernel unary(std::string_view name, uint8_t cost = 1) {
  Kernel kernel{.op = name, .cost = cost};
  ((kernel.loops[static_cast<int>(dtype_of<T>())] = unary_loop<Op<T>>), ...);
  return kernel;
}
template <template <class> class Op, class... T>
consteval Kernel binary(std::string_view name, uint8_t cost = 1) {
  Kernel kernel{.op = name, .cost = cost};
  ((kernel.loops[static_cast<int>(dtype_of<T>())] = binary_loop<Op<T>>), ...);
  return kernel;
}
template <template <class> class Op, class... T>
consteval Kernel ternary(std::string_view name, uint8_t cost = 1) {
  Kernel kernel{.op = name, .cost = cost};
  ((kernel.loops[static_cast<int>(dtype_of<T>())] = ternary_loop<Op<T>>), ...);
  return kernel;
}

}  // namespace terra::cpu::TERRA_ISA
