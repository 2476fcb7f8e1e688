#include "graph/ir/value.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/ir/names.h"

namespace terra::graph {

int64_t ValueMeta::numel() const {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  return n;
}

size_t ValueMeta::bytes() const {
  if (!is_tensor()) return 0;
  size_t bytes = 0;
  const bool wraps = __builtin_mul_overflow(static_cast<size_t>(numel()), size_of(dtype), &bytes);
  return wraps ? kMostBytes : std::min(bytes, kMostBytes);
}

bool operator==(const ValueMeta& a, const ValueMeta& b) {
  if (a.kind != b.kind) return false;
  if (a.kind == ValueKind::Tensor) return a.dtype == b.dtype && a.device == b.device && a.sizes == b.sizes;
  return a.kind != ValueKind::Scalar || a.scalar == b.scalar;
}

std::string to_string(const ValueMeta& meta) {
  switch (meta.kind) {
    case ValueKind::Tensor:
      return fmt::format("{}[{}]{}", short_name(meta.dtype), fmt::join(meta.sizes.begin(), meta.sizes.end(), ","),
                         meta.device.is_cpu() ? "" : "@" + terra::to_string(meta.device));
    case ValueKind::Scalar: return fmt::format("scalar {}", kScalarNames[static_cast<int>(meta.scalar)]);
    case ValueKind::Handle: return "handle";
    case ValueKind::Record: return "record";
  }
  return {};
}

}  // namespace terra::graph
