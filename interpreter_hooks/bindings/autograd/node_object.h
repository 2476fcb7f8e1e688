// grad_fn: the Python face of a node of the tape.
#pragma once
#include "engine/autograd/node.h"
#include "interpreter_hooks/bindings/entry.h"

namespace terra::hooks {

/// A node with attributes of its own in Python, those of another object: the ctx of a Function.
class NodeWithContext : public autograd::Node {
 public:
  virtual Borrowed context() const = 0;
};

/// A new object for a node; None for null. Its type is named after the node ("AddBackward0"); objects of one node are
/// equal.
Object wrap_node(const Ref<autograd::Node>& node);
bool is_node(Borrowed object);
/// The node behind such an object.
Ref<autograd::Node> node_in(Borrowed object);

void create_node_type(PyObject* module);

}  // namespace terra::hooks
