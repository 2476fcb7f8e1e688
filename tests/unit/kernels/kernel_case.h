// Calls a kernel and its reference on the same operands and compares what they wrote.
#pragma once
#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "kernels/abi/kernel.h"
#include "kernels/abi/parallel.h"
#include "kernels/reference/numbers.h"
#include "tests/unit/null_device.h"

namespace terra::test {

using Sizes = std::vector<int64_t>;

inline int64_t product(const Sizes& sizes) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  return n;
}

/// A strided array that owns its memory.
class Array {
 public:
  Array(DType dtype, Sizes sizes)
      : dtype_(dtype),
        sizes_(std::move(sizes)),
        strides_(sizes_.size(), 1),
        bytes_(product(sizes_) * size_of(dtype) + 64) {
    for (size_t i = sizes_.size(); i-- > 1;) strides_[i - 1] = strides_[i] * std::max<int64_t>(sizes_[i], 1);
  }

  static Array random(DType dtype, Sizes sizes, unsigned seed = 1, double low = -1, double high = 1) {
    Array a(dtype, std::move(sizes));
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> uniform(low, high);
    for (int64_t i = 0; i < product(a.sizes_); ++i) {
      const double real = uniform(engine);
      is_complex(dtype) ? a.set(i, {real, uniform(engine)}) : a.set(i, real);
    }
    return a;
  }

  /// The same memory with axes permuted.
  Array permuted(const std::vector<int>& order) const {
    Array a = *this;
    for (size_t i = 0; i < order.size(); ++i) {
      a.sizes_[i] = sizes_[order[i]];
      a.strides_[i] = strides_[order[i]];
    }
    return a;
  }
  /// Images [n, c, h, w] whose channels lie together.
  static Array channels_last(DType dtype, const Sizes& s) {
    return Array(dtype, {s[0], s[2], s[3], s[1]}).permuted({0, 3, 1, 2});
  }
  Array channels_last() const {
    Array a = channels_last(dtype_, sizes_);
    for (int64_t i = 0; i < numel(); ++i) std::memcpy(a.address(i), address(i), size_of(dtype_));
    return a;
  }
  /// The first element along an axis, `count` times.
  Array expanded(int axis, int64_t count) const {
    Array a = *this;
    a.sizes_[axis] = count;
    a.strides_[axis] = 0;
    return a;
  }
  /// Every second element along an axis.
  Array halved(int axis) const {
    Array a = *this;
    a.sizes_[axis] = (sizes_[axis] + 1) / 2;
    a.strides_[axis] *= 2;
    return a;
  }

  View view() const {
    return {const_cast<char*>(bytes_.data()), sizes_.data(), strides_.data(), static_cast<int32_t>(sizes_.size()),
            dtype_};
  }
  DType dtype() const { return dtype_; }
  const Sizes& sizes() const { return sizes_; }
  int64_t numel() const { return product(sizes_); }
  const std::vector<char>& bytes() const { return bytes_; }

  /// Element i in row-major order; integers beyond 2^53 lose their last bits.
  double get(int64_t i) const { return reference::to_double(reference::read(dtype_, address(i))); }
  std::complex<double> get_complex(int64_t i) const {
    return reference::to_complex(reference::read(dtype_, address(i)));
  }
  void set(int64_t i, std::complex<double> value) { reference::write(dtype_, address(i), value); }
  void set(int64_t i, double value) { reference::write(dtype_, address(i), value); }
  void* address(int64_t i) const {
    return const_cast<char*>(bytes_.data()) + offset(i) * static_cast<int64_t>(size_of(dtype_));
  }
  template <class T>
  T* data() const {
    return reinterpret_cast<T*>(const_cast<char*>(bytes_.data()));
  }

 private:
  int64_t offset(int64_t i) const {
    int64_t at = 0;
    for (size_t axis = sizes_.size(); axis-- > 0;) {
      at += i % sizes_[axis] * strides_[axis];
      i /= sizes_[axis];
    }
    return at;
  }

  DType dtype_;
  Sizes sizes_, strides_;
  std::vector<char> bytes_;
};

/// The arguments of a call, in signature order. Arrays are borrowed.
class Arguments {
 public:
  Arguments() = default;
  Arguments(const Arguments&) = delete;

  Arguments& operator<<(const Array& a) {
    views_.push_back(a.view());
    KernelArg arg;
    arg.kind = KernelArg::Kind::Tensor;
    arg.views = &views_.back();
    return add(arg);
  }
  Arguments& operator<<(const std::vector<Array>& list) {
    KernelArg arg;
    arg.kind = KernelArg::Kind::TensorList;
    arg.count = static_cast<uint32_t>(list.size());
    lists_.emplace_back();
    for (const Array& a : list) lists_.back().push_back(a.view());
    arg.views = lists_.back().data();
    return add(arg);
  }
  Arguments& operator<<(const Sizes& ints) {
    ints_.push_back(ints);
    KernelArg arg;
    arg.kind = KernelArg::Kind::IntList;
    arg.count = static_cast<uint32_t>(ints.size());
    arg.ints = ints_.back().data();
    return add(arg);
  }
  Arguments& operator<<(const char* text) {
    KernelArg arg;
    arg.kind = KernelArg::Kind::String;
    arg.count = static_cast<uint32_t>(std::strlen(text));
    arg.chars = text;
    return add(arg);
  }
  Arguments& operator<<(Scalar value) {
    KernelArg arg;
    arg.kind = KernelArg::Kind::Scalar;
    arg.number = value;
    return add(arg);
  }
  Arguments& operator<<(DType dtype) {
    KernelArg arg;
    arg.kind = KernelArg::Kind::DType;
    arg.dtype = dtype;
    return add(arg);
  }
  Arguments& operator<<(int value) { return *this << Scalar(value); }
  Arguments& operator<<(double value) { return *this << Scalar(value); }
  Arguments& operator<<(bool value) { return *this << Scalar(value); }
  Arguments& operator<<(std::nullptr_t) { return add({}); }

  std::span<const KernelArg> args() const { return args_; }

 private:
  Arguments& add(const KernelArg& arg) {
    args_.push_back(arg);
    return *this;
  }
  std::deque<View> views_;
  std::deque<std::vector<View>> lists_;
  std::deque<Sizes> ints_;
  std::vector<KernelArg> args_;
};

/// Runs the kernel into `out`, with exactly the workspace that it asks for.
inline void run(const Kernel* kernel, const Arguments& arguments, const std::vector<Array>& out) {
  REQUIRE(kernel != nullptr);
  REQUIRE(kernel->run != nullptr);
  std::vector<View> views;
  for (const Array& a : out) views.push_back(a.view());
  KernelCall call{views, arguments.args(), {}};
  const size_t size = kernel->workspace ? kernel->workspace(call) : 0;
  std::vector<char> memory(size + 64, 0x5a);
  const auto address = reinterpret_cast<uintptr_t>(memory.data());
  call.workspace = {memory.data() + ((64 - address % 64) & 63), size};
  kernel->run(call);
}

/// An array's bytes on the null device.
class ArrayThere {
 public:
  explicit ArrayThere(const Array& a) : ArrayThere(a.view(), a.bytes().size()) {}
  /// From the first element to the last one.
  explicit ArrayThere(const View& v) : ArrayThere(v, v.defined() ? extent(v) : 0) {}
  ~ArrayThere() { null_backend().release(data_, bytes_); }
  ArrayThere(const ArrayThere&) = delete;

  const View& view() const { return view_; }
  std::vector<char> bytes() const {
    std::vector<char> here(bytes_);
    null_backend().copy_out(here.data(), data_, bytes_);
    return here;
  }

 private:
  ArrayThere(const View& v, size_t bytes) : bytes_(bytes), data_(null_backend().allocate(bytes)), view_(v) {
    if (!v.defined()) return;
    null_backend().copy_in(data_, v.data, bytes);
    view_.data = data_;
  }
  static size_t extent(const View& v) {
    int64_t last = 0;
    for (int d = 0; d < v.rank; ++d) last += (v.sizes[d] - 1) * v.strides[d];
    return v.numel() > 0 ? static_cast<size_t>(last + 1) * size_of(v.dtype) : 0;
  }

  size_t bytes_;
  void* data_;
  View view_;
};

/// Runs the kernel on the null device: what it leaves in copies of `out`.
inline std::vector<std::vector<char>> run_on_null_device(const Kernel* kernel, const Arguments& arguments,
                                                         const std::vector<Array>& out) {
  std::deque<ArrayThere> there;
  std::deque<std::vector<View>> views;
  std::vector<KernelArg> args(arguments.args().begin(), arguments.args().end());
  std::vector<View> outs;
  for (const Array& a : out) outs.push_back(there.emplace_back(a).view());
  for (KernelArg& arg : args) {
    const std::span<const View> tensors = views_of(arg);
    if (tensors.empty()) continue;
    views.emplace_back();
    for (const View& tensor : tensors) views.back().push_back(there.emplace_back(tensor).view());
    arg.views = views.back().data();
  }
  KernelCall call{outs, args, {}};
  const size_t size = kernel->workspace ? kernel->workspace(call) : 0;
  call.workspace = {null_backend().allocate(size), size};
  null_backend().launch(*kernel, call);
  null_backend().release(call.workspace.bytes, size);
  std::vector<std::vector<char>> made;
  for (size_t i = 0; i < out.size(); ++i) made.push_back(there[i].bytes());
  return made;
}

/// Largest difference relative to the larger of 1 and the reference; equal NaNs and infinities count as equal.
inline double difference(const Array& a, const Array& b) {
  double worst = 0;
  for (int64_t i = 0; i < a.numel(); ++i) {
    const std::complex<double> x = a.get_complex(i), y = b.get_complex(i);
    if (std::isnan(std::abs(x)) != std::isnan(std::abs(y))) return INFINITY;
    if (x == y || std::isnan(std::abs(x))) continue;
    worst = std::max(worst, std::abs(x - y) / std::max(1.0, std::abs(y)));
  }
  return worst;
}

/// The kernel agrees with the reference within `tolerance`, and computes the same bits on one and on two threads and
/// on the null device.
/// `out` gives dtypes and shapes; what it holds at the start is what both find there.
inline void check_kernel(const char* op, const Arguments& arguments, const std::vector<Array>& out, double tolerance) {
  INFO("op " << op);
  std::vector<Array> expected = out, one = out, two = out;
  run(find_reference_kernel(op), arguments, expected);
  const int before = cpu::threads();
  cpu::set_threads(1);
  run(find_kernel(op), arguments, one);
  cpu::set_threads(2);
  run(find_kernel(op), arguments, two);
  cpu::set_threads(before);
  const std::vector<std::vector<char>> there = run_on_null_device(find_kernel(op), arguments, out);
  for (size_t i = 0; i < out.size(); ++i) {
    INFO("result " << i << ", first size " << (out[i].sizes().empty() ? 0 : out[i].sizes()[0]));
    CHECK(difference(one[i], expected[i]) <= tolerance);
    CHECK(one[i].bytes() == two[i].bytes());
    CHECK(one[i].bytes() == there[i]);
  }
}

}  // namespace terra::test
