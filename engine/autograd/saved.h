// A tensor kept for backward.
#pragma once
#include <memory>
#include <string>
#include <utility>

#include "engine/autograd/node.h"

namespace terra::autograd {

/// What a program keeps in place of a saved tensor.
struct Packed {
  virtual ~Packed() = default;
  virtual Tensor unpack() const = 0;
};
/// What this thread has tensors packed by that are saved; null: they are kept as they are. Called without gradients.
using PackHook = std::unique_ptr<const Packed> (*)(const Tensor&);
PackHook& pack_hook();

/// While this lives, this thread keeps what is saved as it is.
class UnpackedScope {
 public:
  UnpackedScope() : hook_(std::exchange(pack_hook(), nullptr)) {}
  ~UnpackedScope() { pack_hook() = hook_; }
  UnpackedScope(const UnpackedScope&) = delete;

 private:
  const PackHook hook_;
};

/// Holds an alias of the tensor (never the tensor itself, whose history may come to include the saving node) with the
/// version it had, and where its gradient goes. Of a tensor that was packed, what the program made of it instead.
class SavedTensor {
 public:
  SavedTensor() = default;
  /// `is_result`: the tensor is a result of the saving node, whose reference would be a cycle; `unpack` gets it.
  SavedTensor(const Tensor& t, bool is_result, uint32_t result_index = 0);
  /// A tensor without a history that nobody else has: it needs no alias.
  explicit SavedTensor(Tensor&& own);

  bool defined() const { return alias_.defined() || packed_; }
  /// Code of the program unpacks it.
  bool is_packed() const { return packed_ != nullptr; }
  /// The tensor as it was, a leaf as it is; with its history if gradients are enabled. Throws if its storage was
  /// written since.
  Tensor unpack(const Ref<Node>& owner) const;
  /// Its memory, whatever is there by now, without a history; undefined if it was packed.
  const Tensor& unchecked() const { return alias_; }
  /// Gives up the tensor; origin() stays.
  void forget() {
    alias_.reset();
    packed_.reset();
  }
  /// Whether its memory has been written since.
  bool was_written() const;
  /// Of a leaf that was given other memory since (w.data = other): what unpack gives, as the leaf is then.
  bool was_moved() const;
  /// Whether a gradient has asked for it. Rules save what they may need, and need what gradients are asked of.
  bool was_unpacked() const { return unpacked_; }
  /// The result of which node it is: of `owner` itself, of another one, of none where it is a leaf without gradient.
  Edge origin(const Ref<Node>& owner) const { return is_result_ ? Edge{owner, result_index_} : edge_; }

 private:
  /// The leaf that it is, if gradients are asked of it; else null.
  const Tensor* leaf() const;

  Tensor alias_;
  std::shared_ptr<const Packed> packed_;
  Edge edge_;
  uint32_t version_ = 0;
  uint32_t result_index_ = 0;
  bool is_result_ = false;
  bool requires_grad_ = false;
  mutable bool unpacked_ = false;
};

/// Throws what is to be said of a saved tensor, of that dtype and those sizes, that was written since.
[[noreturn]] void fail_modified(const TensorMeta& meta, const Edge& origin, uint32_t version, uint32_t expected);
/// The same of a tensor that calls would have to be made again with, written where no version counts it (x.data).
[[noreturn]] void fail_modified_apart(const TensorMeta& meta);

}  // namespace terra::autograd
