// Nodes that compute the same from different tensors, applied as a batch.
//
//   for x in xs: losses.append(f(x))      # runs of one captured graph, each with a node of its own
//   torch.stack(losses).sum().backward()  # gradients come to all of them: one backward of many rows
#pragma once
#include <span>
#include <utility>
#include <vector>

#include "engine/autograd/weight_products.h"

namespace terra::autograd {

class BatchedBackward {
 public:
  virtual ~BatchedBackward() = default;

  struct Made {
    /// By node and edge, as Node::apply gives them. Where edges of several nodes lead to the same place, their sum may
    /// stand with one of them.
    std::vector<std::vector<Tensor>> gradients;
    /// Beside these: products of rows that are still to be made and added up.
    std::vector<std::pair<Edge, WeightRows>> products;
  };
  /// What applying each of the nodes would make, which all have this batch. Without a history.
  virtual Made apply(std::span<Node* const> nodes, std::span<const std::vector<Tensor>> grads) = 0;
};

}  // namespace terra::autograd
