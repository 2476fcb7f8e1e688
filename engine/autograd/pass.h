// What a node may ask about the pass over the tape that has reached it.
#pragma once
#include <span>
#include <vector>

#include "engine/tensor/tensor.h"

namespace terra::autograd {

/// Whether a pass over the tape is under way in this thread.
bool pass_under_way();

/// The number of the pass under way in this thread; -1 if there is none.
int64_t pass_number();

/// Whether the pass under way comes to the node that gradients of `t` go to.
bool pass_reaches(const Tensor& t);

/// Inside Node::come_apart: the pass is about to give gradients a history, and no other one is under way in this
/// thread, so that nodes of calls may still take the place of one that stands for them.
bool pass_begins_histories();

/// Inside Node::apply: the pass frees what the node has saved when it has passed it.
bool pass_frees();

/// Whether passes of other threads are under way that have met nodes for several parts of a tape (Node::come_apart),
/// and run no code of the program: whoever takes such nodes apart waits for their end.
bool others_pass_whole();

/// Whether passes look for gradients that aren't numbers: the first node that makes one is an error. Of the process.
void check_for_nan(bool yes);

/// What a pass from the roots brings to each input, where it ends: nothing comes to what an input was computed from.
/// The sum, or nothing; `apart`: what it is the sum of, in the order in which the pass adds it up (what is hooked to an
/// input sees the sum, which is then all there is). Nothing is freed.
std::vector<std::vector<Tensor>> delivered(std::span<const Tensor> roots, std::span<const Tensor> root_gradients,
                                           std::span<const Tensor> inputs, bool create_graph, bool apart);

}  // namespace terra::autograd
