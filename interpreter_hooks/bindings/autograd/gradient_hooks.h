// Python functions that see gradients as they are computed.
#pragma once
#include "engine/autograd/node.h"
#include "interpreter_hooks/bindings/entry.h"

namespace terra::hooks {

/// tensor.register_hook(function): a handle whose remove() takes the hook off.
Object add_tensor_hook(PyObject* tensor, PyObject* function);
/// tensor.register_post_accumulate_grad_hook(function): called with the leaf when its .grad was added to.
Object add_accumulate_hook(PyObject* tensor, PyObject* function);
Object add_node_hook(autograd::Node& node, PyObject* function, bool before);

}  // namespace terra::hooks
