// One argument of an op call, before anybody decided whether to compute it now or later.
#pragma once
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/tensor/tensor.h"
#include "kernels/abi/scalar.h"

namespace terra {

class Generator;  // engine/random/generator.h

/// Borrowed: valid for the length of the call. OwnedArgs keeps arguments longer.
class Arg {
 public:
  enum class Kind : uint8_t { None, Tensor, TensorList, Scalar, IntList, DType, String, Generator };

  Arg() {}
  Arg(std::nullopt_t) {}
  Arg(const Tensor& t) : kind_(t.defined() ? Kind::Tensor : Kind::None) { tensor_ = t.get(); }
  explicit Arg(TensorImpl* t) : kind_(t ? Kind::Tensor : Kind::None) { tensor_ = t; }
  Arg(std::span<const Tensor> list) : kind_(Kind::TensorList), count_(static_cast<uint32_t>(list.size())) {
    tensors_ = list.data();
  }
  Arg(const std::vector<Tensor>& list) : Arg(std::span<const Tensor>(list)) {}
  Arg(const terra::Scalar& s) : kind_(Kind::Scalar) { scalar_ = s; }
  Arg(bool v) : Arg(terra::Scalar(v)) {}
  Arg(int v) : Arg(terra::Scalar(v)) {}
  Arg(int64_t v) : Arg(terra::Scalar(v)) {}
  Arg(size_t v) : Arg(terra::Scalar(static_cast<int64_t>(v))) {}
  Arg(double v) : Arg(terra::Scalar(v)) {}
  Arg(std::span<const int64_t> v) : kind_(Kind::IntList), count_(static_cast<uint32_t>(v.size())) { ints_ = v.data(); }
  Arg(const Dims& v) : Arg(std::span<const int64_t>(v)) {}
  Arg(std::initializer_list<int64_t> v) : Arg(std::span<const int64_t>(v.begin(), v.size())) {}
  Arg(terra::DType v) : kind_(Kind::DType), dtype_(v) {}
  Arg(std::string_view v) : kind_(Kind::String), count_(static_cast<uint32_t>(v.size())) { chars_ = v.data(); }
  Arg(const char* v) : Arg(std::string_view(v)) {}
  Arg(terra::Generator* g) : kind_(g ? Kind::Generator : Kind::None) { generator_ = g; }

  Kind kind() const { return kind_; }
  bool is_none() const { return kind_ == Kind::None; }
  bool is_tensor() const { return kind_ == Kind::Tensor; }
  TensorImpl* impl() const { return tensor_; }
  Tensor tensor() const { return kind_ == Kind::Tensor ? Tensor(Ref<TensorImpl>(tensor_)) : Tensor(); }
  std::span<const Tensor> tensors() const { return {tensors_, count_}; }
  /// Throws InternalError for anything but a number: a graph under construction may pass a symbol where one stands.
  const terra::Scalar& scalar() const {
    if (kind_ != Kind::Scalar) [[unlikely]]
      no_number();
    return scalar_;
  }
  std::span<const int64_t> ints() const { return {ints_, count_}; }
  terra::DType dtype() const { return dtype_; }
  std::string_view text() const { return {chars_, count_}; }
  terra::Generator* generator() const { return generator_; }

 private:
  [[noreturn]] void no_number() const;

  Kind kind_ = Kind::None;
  terra::DType dtype_ = terra::DType::F32;
  uint32_t count_ = 0;
  union {
    TensorImpl* tensor_ = nullptr;
    const Tensor* tensors_;
    const int64_t* ints_;
    const char* chars_;
    terra::Generator* generator_;
    terra::Scalar scalar_;
  };
};

static_assert(sizeof(Arg) == 24 && std::is_trivially_copyable_v<Arg> && std::is_trivially_destructible_v<Arg>);

/// Calls visit(const TensorImpl&) for every tensor among the arguments.
template <class F>
void each_tensor(std::span<const Arg> args, F visit) {
  for (const Arg& a : args) {
    if (a.is_tensor()) visit(*a.impl());
    if (a.kind() != Arg::Kind::TensorList) continue;
    for (const Tensor& t : a.tensors())
      if (t.defined()) visit(*t);
  }
}

/// A copy of a call's arguments that owns everything it refers to: what tapes and traces keep. Bit i of `keep_tensors`
/// says whether to hold the tensor of parameter i; the others become None (their metadata is kept elsewhere).
class OwnedArgs {
 public:
  OwnedArgs() = default;
  explicit OwnedArgs(std::span<const Arg> args, uint32_t keep_tensors = ~0u);
  OwnedArgs(OwnedArgs&&) noexcept = default;
  OwnedArgs& operator=(OwnedArgs&&) noexcept = default;

  std::span<const Arg> args() const {
    return memory_ ? std::span(std::launder(reinterpret_cast<const Arg*>(memory_.get())), count_)
                   : std::span<const Arg>();
  }

 private:
  std::unique_ptr<std::byte[]> memory_;  // the arguments, the integers of their lists, the letters of their texts
  size_t count_ = 0;
  std::vector<std::vector<Tensor>> lists_;  // inner buffers keep their address when the outer vector moves
  std::vector<Tensor> tensors_;
};

}  // namespace terra
