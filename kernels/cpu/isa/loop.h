// From a function of one element to the inner loop of an elementwise kernel.
//
// A kernel file writes one struct per op: the types In and Out, a constructor from the op's arguments, and
// operator() on elements. Loops over contiguous operands are left to the compiler's vectorizer, which is exact for
// arithmetic (no contraction, no reassociation), so that vector body and scalar tail agree bit for bit. Operands with
// other strides go through small buffers, so each op needs the contiguous loops only.
#pragma once
#include <cstdint>

#include "kernels/cpu/isa.h"

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

template <class Op>
void map_contiguous(const Op& op, typename Op::Out* out, const typename Op::In* a, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = op(a[i]);
}

template <class Op>
void map_contiguous(const Op& op, typename Op::Out* out, const typename Op::In* a, const typename Op::In* b,
                    int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = op(a[i], b[i]);
}

template <class Op>
void map_right_scalar(const Op& op, typename Op::Out* out, const typename Op::In* a, typename Op::In b, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = op(a[i], b);
}

template <class Op>
void map_left_scalar(const Op& op, typename Op::Out* out, typename Op::In a, const typename Op::In* b, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = op(a, b[i]);
}

template <class Op>
void unary_loop(char* const* data, const int64_t* strides, int64_t n, const KernelArg* params) {
  using In = typename Op::In;
  using Out = typename Op::Out;
  const Op op(params);
  if (strides[0] == stride_of<Out> && strides[1] == stride_of<In>) {
    map_contiguous(op, reinterpret_cast<Out*>(data[0]), reinterpret_cast<const In*>(data[1]), n);
    return;
  }
  In buffer[kBlock];
  write_blocks<Out>(data[0], strides[0], n, [&](Out* out, int64_t i, int64_t count) {
    map_contiguous(op, out, read_block(data[1] + i * strides[1], strides[1], count, buffer), count);
  });
}

template <class Op>
void binary_loop(char* const* data, const int64_t* strides, int64_t n, const KernelArg* params) {
  using In = typename Op::In;
  using Out = typename Op::Out;
  const Op op(params);
  if (strides[0] == stride_of<Out>) {
    Out* out = reinterpret_cast<Out*>(data[0]);
    const In* a = reinterpret_cast<const In*>(data[1]);
    const In* b = reinterpret_cast<const In*>(data[2]);
    const bool many_a = strides[1] == stride_of<In>, many_b = strides[2] == stride_of<In>;
    if (many_a && many_b) return map_contiguous(op, out, a, b, n);
    if (many_a && strides[2] == 0) return map_right_scalar(op, out, a, *b, n);
    if (strides[1] == 0 && many_b) return map_left_scalar(op, out, *a, b, n);
  }
  In a_buffer[kBlock], b_buffer[kBlock];
  write_blocks<Out>(data[0], strides[0], n, [&](Out* out, int64_t i, int64_t count) {
    const In* a = read_block(data[1] + i * strides[1], strides[1], count, a_buffer);
    const In* b = read_block(data[2] + i * strides[2], strides[2], count, b_buffer);
    map_contiguous(op, out, a, b, count);
  });
}

/// An op without attributes derives from this.
struct Plain {
  Plain() = default;
  explicit Plain(const KernelArg*) {}
};



template <class T>
consteval int dtype_index();
template <>
consteval int dtype_index<bool>() { return static_cast<int>(DType::Bool); }
template <>
consteval int dtype_index<uint8_t>() { return static_cast<int>(DType::U8); }
template <>
consteval int dtype_index<int8_t>() { return static_cast<int>(DType::I8); }
template <>
consteval int dtype_index<int16_t>() { return static_cast<int>(DType::I16); }
template <>
consteval int dtype_index<int32_t>() { return static_cast<int>(DType::I32); }
template <>
consteval int dtype_index<int64_t>() { return static_cast<int>(DType::I64); }
template <>
consteval int dtype_index<float>() { return static_cast<int>(DType::F32); }
template <>
consteval int dtype_index<double>() { return static_cast<int>(DType::F64); }

template <template <class> class Op, class... T>
consteval Kernel unary_kernel(std::string_view name, uint8_t cost) {
  Kernel kernel{.op = name, .cost = cost};
  ((kernel.loops[dtype_index<T>()] = unary_loop<Op<T>>), ...);
  return kernel;
}

template <template <class> class Op, class... T>
consteval Kernel binary_kernel(std::string_view name, uint8_t cost) {
  Kernel kernel{.op = name, .cost = cost};
  ((kernel.loops[dtype_index<T>()] = binary_loop<Op<T>>), ...);
  return kernel;
}

}  // namespace terra::cpu::TERRA_ISA
