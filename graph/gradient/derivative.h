// The gradients of graphs that are called.
#pragma once
#include <memory>
#include <vector>

#include "graph/ir/graph_table.h"

namespace terra::graph {

/// Two graphs of the table that stand for one whose gradient is asked for. Operands and results go by their numbers.
struct Derivative {
  GraphId forward = kNoId;  ///< takes what the graph takes; returns what it returns, then a record
  /// Takes the record, operands of the call that it reads once more (weights are handed down, not kept), and tangents
  /// of results; returns the gradients of operands.
  GraphId backward = kNoId;
  std::vector<uint32_t> reads;     ///< operands
  std::vector<uint32_t> tangents;  ///< results: all that can have a gradient
  std::vector<uint32_t> targets;   ///< operands
};

/// True iff values of that kind have gradients: floating tensors; records, whose gradients are records of those of
/// their members.
bool is_differentiable(const ValueMeta& meta);

/// Makes derivatives of a table's graphs, in the table: calls in a graph become calls of its callees' derivatives. What
/// is made is a graph like others, which has derivatives in turn.
class Derivatives {
 public:
  explicit Derivatives(GraphTable& table);
  ~Derivatives();

  /// Of the gradients of those inputs that are wanted and can have one. Throws InternalError for what no gradient
  /// passes (a loop, a host call). The reference stays.
  const Derivative& of(GraphId id, const std::vector<bool>& wanted);

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace terra::graph
