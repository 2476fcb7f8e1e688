#include "engine/autograd/weight_products.h"

#include <algorithm>
#include <utility>

#include "engine/ops/call.h"
#include "engine/ops/overlap.h"

namespace terra::autograd {

Tensor product(const WeightRows& rows) {
  static const Op *mm = find_op("mm"), *t = find_op("t");
  return (*mm)((*t)(rows.left), rows.right);
}

bool WeightProducts::add(const Edge& weight, WeightRows rows) {
  constexpr int64_t kMany = 256;
  Waiting& w = waiting_[weight.node.get()];
  w.weight = weight;
  w.rows += rows.left.size(0);
  w.left.push_back(std::move(rows.left));
  w.right.push_back(std::move(rows.right));
  return w.rows >= kMany;
}

Tensor WeightProducts::take(const Node* leaf, Edge& weight) {
  static const Op* cat = find_op("cat");
  const auto found = waiting_.find(leaf);
  Waiting w = std::move(found->second);
  waiting_.erase(found);
  weight = std::move(w.weight);
  const auto together = [](std::vector<Tensor>& parts) {
    return parts.size() == 1 ? parts[0] : (*cat)(std::span<const Tensor>(parts), 0);
  };
  return product({together(w.left), together(w.right)});
}

bool WeightProducts::lie_in(const Tensor& t) const {
  if (!t->storage || t->storage->exported()) return true;  // who knows
  const auto shares = [&](const Tensor& rows) { return shares_memory(*rows, *t); };
  return std::any_of(waiting_.begin(), waiting_.end(), [&](const auto& entry) {
    const Waiting& w = entry.second;
    return std::any_of(w.left.begin(), w.left.end(), shares) || std::any_of(w.right.begin(), w.right.end(), shares);
  });
}

}  // namespace terra::autograd
