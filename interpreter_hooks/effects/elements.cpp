#include "interpreter_hooks/effects/elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "engine/tensor/transfer.h"
#include "kernels/abi/element.h"

namespace terra::capture {

namespace {

/// The elements in order: where they are, or gathered. Complex numbers count as pairs of real ones.
class Elements {
 public:
  explicit Elements(const TensorImpl& t)
      : here_(to_host(kept(const_cast<TensorImpl*>(&t)))),
        first_(static_cast<const char*>(here_->data())),
        size_(size_of(t.dtype)),
        parts_(is_complex(t.dtype) ? 2 : 1) {
    for (const int64_t size : t.sizes) count_ *= static_cast<size_t>(size);
    if (count_ == 0 || here_.strides() == contiguous_strides(t.sizes)) return;
    gathered_.reserve(bytes());
    gather(*here_, 0, first_);
    first_ = gathered_.data();
  }
  Elements(const Elements&) = delete;

  const char* data() const { return first_; }
  size_t count() const { return count_ * parts_; }
  size_t bytes() const { return count_ * size_; }

 private:
  void gather(const TensorImpl& t, size_t dimension, const char* at) {
    if (dimension == t.sizes.size()) return void(gathered_.insert(gathered_.end(), at, at + size_));
    const int64_t step = t.strides[dimension] * static_cast<int64_t>(size_);
    for (int64_t i = 0; i < t.sizes[dimension]; i++) gather(t, dimension + 1, at + i * step);
  }

  const Tensor here_;
  const char* first_;
  const size_t size_, parts_;
  size_t count_ = 1;
  std::vector<char> gathered_;
};

/// Calls visit(number(i)) with what reads elements at an address as numbers, fast for the usual dtypes.
template <class Visit>
auto with_numbers(DType dtype, Visit visit) {
  switch (dtype) {
    case DType::F32:
      return visit([](const char* p, size_t i) -> double { return reinterpret_cast<const float*>(p)[i]; });
    case DType::F64: return visit([](const char* p, size_t i) { return reinterpret_cast<const double*>(p)[i]; });
    default:
      return visit(
          [dtype](const char* p, size_t i) { return load_element(p + i * size_of(dtype), dtype).to_double(); });
  }
}

}  // namespace

double tolerance(DType dtype) {
  switch (dtype) {
    case DType::F64: return 1e-9;
    case DType::F32: return 1e-4;
    case DType::F16: return 1e-2;
    case DType::BF16: return 5e-2;
    default: return 0;
  }
}

bool near(double a, double b, double relative, double largest, double allowed) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return true;
  return std::abs(a - b) <= relative * std::max(std::abs(a), std::abs(b)) + 0.1 * relative * largest + allowed;
}

std::optional<Apart> first_apart(const TensorImpl& a, const TensorImpl& b, bool exact, double allowed) {
  if (a.device.is_meta() && b.device.is_meta()) return std::nullopt;
  const Elements left(a), right(b);
  if (!left.count() || std::memcmp(left.data(), right.data(), left.bytes()) == 0) return std::nullopt;
  const DType dtype = real_dtype_of(a.dtype);
  return with_numbers(dtype, [&](auto number) -> std::optional<Apart> {
    double largest = 0;
    for (size_t i = 0; !exact && i < left.count(); i++) {
      const double value = std::abs(number(left.data(), i));
      if (std::isfinite(value)) largest = std::max(largest, value);
    }
    const size_t size = size_of(dtype);
    for (size_t i = 0; i < left.count(); i++) {
      if (exact && std::memcmp(left.data() + i * size, right.data() + i * size, size) == 0) continue;
      const double x = number(left.data(), i), y = number(right.data(), i);
      if (exact || !near(x, y, tolerance(dtype), largest, allowed)) return Apart{i, x, y};
    }
    return std::nullopt;
  });
}

double distance(const TensorImpl& a, const TensorImpl& b) {
  const Elements left(a), right(b);
  if (!left.count() || std::memcmp(left.data(), right.data(), left.bytes()) == 0) return 0;
  return with_numbers(real_dtype_of(a.dtype), [&](auto number) {
    double largest = 0;
    for (size_t i = 0; i < left.count(); i++) {
      const double x = number(left.data(), i), y = number(right.data(), i);
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      const double apart = std::abs(x - y);
      largest = std::isfinite(apart) ? std::max(largest, apart) : std::numeric_limits<double>::infinity();
    }
    return largest;
  });
}

}  // namespace terra::capture
