// Gradients of which some are sparse: those of tables whose rows are looked up.
#pragma once
#include <vector>

#include "engine/tensor/tensor.h"

namespace terra::autograd {

/// a + b, sparse if both are.
Tensor sum_of(const Tensor& a, const Tensor& b);
/// The sum becomes one with `g`, either of which may be undefined.
void add_up(Tensor& sum, const Tensor& g);
/// sum += g, in the memory of `sum` unless a sparse one becomes dense.
void add_to(Tensor& sum, const Tensor& g);
/// What nodes take that know no sparse tensors: those among the gradients become dense.
std::vector<Tensor> to_dense(const std::vector<Tensor>& grads);
bool any_sparse(const std::vector<Tensor>& grads);

}  // namespace terra::autograd
