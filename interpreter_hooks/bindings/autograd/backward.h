// backward() and autograd.grad() as Python calls them.
#pragma once
#include <span>

#include "interpreter_hooks/bindings/entry.h"

namespace terra::hooks {

/// Gradients of `roots` into .grad. `gradients`: None or a tensor per root. `retain` None means `create`. `inputs`:
/// None, a tensor or a sequence of them. Tells the observer.
void run_backward(std::span<PyObject* const> roots, std::span<PyObject* const> gradients, Borrowed retain,
                  Borrowed create, Borrowed inputs);

/// All passes of this thread keep their graphs, asked or not: calls below vmap share histories.
bool passes_keep_graphs();

}  // namespace terra::hooks
