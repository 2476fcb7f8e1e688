// How an op computes many calls at once: the same op, or a few others, on operands with one more dimension.
#pragma once
#include <functional>
#include <variant>
#include <vector>

#include "engine/ops/op.h"
#include "graph/ir/graph.h"

namespace terra::recursive {

/// A tensor of a body while many calls are played at once. With `rows` its first dimension numbers the calls, and the
/// others are those of one call; without, all calls share it.
struct Batched {
  Tensor tensor;
  bool rows = false;
  bool number = false;  ///< it stands for a Python number, which decides no dtype

  /// Of one call.
  size_t rank() const { return tensor.rank() - (rows ? 1 : 0); }
  int64_t size(size_t dim) const { return tensor.sizes()[dim + (rows ? 1 : 0)]; }
};

/// An argument of an op: none or an attribute, a tensor, tensors.
using BatchedArg = std::variant<graph::NodeArg, Batched, std::vector<Batched>>;

/// The results of a call of an op for so many rows. Undefined where only gradient rules read them. Ops whose operands
/// all calls share are called once for all. Throws Unbatchable for an op that has no rule, or not for such arguments.
std::vector<Batched> call_batched(const Op& op, const std::vector<BatchedArg>& args, int64_t rows);

/// What an operand of a node is while many calls are played at once.
using OperandOf = std::function<Batched(graph::ValueId)>;
/// The arguments of a node, from number `first` on.
std::vector<BatchedArg> batched_args(const graph::Node& n, size_t first, const OperandOf& operand);
/// The results of a node of `body` that only computes, for so many rows; 0: one call, as it stands. Throws Unbatchable
/// for other nodes as well.
std::vector<Batched> play_batched(const graph::Graph& body, const graph::Node& n, const OperandOf& operand,
                                  int64_t rows);

/// `base` with the elements that the view op shows replaced by `value`; `args` are those of the view op from 1 on.
Batched write_batched(const Op& view, const Batched& base, const Batched& value, std::vector<BatchedArg> args,
                      int64_t rows);

}  // namespace terra::recursive
