// The arguments of a node in the form that the engine's rules and front end take.
#pragma once
#include <span>
#include <vector>

#include "graph/ir/node.h"

namespace terra::graph {

/// Arguments of a node as an op's rules take them: attributes as they are, tensors by `tensor(id)`, and numbers that
/// the graph computes by `number(id)`, which is null for a tensor.
class ArgList {
 public:
  template <class F, class N>
  ArgList(std::span<const NodeArg> args, F&& tensor, N&& number) {
    lists_.reserve(args.size());
    for (const NodeArg& a : args) add(a, tensor, number);
  }
  template <class F>
  ArgList(std::span<const NodeArg> args, F&& tensor)
      : ArgList(args, tensor, [](ValueId) -> const Scalar* { return nullptr; }) {}
  std::span<const Arg> args() const { return args_; }

 private:
  template <class F, class N>
  void add(const NodeArg& a, F& tensor, N& number) {
    if (const auto* use = std::get_if<Use>(&a)) {
      if (const Scalar* value = number(use->id)) return args_.push_back(Arg(*value));
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

}  // namespace terra::graph
