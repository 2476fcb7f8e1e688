// What a program keeps with a node of the tape.
#pragma once
#include <memory>

#include "engine/autograd/node.h"

namespace terra::autograd {

/// What is kept with the node, as long as it lives; null at first.
std::shared_ptr<void>& attachment(const Node& node);

/// The node is about to go.
void drop_attachment(const Node& node);

}  // namespace terra::autograd
