// What a node may ask about the pass over the tape that has reached it.
#pragma once

namespace terra::autograd {

/// Inside Node::apply: the pass frees what the node has saved when it has passed it.
bool pass_frees();

}  // namespace terra::autograd
