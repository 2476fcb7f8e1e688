// Sizes or strides of a tensor: a short list of integers that rarely needs the heap.
#pragma once
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>

namespace terra {

/// The most dimensions a tensor may have (PyTorch's limit).
inline constexpr int kMaxRank = 64;

/// Up to six numbers are held inline.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<int64_t> values) : Dims(std::span(values.begin(), values.size())) {}
  explicit Dims(std::span<const int64_t> values) { assign(values); }
  explicit Dims(size_t count, int64_t value) { resize(count, value); }
  Dims(const Dims& other) { assign(other); }
  Dims(Dims&& other) noexcept : size_(other.size_), capacity_(other.capacity_), heap_(std::move(other.heap_)) {
    std::copy_n(other.inline_, kInline, inline_);
    other.size_ = 0;
    other.capacity_ = kInline;
  }
  Dims& operator=(const Dims& other) {
    if (this != &other) assign(other);
    return *this;
  }
  Dims& operator=(Dims&& other) noexcept {
    size_ = other.size_;
    capacity_ = other.capacity_;
    heap_ = std::move(other.heap_);
    std::copy_n(other.inline_, kInline, inline_);
    other.size_ = 0;
    other.capacity_ = kInline;
    return *this;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t* data() { return is_inline() ? inline_ : heap_.get(); }
  const int64_t* data() const { return is_inline() ? inline_ : heap_.get(); }
  int64_t* begin() { return data(); }
  int64_t* end() { return data() + size_; }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + size_; }
  int64_t& operator[](size_t i) { return data()[i]; }
  int64_t operator[](size_t i) const { return data()[i]; }
  int64_t& back() { return data()[size_ - 1]; }
  int64_t back() const { return data()[size_ - 1]; }
  operator std::span<const int64_t>() const { return {data(), size_}; }

  void push_back(int64_t value) {
    reserve(size_ + 1);
    data()[size_++] = value;
  }
  void pop_back() { --size_; }
  void resize(size_t count, int64_t value = 0) {
    reserve(count);
    for (size_t i = size_; i < count; ++i) data()[i] = value;
    size_ = static_cast<uint32_t>(count);
  }
  void insert(size_t at, int64_t value) {
    push_back(value);
    std::rotate(begin() + at, end() - 1, end());
  }
  void erase(size_t at) {
    std::copy(begin() + at + 1, end(), begin() + at);
    --size_;
  }
  friend bool operator==(const Dims& a, const Dims& b) {
    if (a.size_ != b.size_) return false;
    const int64_t *x = a.data(), *y = b.data();
    for (uint32_t i = 0; i < a.size_; ++i)  // short: a call of memcmp would cost more than it does
      if (x[i] != y[i]) return false;
    return true;
  }

 private:
  static constexpr size_t kInline = 6;
  /// Without a look at heap_, which is on another cache line.
  bool is_inline() const { return capacity_ == kInline; }
  void assign(std::span<const int64_t> values) {
    reserve(values.size());
    std::copy(values.begin(), values.end(), data());
    size_ = static_cast<uint32_t>(values.size());
  }
  void reserve(size_t count) {
    if (count <= capacity_) return;
    const size_t wanted = std::max(count, size_t{2} * capacity_);
    auto grown = std::make_unique<int64_t[]>(wanted);
    std::copy_n(data(), size_, grown.get());
    heap_ = std::move(grown);
    capacity_ = static_cast<uint32_t>(wanted);
  }

  uint32_t size_ = 0;
  uint32_t capacity_ = kInline;
  int64_t inline_[kInline];
  std::unique_ptr<int64_t[]> heap_;
};

/// Number of elements; throws Error when the product doesn't fit 63 bits, a size is negative, or there are more than
/// kMaxRank of them.
int64_t checked_numel(std::span<const int64_t> sizes);
/// a + b and a * b in the arithmetic of sizes; throw Error when the result doesn't fit 63 bits.
int64_t size_sum(int64_t a, int64_t b);
int64_t size_product(int64_t a, int64_t b);
/// a * b in the arithmetic of strides: modulo 2**64, for nobody steps along a dimension of size 1 or of an empty
/// tensor.
inline int64_t stride_product(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
/// Row-major strides.
Dims contiguous_strides(std::span<const int64_t> sizes);
/// One past the last element that a view shows, counted from the start of its storage; 0 if it shows none. INT64_MAX
/// where the number doesn't fit, or where a part of the view lies before the storage.
int64_t storage_reach(std::span<const int64_t> sizes, std::span<const int64_t> strides, int64_t offset);
/// "[2, 3]", as error messages show a shape.
std::string to_string(std::span<const int64_t> values);
/// The index in [0, rank) that `dim` in [-rank, rank) means; throws Error(IndexError) in PyTorch's words otherwise.
/// A 0-d tensor counts as rank 1, as in PyTorch.
int64_t wrap_dim(int64_t dim, size_t rank);
/// The common shape of two shapes under broadcasting; throws Error in PyTorch's words if there is none.
Dims broadcast_sizes(std::span<const int64_t> a, std::span<const int64_t> b);

}  // namespace terra
