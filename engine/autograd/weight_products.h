// Gradients of weights, each the product of few rows, put off until there are many: where a weight is used again and
// again, one product of the rows of several uses stands for a product and a sum of each.
//
//   for x in xs: h = linear(h, w)     # backward: cat(gradients).T @ cat(operands), some hundred rows at a time
#pragma once
#include <unordered_map>
#include <vector>

#include "engine/autograd/node.h"

namespace terra::autograd {

/// What one use adds to the gradient of a weight of the size [n, m]: left.T @ right. Of linear() left is the gradient
/// and right the operand, of mm() the other way round.
struct WeightRows {
  Tensor left;   ///< [rows, n]
  Tensor right;  ///< [rows, m]
};

Tensor product(const WeightRows& rows);

/// Of one pass. Whatever may change tensors of the program must find nothing put off.
class WeightProducts {
 public:
  bool empty() const { return waiting_.empty(); }
  bool has(const Node* leaf) const { return waiting_.count(leaf) > 0; }
  /// True if there are rows enough for a product.
  bool add(const Edge& weight, WeightRows rows);
  /// The sum of the products that wait for a leaf, which then waits no longer.
  Tensor take(const Node* leaf, Edge& weight);
  /// Whether rows that wait may lie in the memory of `t`.
  bool lie_in(const Tensor& t) const;
  /// A leaf that waits.
  const Node* any() const { return waiting_.begin()->first; }

 private:
  struct Waiting {
    Edge weight;
    std::vector<Tensor> left, right;
    int64_t rows = 0;
  };
  std::unordered_map<const Node*, Waiting> waiting_;
};

}  // namespace terra::autograd
