// Where the elements of a value lie.
#pragma once
#include <span>
#include <vector>

#include "engine/ops/emitter.h"
#include "graph/ir/graph.h"

namespace terra::graph {

/// A strided arrangement in a buffer of a plan. Element (i, j, ...) lies at byte
/// `offset + size_of(dtype) * (i * strides[0] + j * strides[1] + ...)` of the buffer.
struct Place {
  int32_t buffer = -1;
  int64_t offset = 0;
  DType dtype = DType::F32;
  Dims sizes, strides;

  int64_t numel() const;
  bool is_contiguous() const;
};

/// The same elements at the same bytes.
bool same_place(const Place& a, const Place& b);

/// Arguments of a node as an op's rules take them: attributes as they are, tensors by `tensor(id)`.
class ArgList {
 public:
  template <class F>
  ArgList(std::span<const NodeArg> args, F&& tensor) {
    lists_.reserve(args.size());
    for (const NodeArg& a : args) add(a, tensor);
  }
  std::span<const Arg> args() const { return args_; }

 private:
  template <class F>
  void add(const NodeArg& a, F& tensor) {
    if (const auto* use = std::get_if<Use>(&a)) {
      lists_.push_back({tensor(use->id)});
      args_.push_back(Arg(lists_.back().front()));
    } else if (const auto* list = std::get_if<UseList>(&a)) {
      auto& made = lists_.emplace_back();
      for (ValueId id : *list) made.push_back(id == kNoId ? Tensor() : Tensor(tensor(id)));
      args_.push_back(Arg(std::span<const Tensor>(made)));
    } else {
      args_.push_back(attribute(a));
    }
  }
  static Arg attribute(const NodeArg& a);

  std::vector<Arg> args_;
  std::vector<std::vector<Tensor>> lists_;
};

/// The arrangement of `view` of a value that lies at `base`, by the op's shape rule; false if the rule refuses this
/// layout (it then needs a contiguous copy). `attributes` are the op's arguments from 1 on.
bool place_view(const Op& view, const Place& base, std::span<const NodeArg> attributes, Place& result);

}  // namespace terra::graph
