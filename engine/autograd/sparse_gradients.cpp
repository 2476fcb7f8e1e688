#include "engine/autograd/sparse_gradients.h"

#include <algorithm>

#include "engine/ops/op.h"
#include "engine/tensor/sparse.h"

namespace terra::autograd {

Tensor sum_of(const Tensor& a, const Tensor& b) {
  static const Op* add = find_op("add");
  return host_adds(*a, *b) ? sparse_hooks().sum(a, b, false) : (*add)(a, b);
}

void add_up(Tensor& sum, const Tensor& g) {
  if (g.defined()) sum = sum.defined() ? sum_of(sum, g) : g;
}

void add_to(Tensor& sum, const Tensor& g) {
  static const Op* add = find_op("add");
  if (host_adds(*sum, *g))
    sum = sparse_hooks().sum(sum, g, true);
  else
    add->in_place(sum, g);
}

bool any_sparse(const std::vector<Tensor>& grads) {
  return std::any_of(grads.begin(), grads.end(), [](const Tensor& g) { return g.defined() && is_foreign(*g); });
}

std::vector<Tensor> to_dense(const std::vector<Tensor>& grads) {
  std::vector<Tensor> dense = grads;
  for (Tensor& g : dense)
    if (g.defined() && is_foreign(*g)) g = sparse_hooks().to_dense(g);
  return dense;
}

}  // namespace terra::autograd
