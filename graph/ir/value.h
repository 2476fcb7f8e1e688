// What a value of a graph is: its kind, dtype and sizes. See README.md for what it means.
#pragma once
#include <cstdint>
#include <string>

#include "engine/device/device.h"
#include "engine/tensor/dims.h"
#include "kernels/abi/dtype.h"
#include "kernels/abi/scalar.h"

namespace terra::graph {

/// Index into Graph::values.
using ValueId = uint32_t;
inline constexpr ValueId kNoId = ~0u;

/// More than any memory has: a count of bytes that reaches it stays there.
inline constexpr size_t kMostBytes = size_t{1} << 47;

enum class ValueKind : uint8_t { Tensor, Scalar, Handle, Record };

struct ValueMeta {
  ValueKind kind = ValueKind::Tensor;
  DType dtype = DType::F32;                   ///< Tensor
  Scalar::Kind scalar = Scalar::Kind::Float;  ///< Scalar
  Dims sizes;                                 ///< Tensor
  Device device = {};                         ///< Tensor

  static ValueMeta tensor(DType dtype, Dims sizes, Device device) {
    return {ValueKind::Tensor, dtype, {}, std::move(sizes), device};
  }
  static ValueMeta number(Scalar::Kind kind) { return {ValueKind::Scalar, DType::F32, kind, {}, {}}; }
  static ValueMeta record() { return {ValueKind::Record, DType::F32, {}, {}, {}}; }

  bool is_tensor() const { return kind == ValueKind::Tensor; }
  int64_t numel() const;
  /// Bytes of a contiguous tensor of this shape, at most kMostBytes; 0 for other kinds.
  size_t bytes() const;
  friend bool operator==(const ValueMeta& a, const ValueMeta& b);
};

/// "f32[2,3]", "f32[2,3]@cuda:0", "scalar int", "handle", "record": the form that parse.h reads.
std::string to_string(const ValueMeta& meta);

}  // namespace terra::graph
