// Backward where gradients are undefined: nothing has flowed into them.
//
// Zeros in their place would be wrong: 0 * inf is NaN, and an optimizer decays a weight whose gradient is zeros but
// leaves one alone that has none.
#pragma once
#include <span>
#include <vector>

#include "graph/trace/program.h"

namespace terra::graph {

/// The graph without what only undefined gradients flow into, which becomes undefined in turn. Sums of defined and
/// undefined ones have zeros for these. `flows`: by value, whether it is a function of gradients; `undefined`: by
/// value, of the inputs, and afterwards of all. False: the graph with zeros for its undefined inputs does the same.
bool drop_undefined(Graph& part, const std::vector<bool>& flows, std::vector<bool>& undefined);

/// By value of a backward program, whether it is a function of the gradients that the program gets.
std::vector<bool> flows_of(const Program& backward);
/// The backward program for where some of these are undefined, by graph input: without them, and without gradients that
/// are undefined in turn.
Program where_undefined(Program backward, const std::vector<bool>& undefined_inputs);
/// Whether zeros have done no harm among gradients that were made where some were undefined: passes join products of
/// several, whose other factors they meet there. Others have to be made in another way.
bool are_finite(std::span<const Tensor> gradients);

}  // namespace terra::graph
