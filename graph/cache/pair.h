// A forward graph and a backward graph joined by an autograd node.
#pragma once
#include <memory>

#include "engine/autograd/node.h"
#include "graph/cache/compiled.h"
#include "graph/trace/build.h"

namespace terra::graph {

/// Runs the forward half of `joint`, which was built from `trace` by `request` and is optimized; results that require
/// grad carry one node whose backward runs the other half. Each run keeps its own saved values, so a forward may run
/// many times before any backward.
std::shared_ptr<Compiled> make_pair(Program joint, std::shared_ptr<const Trace> trace, const BuildRequest& request);

/// Whether the node runs the backward half of a pair, or leads to one that does.
bool is_half_of_pair(const autograd::Node& node);
/// Whether a gradient that arrives there is one of those that such a half was made for.
bool is_prepared_for(const autograd::Edge& edge);

/// For fault injection: the gradients that backward halves compute are wrong.
bool& spoils_gradients();

/// compile(trace) for the program that `request` asks for.
std::shared_ptr<Compiled> compile_request(std::shared_ptr<const Trace> trace, const BuildRequest& request);

}  // namespace terra::graph
