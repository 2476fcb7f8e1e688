// Calls of ops with their factors in front of what they multiply, as PyTorch took them before it took them by keyword:
//
//     average.add_(1 - beta, grad)        # average.add_(grad, alpha=1 - beta)
//
// It still takes them, and optimizers of that time are written so.
#pragma once
#include <vector>

#include "interpreter_hooks/bindings/calls/op_function.h"

namespace terra::hooks {

/// The arguments of a call in today's order.
struct Reordered {
  std::vector<PyObject*> values;
  size_t count = 0;
  Object keywords;
};

/// Whether a call with more positional arguments than the op takes has its factors in the former order: add(self,
/// alpha, other), addcmul(self, value, tensor1, tensor2), addmm(beta, self, [alpha,] mat1, mat2) or, as a method,
/// self.addmm(beta, [alpha,] mat1, mat2).
bool from_former_order(const OpFunctionSpec& spec, PyObject* const* values, size_t count, PyObject* keywords,
                       Reordered& to);

}  // namespace terra::hooks
