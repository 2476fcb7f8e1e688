#include "engine/tensor/dims.h"

#include <fmt/ranges.h>

#include "engine/errors/errors.h"

namespace terra {

int64_t checked_numel(std::span<const int64_t> sizes) {
  if (sizes.size() > kMaxRank) [[unlikely]]
    fail(ErrorKind::RuntimeError, "tensor has too many (>{}) dims: {}", kMaxRank, sizes.size());
  int64_t n = 1;
  bool zero = false, overflow = false;
  for (int64_t s : sizes) {
    if (s < 0) [[unlikely]]
      fail(ErrorKind::RuntimeError, "Trying to create tensor with negative dimension {}: {}", s, to_string(sizes));
    zero |= s == 0;
    overflow |= s != 0 && __builtin_mul_overflow(n, s, &n);
  }
  if (overflow && !zero) [[unlikely]]
    fail(ErrorKind::RuntimeError, "A tensor of shape {} has more elements than 63 bits can count.", to_string(sizes));
  return zero ? 0 : n;
}

int64_t size_sum(int64_t a, int64_t b) {
  int64_t sum;
  check(!__builtin_add_overflow(a, b, &sum), "The size of the result overflows: {} + {} doesn't fit 63 bits.", a, b);
  return sum;
}

int64_t size_product(int64_t a, int64_t b) {
  int64_t product;
  check(!__builtin_mul_overflow(a, b, &product), "The size of the result overflows: {} * {} doesn't fit 63 bits.", a,
        b);
  return product;
}

int64_t storage_reach(std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t offset) {
  int64_t last = offset;
  bool fits = offset >= 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    int64_t along;
    fits &= sizes[i] == 1 || (strides[i] >= 0 && !__builtin_mul_overflow(sizes[i] - 1, strides[i], &along) &&
                              !__builtin_add_overflow(last, along, &last));
  }
  return fits && last < INT64_MAX ? last + 1 : INT64_MAX;
}

Dims contiguous_strides(std::span<const int64_t> sizes) {
  Dims strides(sizes.size(), 1);
  for (int i = static_cast<int>(sizes.size()) - 2; i >= 0; --i)
    strides[i] = stride_product(strides[i + 1], std::max<int64_t>(sizes[i + 1], 1));
  return strides;
}

std::string to_string(std::span<const int64_t> values) { return fmt::format("[{}]", fmt::join(values, ", ")); }

int64_t wrap_dim(int64_t dim, size_t rank) {
  const int64_t n = rank == 0 ? 1 : static_cast<int64_t>(rank);
  check_kind(dim >= -n && dim < n, ErrorKind::IndexError,
             "Dimension out of range (expected to be in range of [{}, {}], but got {})", -n, n - 1, dim);
  return dim < 0 ? dim + n : dim;
}

Dims broadcast_sizes(std::span<const int64_t> a, std::span<const int64_t> b) {
  const size_t rank = std::max(a.size(), b.size());
  Dims out(rank, 1);
  for (size_t i = rank; i-- > 0;) {
    const int64_t x = i < rank - a.size() ? 1 : a[i - (rank - a.size())];
    const int64_t y = i < rank - b.size() ? 1 : b[i - (rank - b.size())];
    check(x == y || x == 1 || y == 1,
          "The size of tensor a ({}) must match the size of tensor b ({}) at non-singleton dimension {}", x, y, i);
    out[i] = x == 1 ? y : x;
  }
  return out;
}

}  // namespace terra
