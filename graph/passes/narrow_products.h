// Products of which only some rows or columns are wanted.
#pragma once
#include "graph/ir/graph.h"

namespace terra::graph {

/// narrow(a @ b; columns) = a @ narrow(b; columns) and narrow(a @ b; rows) = narrow(a; rows) @ b, where nothing else
/// uses the product: the gradient of a concatenation asks for parts of a product. A library may add up a smaller
/// product in another order: exact mode does without.
bool narrow_products(Graph& graph);

}  // namespace terra::graph
