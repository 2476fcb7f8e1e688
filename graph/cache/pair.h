// A forward graph and a backward graph joined by an autograd node.
#pragma once
#include <memory>

#include "graph/cache/compiled.h"
#include "graph/gradient/partition.h"

namespace terra::graph {

/// Runs the forward half; results that require grad carry one node whose backward runs the other half. Each run keeps
/// its own saved values, so a forward may run many times before any backward.
std::shared_ptr<Compiled> make_pair(Partition partition, const Trace& trace);

}  // namespace terra::graph
