// All that a history leads to.
#pragma once
#include <functional>

#include "engine/autograd/node.h"

namespace terra::autograd {

/// Calls visit(node) once for every node that the history leads to, itself included. Null: for none.
void each_node(Node* history, const std::function<void(Node&)>& visit);

}  // namespace terra::autograd
